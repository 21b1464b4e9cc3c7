import { z } from 'zod';
import { formatDays, parseDays, parseDuration } from '../base/time.ts';
import { type ProtocolSetting, protocolSettings } from '../model/protocol.ts';
import { parsePassRate } from '../model/rate.ts';
import { quoteValue } from './findings.ts';

/** Options of a zod refinement that give its issue a stable code. */
export function withIssueCode(code: string, message: string | ((value: unknown) => string)) {
  return {
    error: typeof message === 'string' ? message : ({ input }: { input?: unknown }) => message(input),
    params: { code },
  };
}

/** A text that is not blank. */
export const text = z
  .string()
  .refine((value) => /\S/.test(value), withIssueCode('empty-text', 'This text must not be empty'))
  .meta({ pattern: '\\S' });

const idPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** An id that the API accepts. */
export const id = z
  .string()
  .refine(
    (value) => idPattern.test(value),
    withIssueCode(
      'bad-id',
      (value) => `${JSON.stringify(value)} is not an id; use 1 to 128 letters, digits, \`-\` and \`_\``,
    ),
  )
  .meta({ pattern: idPattern.source });

export const modelPattern = /^[^/\s]+\/\S+$/;

/** A model's id in the hosted form. */
export const modelId = z
  .string()
  .refine(
    (value) => modelPattern.test(value),
    withIssueCode('bad-model', (value) => `${JSON.stringify(value)} is not a model; write \`provider/name\``),
  )
  .meta({
    pattern: modelPattern.source,
    description: 'Model for prompt steps, as `provider/name`.',
    examples: ['anthropic/claude-haiku-4.5'],
  });

/** Longer than any run, and within the range of the platform's timers. */
const longestTimeoutMs = 24 * 3_600_000;

/** Parses a duration with its unit into milliseconds. The JSON Schema describes only the text. */
export const timeout = z
  .unknown()
  .meta({
    type: 'string',
    pattern: '^\\s*\\d+(\\.\\d+)?\\s*(ms|s|m|min|h)\\s*$',
    examples: ['60s', '500ms', '2m'],
  })
  .transform((written, context) => {
    const timeoutMs = typeof written === 'string' ? parseDuration(written) : undefined;
    if (timeoutMs !== undefined && timeoutMs >= 1 && timeoutMs <= longestTimeoutMs) return timeoutMs;
    const message =
      timeoutMs === undefined
        ? `${quoteValue(written)} is not a duration; write a number with its unit, such as 60s, 500ms or 2m`
        : `${quoteValue(written)} is out of range; a timeout is from 1ms to 24h`;
    context.addIssue({ code: 'custom', message, params: { code: 'bad-duration' } });
    return z.NEVER;
  });

const shortestAgeMs = 24 * 3_600_000;
const longestAgeMs = 3650 * shortestAgeMs;

/** Parses an age in days, such as `30d`, into milliseconds. The JSON Schema describes only the text. */
export const ageInDays = z
  .unknown()
  .meta({
    type: 'string',
    pattern: '^\\s*\\d+\\s*d\\s*$',
    description: 'Older recordings count as stale. Default: 30d.',
    examples: ['30d'],
  })
  .transform((written, context) => {
    const ageMs = typeof written === 'string' ? parseDays(written) : undefined;
    if (ageMs !== undefined && ageMs >= shortestAgeMs && ageMs <= longestAgeMs) return ageMs;
    const message =
      ageMs === undefined
        ? `${quoteValue(written)} is not an age; write a number of days, such as 30d`
        : `${quoteValue(written)} is out of range; an age is from ${formatDays(shortestAgeMs)} to ${formatDays(longestAgeMs)}`;
    context.addIssue({ code: 'custom', message, params: { code: 'bad-duration' } });
    return z.NEVER;
  });

/** Parses a percentage into a fraction 0..1. */
const percentage = (meta: { description: string; examples: string[] }) =>
  z
    .union([
      z.string().meta({ pattern: '^\\s*\\d+(\\.\\d{1,4})?\\s*%?\\s*$' }),
      z.number().meta({ minimum: 0, maximum: 100, not: { exclusiveMinimum: 0, maximum: 1 } }),
    ])
    .meta(meta)
    .transform((written, context) => {
      const parsed = parsePassRate(written);
      if (parsed.ok) return parsed.passRate;
      context.addIssue({ code: 'custom', message: parsed.message, params: { code: 'bad-pass-rate' } });
      return z.NEVER;
    });

/** Parses a pass rate written as a percentage into a fraction 0..1. */
export const passRate = percentage({
  description: 'Share of the iterations that must pass, as a percentage.',
  examples: ['90%'],
});

/** The percentage points that a pass rate may fall, as a fraction 0..1. */
export const pointDrop = percentage({
  description: 'By how many percentage points the pass rate of a suite may fall against the `baseline`.',
  examples: ['5%'],
});

/** A revision of MCP, `auto` or `both`. */
export const protocol = z
  .unknown()
  .meta({
    type: 'string',
    enum: [...protocolSettings],
    description:
      'Revision of MCP that the cases are run in; `both` runs each case once in each. The option `protocol` overrides it.',
  })
  .transform((written, context): ProtocolSetting => {
    const found = protocolSettings.find((setting) => setting === written);
    if (found !== undefined) return found;
    const message = `${quoteValue(written)} is not a revision of MCP that can be pinned; write ${protocolSettings.join(', ')}`;
    context.addIssue({ code: 'custom', message, params: { code: 'bad-protocol' } });
    return z.NEVER;
  });

/** The most iterations of one case. */
const maxRuns = 100;
export const runs = z.int().min(1).max(maxRuns).meta({ description: 'Iterations of each case, 1 to 100.' });

/** The iterations of one case: a number, or a range from which the confidence decides how many are needed. */
export const runsOrRange = z
  .union([
    runs,
    z
      .strictObject({ min: z.int().min(1).max(maxRuns), max: z.int().min(1).max(maxRuns) })
      .refine(
        ({ min, max }) => min < max,
        withIssueCode(
          'bad-range',
          '`max` must be larger than `min`; for a fixed number of iterations, write the number',
        ),
      ),
  ])
  .meta({
    description:
      'Iterations of each case, 1 to 100; with `min` and `max`, as many as the `confidence` of the policy needs.',
    examples: [{ min: 2, max: 30 }],
  });
