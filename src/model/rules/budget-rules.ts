import { z } from 'zod';
import { formatDuration } from '../../base/time.ts';
import { count, milliseconds, money } from '../quantities.ts';
import { timeout } from '../written-values.ts';
import { defineRule } from './define-rule.ts';

export const budgetSection = {
  name: 'budgets',
  id: 'budgets',
  description: 'What one suite may spend at most.',
  reported: 'What may be spent at most; null where nothing is said.',
};

const counts = { written: z.int().min(0), value: count };
const durations = { written: timeout, value: milliseconds };

export const budgetRules = [
  defineRule('budgets.tokens', {
    ...counts,
    description: 'Tokens of models, over all iterations.',
    reported: 'Of models, over all iterations.',
    default: null,
    strictness: { stricter: 'smaller', what: 'the budget `tokens`' },
    docs: '200000',
  }),
  defineRule('budgets.modelCalls', {
    ...counts,
    description: 'Calls of models, over all iterations. Recorded answers are none. Default: 300.',
    reported: 'Calls of models, over all iterations; recorded answers are none.',
    // Limits the cost of a mistake in a case.
    default: 300,
    isNullable: true,
    strictness: { stricter: 'smaller', what: 'the budget `modelCalls`' },
    docs: '300 # the default',
  }),
  defineRule('budgets.cost', {
    written: z.number().min(0).max(1e9),
    description: 'Cost of the model calls, in the `currency` of the policy, by its `prices`.',
    value: money,
    reported: 'Of the model calls, by the prices of the policy.',
    default: null,
    strictness: { stricter: 'smaller', what: 'the budget `cost`' },
    docs: '0.50 # in the currency of the prices',
  }),
  defineRule('budgets.wallTime', {
    stored: 'budgets.wallTimeMs',
    ...durations,
    description: 'Time of the run; when it is over, the run is cancelled.',
    reported: 'From the creation of the run to its end.',
    default: null,
    strictness: { stricter: 'smaller', what: 'the budget `wallTime`', format: formatDuration },
    docs: '10m',
  }),
  defineRule('budgets.p95IterationTime', {
    stored: 'budgets.p95IterationMs',
    ...durations,
    description: 'What 95% of the iterations must not exceed.',
    reported: 'What 95% of the iterations must not exceed.',
    default: null,
    strictness: { stricter: 'smaller', what: 'the budget `p95IterationTime`', format: formatDuration },
    docs: '2s',
  }),
  defineRule('budgets.infrastructureErrors', {
    ...counts,
    description: 'Iterations that may end without a result.',
    reported: 'Iterations that may end without a result.',
    default: null,
    // Unlike the others, this budget allows something: without it, every iteration must have a result.
    strictness: { stricter: 'smaller', what: 'the budget `infrastructureErrors`', whenUnset: 0 },
    docs: '2 # default 0',
  }),
];
