import { z } from 'zod';
import { fraction } from '../quantities.ts';
import { formatMinimumPassRate, parsePassRate } from '../rate.ts';
import { confidenceFamilies, confidencePopulations } from '../rounds.ts';
import { defineRule } from './define-rule.ts';

/** Parses a confidence written as a percentage into a fraction: at least 50 %, less than 100 %. */
const writtenConfidence = z
  .union([
    z.string().meta({ pattern: '^\\s*\\d+(\\.\\d{1,4})?\\s*%?\\s*$' }),
    z.number().meta({ minimum: 50, exclusiveMaximum: 100 }),
  ])
  .meta({ examples: ['95%'] })
  .transform((written, context) => {
    const parsed = parsePassRate(written);
    if (parsed.ok && parsed.passRate >= 0.5 && parsed.passRate < 1) return parsed.passRate;
    const message = `${JSON.stringify(written)} is not a confidence; write a percentage from 50% to 99.9%, such as 95%`;
    context.addIssue({ code: 'custom', message, params: { code: 'bad-confidence' } });
    return z.NEVER;
  });

export const confidenceRules = [
  defineRule('confidence', {
    written: writtenConfidence,
    description: 'How sure it has to be that a minimum is met, or is not; without it the count alone decides.',
    value: fraction,
    reported: 'How sure it has to be that a minimum is met, or is not.',
    default: null,
    strictness: { stricter: 'greater', what: 'the confidence', format: formatMinimumPassRate },
    docs: '95% # how certain a verdict must be, see below; by default the count decides',
  }),
  defineRule('confidenceOver', {
    written: confidencePopulations,
    description:
      'What the confidence is about: `cases`, these cases on repetition, or `tasks`, of which they are a sample. Default: `cases` with a range of `runs`, else `tasks`.',
    reported: 'Which population the confidence is about; null for `cases` with a range of `runs`, else `tasks`.',
    default: null,
    isOptional: true,
    // A result about these cases need not hold for the tasks that they are a sample of.
    strictness: { stricter: ['tasks', 'cases'], whenUnset: 'tasks' },
    docs: 'cases # the default with a range of runs; or tasks, the default with a number of runs',
  }),
  defineRule('confidenceFamily', {
    written: confidenceFamilies,
    description:
      'What the error of failing is for: `minimum`, each by itself, or `gate`, all minimums of the gate together. Default: `minimum`.',
    reported: 'What the error of failing is for; null for `minimum`, each by itself.',
    default: null,
    isOptional: true,
    // The more minimums share the error, the less often each fails.
    strictness: { stricter: ['minimum', 'gate'], whenUnset: 'minimum' },
    docs: 'minimum # the default; or gate: all minimums of the gate share the error of failing',
  }),
];
