import { type ModelUsage, noModelUsage } from '../model/usage.ts';
import type { ModelAnswer } from './language-model.ts';

/** Measures the usage of one answer. An answer from a recording used nothing. */
export function measureUsage({ usage, isReplayed }: Pick<ModelAnswer, 'usage' | 'isReplayed'>): ModelUsage {
  if (isReplayed) return { ...noModelUsage, replayedCalls: 1 };
  const { total: inputTokens, cacheRead, cacheWrite = 0 } = usage.inputTokens;
  const { total: outputTokens } = usage.outputTokens;
  return {
    modelCalls: 1,
    replayedCalls: 0,
    inputTokens: inputTokens ?? 0,
    cachedInputTokens: cacheRead ?? 0,
    ...(cacheWrite > 0 && { cacheWriteTokens: cacheWrite }),
    outputTokens: outputTokens ?? 0,
    unmeasuredCalls: inputTokens === undefined || outputTokens === undefined ? 1 : 0,
  };
}
