import { z } from 'zod';

/** A rule of a policy and its source: an input, `file:line` or `default`. */
export interface Sourced<T> {
  value: T;
  source: string;
}

/** Creates the schema of a rule with its source, such as `min-pass-rate`, `evals/x.evals.yaml:4` or `default`. */
export function sourced<T extends z.ZodType>(value: T) {
  return z.object({ value, source: z.string() });
}

/** A rule for a tag, a model or a case. `name` is the id or title of a case as written; once the plan has resolved it, it is the id. */
export type NamedRule<T> = Sourced<T> & { name: string };

/** Creates the schema of a rule with a name. */
export function named<T extends z.ZodType>(value: T) {
  return z.object({ name: z.string(), value, source: z.string() });
}

/** Describes the source of a rule in a sentence: `the default`, or `from evals/x.evals.yaml:4`. */
export function describeSource(source: string): string {
  return source === 'default' ? 'the default' : `from ${source}`;
}
