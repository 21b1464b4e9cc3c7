import { z } from 'zod';
import { quoteValue } from '../base/text.ts';
import { parseDuration } from '../base/time.ts';
import { parsePassRate } from './rate.ts';

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

/** The form of a model's name: `provider/name`. */
export const modelPattern = /^[^/\s]+\/\S+$/;

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

/** A mapping whose keys are models. */
export function byModel<T extends z.ZodType>(value: T) {
  return z.record(text, value).superRefine((written, context) => {
    for (const name of Object.keys(written)) {
      if (modelPattern.test(name)) continue;
      const message = `${quoteValue(name)} is not a model; write \`provider/name\``;
      context.addIssue({ code: 'custom', path: [name], message, params: { code: 'bad-model', isKey: true } });
    }
  });
}

/** Parses a percentage into a fraction 0..1. The JSON Schema describes only what is written, with these examples. */
export const percentage = (examples: string[]) =>
  z
    .union([
      z.string().meta({ pattern: '^\\s*\\d+(\\.\\d{1,4})?\\s*%?\\s*$' }),
      z.number().meta({ minimum: 0, maximum: 100, not: { exclusiveMinimum: 0, maximum: 1 } }),
    ])
    .meta({ examples })
    .transform((written, context) => {
      const parsed = parsePassRate(written);
      if (parsed.ok) return parsed.passRate;
      context.addIssue({ code: 'custom', message: parsed.message, params: { code: 'bad-pass-rate' } });
      return z.NEVER;
    });

/** Parses a pass rate written as a percentage into a fraction 0..1. */
export const passRate = percentage(['90%']).meta({
  description: 'Share of the iterations that must pass, as a percentage.',
});
