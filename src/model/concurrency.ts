import { z } from 'zod';
import { count } from './quantities.ts';

/** The number of iterations that may run at the same time. `auto` derives it from the tools that they call. */
export type ConcurrencySetting = 'auto' | number;

/** The largest value of the setting. */
export const maxConcurrency = 64;

/** The concurrency setting of a suite. */
export interface SuiteConcurrency {
  setting: ConcurrencySetting;
  /** `concurrency`, `evals/x.evals.yaml:4` or `default`. */
  source: string;
  /** True if the suite declares that its iterations share no state, whatever tools they call. */
  isIndependent: boolean;
}

/**
 * The rule that decided how many iterations ran at the same time.
 *
 * - `given`: the setting is a number.
 * - `one-process`: one server process takes the sessions in turns.
 * - `workspace`: each iteration has a copy of the files for itself.
 * - `independent`: the suite declares that its iterations share no state.
 * - `read-only`: the server declares every tool that the cases call as read-only.
 * - `not-read-only`: the server does not declare all of these tools as read-only.
 * - `tools-unknown`: the server did not list its tools.
 * - `command`: a step runs a program.
 */
export const concurrencyRules = [
  'given',
  'one-process',
  'workspace',
  'independent',
  'read-only',
  'not-read-only',
  'tools-unknown',
  'command',
] as const;
export type ConcurrencyRule = (typeof concurrencyRules)[number];

export const concurrencySchema = z.object({
  setting: z.union([z.literal('auto'), z.int().min(1)]),
  source: z.string().describe('An option, a `file:line`, or `default`.'),
  rule: z.enum(concurrencyRules),
  limit: z.int().min(1).describe('The most iterations that could run at the same time.'),
  tool: z
    .string()
    .nullable()
    .describe(
      'The first tool that is not declared read-only, or with the rule `command` the program; null with other rules.',
    ),
  cases: count,
  serialCases: count.describe('Cases that ran one iteration at a time, with nothing else next to it.'),
});

/** How many iterations of a suite ran at the same time, and why. */
export type ConcurrencyReport = z.infer<typeof concurrencySchema>;
