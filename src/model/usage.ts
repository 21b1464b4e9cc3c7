import { z } from 'zod';
import { count } from './quantities.ts';

/** The usage of the model calls of one or several iterations. Recorded answers use nothing. */
export const modelUsageSchema = z.object({
  modelCalls: count.describe('Calls that a provider answered.'),
  replayedCalls: count.describe('Answers that were read from recordings.'),
  inputTokens: count.describe('Cached ones included.'),
  cachedInputTokens: count.describe('Input tokens that the provider read from its cache.'),
  cacheWriteTokens: count
    .exactOptional()
    .describe('Input tokens that the provider wrote to its cache; absent if there are none.'),
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

export const judgeUsageSchema = z.object({ model: z.string().describe('`provider/name`.'), usage: modelUsageSchema });

/** The usage of the calls to one model as a judge. */
export type JudgeUsage = z.infer<typeof judgeUsageSchema>;

/** Adds up the usage of judges: one entry per model, in the order of first calls. */
export function joinJudges(parts: readonly JudgeUsage[]): JudgeUsage[] {
  return [...Map.groupBy(parts, ({ model }) => model)].map(([model, own]) => ({
    model,
    usage: own.map(({ usage }) => usage).reduce(addUsage, noModelUsage),
  }));
}

export function addUsage(one: ModelUsage, other: ModelUsage): ModelUsage {
  const cacheWriteTokens = (one.cacheWriteTokens ?? 0) + (other.cacheWriteTokens ?? 0);
  return {
    modelCalls: one.modelCalls + other.modelCalls,
    replayedCalls: one.replayedCalls + other.replayedCalls,
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    outputTokens: one.outputTokens + other.outputTokens,
    unmeasuredCalls: one.unmeasuredCalls + other.unmeasuredCalls,
  };
}

/** Counts the tokens of a case or an iteration, including those of its judges. */
export function countTokens({
  tokensUsed,
  judges,
}: {
  tokensUsed: number | null;
  judges: ReadonlyArray<Pick<JudgeUsage, 'usage'>>;
}): number {
  return judges.reduce((total, { usage }) => total + usage.inputTokens + usage.outputTokens, tokensUsed ?? 0);
}

/** Adds up the usage that is known; null if no part has one. */
export function joinUsage(parts: ReadonlyArray<ModelUsage | null>): ModelUsage | null {
  return parts
    .filter((usage) => usage !== null)
    .reduce<ModelUsage | null>((sum, usage) => (sum === null ? usage : addUsage(sum, usage)), null);
}

/** Checks if there was any call. A service may report zero usage for a case without a model. */
export function hasUsage(usage: ModelUsage): boolean {
  return Object.values(usage).some((amount) => amount > 0);
}
