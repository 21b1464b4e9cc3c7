import type { TraceSpan } from '../model/trace.ts';
import type { ModelAnswer, ModelName } from '../models/language-model.ts';

/** The step that a call belongs to; `promptIndex` counts the prompts of the case from 0, and is null for a pinned call. */
export interface CallOrigin {
  step: { id: string };
  stepIndex: number;
  promptIndex: number | null;
}

/** The id of the span of a step. */
export function stepSpanId(stepIndex: number): string {
  return `step_${stepIndex + 1}`;
}

/** Where a span belongs. */
export function placeSpan({ step, stepIndex, promptIndex }: CallOrigin) {
  return { stepIndex, authoredStepId: step.id, ...(promptIndex !== null && { promptIndex }) };
}

/** What the span of a call of a model has of its answer. */
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

/** An input that is no JSON stays the text that it is. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
