import { z } from 'zod';
import { count } from './quantities.ts';

/** What the model calls of one or several iterations used. Answers from recordings used nothing. */
export const modelUsageSchema = z.object({
  modelCalls: count.describe('Calls that a provider answered.'),
  replayedCalls: count.describe('Answers that were read from recordings.'),
  inputTokens: count.describe('Cached ones included.'),
  cachedInputTokens: count.describe('Input tokens that the provider read from its cache.'),
  outputTokens: count.describe('Reasoning included.'),
  unmeasuredCalls: count.describe('Calls whose provider did not report the tokens.'),
});
export type ModelUsage = z.infer<typeof modelUsageSchema>;

export const noModelUsage: ModelUsage = {
  modelCalls: 0,
  replayedCalls: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  unmeasuredCalls: 0,
};

export function addUsage(one: ModelUsage, other: ModelUsage): ModelUsage {
  return {
    modelCalls: one.modelCalls + other.modelCalls,
    replayedCalls: one.replayedCalls + other.replayedCalls,
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    unmeasuredCalls: one.unmeasuredCalls + other.unmeasuredCalls,
  };
}
