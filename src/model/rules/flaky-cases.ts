import { z } from 'zod';
import type { Sourced } from '../source.ts';
import { defineRule } from './define-rule.ts';

/** How a flaky case counts (it failed at first and passed in full in a later round): as failed, as passed, or not at all. */
export const flakyEffects = z.enum(['fail', 'pass', 'report']);

export const flakyRules = [
  defineRule('retryFailed', {
    // More `runs` measure how often a case passes; more rounds do not.
    written: z.int().min(0).max(5),
    description: 'In how many further rounds, at most, cases that failed are run again.',
    default: 0,
    strictness: {
      stricter: 'smaller',
      // Further rounds change a result only if a flaky case does not count as failed.
      matters: ({ flaky }: { flaky: Sourced<z.infer<typeof flakyEffects>> | null }) =>
        (flaky?.value ?? 'fail') !== 'fail',
    },
    docs: '0 # the default; rounds in which failed cases run again, up to 5',
  }),
  defineRule('flaky', {
    written: flakyEffects,
    description: 'How a case counts that passed only when it was run again: as failed, as passed, or not.',
    default: 'fail',
    strictness: { stricter: ['fail', 'report', 'pass'] },
    docs: 'fail # the default; or pass or report: how a case counts that passed in such a round',
  }),
];
