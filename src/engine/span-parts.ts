import type { TraceSpan } from '../model/trace.ts';
import type { ModelAnswer, ModelName } from '../models/language-model.ts';

/** The step of a call. `promptIndex` counts the prompts of the case from 0; null for a pinned call. */
export interface CallOrigin {
  step: { id: string };
  stepIndex: number;
  promptIndex: number | null;
}

/** Returns the id of the span of a step. */
export function stepSpanId(stepIndex: number): string {
  return `step_${stepIndex + 1}`;
}

/** Returns the span fields that assign a span to its step. */
export function placeSpan({ step, stepIndex, promptIndex }: CallOrigin) {
  return { stepIndex, authoredStepId: step.id, ...(promptIndex !== null && { promptIndex }) };
}

/** Returns the span fields that describe the answer to a model call. */
export function describeAnswer(
  model: ModelName,
  { finishReason, usage }: Pick<ModelAnswer, 'finishReason' | 'usage'>,
): Partial<TraceSpan> {
  const { total: inputTokens } = usage.inputTokens;
  const { total: outputTokens } = usage.outputTokens;
  return {
    modelId: model.name,
    provider: model.provider,
    finishReason: finishReason.unified,
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(inputTokens !== undefined && outputTokens !== undefined && { totalTokens: inputTokens + outputTokens }),
  };
}

/** Parses JSON; returns other text unchanged. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
