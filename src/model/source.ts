import { z } from 'zod';

/** A rule of a policy, and where it was made: an input, `file:line` or `default`. */
export interface Sourced<T> {
  value: T;
  source: string;
}

/** A rule and where it was made: `min-pass-rate`, `evals/x.evals.yaml:4` or `default`. */
export function sourced<T extends z.ZodType>(value: T) {
  return z.object({ value, source: z.string() });
}

/** Says in a sentence where a rule comes from: `the default`, or `from evals/x.evals.yaml:4`. */
export function describeSource(source: string): string {
  return source === 'default' ? 'the default' : `from ${source}`;
}
