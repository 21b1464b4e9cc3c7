import { z } from 'zod';
import { text, withIssueCode } from '../written-values.ts';
import { defineListRule, defineRule } from './define-rule.ts';

const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** A calendar day in UTC. Days compare as text. */
export const day = z.string().regex(dayPattern);

const writtenDay = z
  .string()
  .refine(
    (written) => dayPattern.test(written) && toDay(written) === written,
    withIssueCode('bad-date', (written) => `${JSON.stringify(written)} is not a day; write it as 2026-12-31`),
  )
  .meta({ pattern: dayPattern.source });

/** Formats a date as a day. A day that the calendar does not have comes back as another one, or as undefined. */
function toDay(written: string): string | undefined {
  const time = Date.parse(`${written}T00:00:00Z`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().slice(0, 10);
}

/** The keys of an entry in a file. */
const entryShape = {
  case: text.meta({ description: 'The id or title of the case.' }),
  owner: text.meta({ description: 'Who sees to it.' }),
  reason: text.meta({ description: 'Why it does not count for now.' }),
  expires: writtenDay.meta({
    description: 'The last day on which it does not count, in UTC.',
    examples: ['2026-12-31'],
  }),
};

const description = 'Cases that do not count for the time being.';

/** The quarantine at the top level of a policy file, whose entries name their suite. */
export const writtenQuarantine = z
  .array(z.strictObject({ suite: text.meta({ description: 'The id or name of the suite.' }), ...entryShape }))
  .exactOptional()
  .meta({ description });

export const quarantineEntrySchema = z.object({
  case: z.string(),
  owner: z.string(),
  reason: z.string(),
  expires: day.describe('The last day on which it holds, in UTC.'),
  source: z.string(),
});

export const quarantineRules = [
  defineListRule('quarantine', {
    scope: 'suite',
    written: z.array(z.strictObject(entryShape)),
    description,
    item: quarantineEntrySchema,
    nameOf: (entry) => entry.case,
    build: (written, locate) => written.map((entry, index) => ({ ...entry, source: locate([index], 'value') })),
    listLowered: ([before, after]) =>
      after.flatMap((entry) => {
        const earlier = before.find((each) => each.case === entry.case);
        if (earlier !== undefined && entry.expires <= earlier.expires) return [];
        return [
          {
            kind: 'quarantine',
            what: `the quarantine of the case ${JSON.stringify(entry.case)}`,
            before: earlier === undefined ? 'none' : `until ${earlier.expires}`,
            after: `until ${entry.expires}`,
            source: entry.source,
          },
        ];
      }),
  }),
  defineRule('onStaleQuarantine', {
    written: z.enum(['warn', 'fail']),
    description: 'What it means when an entry has run out, or its case passes again or is gone.',
    default: 'warn',
    strictness: { stricter: ['fail', 'warn'], kind: 'quarantine' },
    docs: 'warn # the default; or fail',
  }),
];
