import type { z } from 'zod';
import { ProtocolError } from '../base/errors.ts';
import type { Iteration, Run, StepResult, ToolCall } from '../model/run.ts';
import type { ModelUsage } from '../model/usage.ts';
import type { WireIteration, WireRun, WireStep, WireToolCall } from './wire.ts';

/** One page of a collection. On the last page, the cursor is missing, null or empty. */
export interface Page<Item> {
  items: readonly Item[];
  nextCursor?: string | null | undefined;
}

/** Parses a decoded answer into the result of an operation, or throws a `ProtocolError`. */
export type Parse<T> = (answer: unknown) => T;

/**
 * Creates the parser of a schema. `what` completes "The service's answer is not …". The parser throws a `ProtocolError` with the `path` of
 * the first mismatch, such as `items.3.status`.
 */
export function parseAs<Schema extends z.ZodType>(schema: Schema, what: string): Parse<z.output<Schema>> {
  return (answer) => {
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    const path = issue?.path.map(String).join('.') ?? '';
    throw new ProtocolError(
      `The service's answer is not ${what}: ${path === '' ? '' : `${path}: `}${issue?.message ?? 'no reason given'}.`,
      { path, hint: 'The base URL may belong to another service, or to a version that this one does not know.' },
    );
  };
}

/** Reads a run. Fields that the service left out are null. */
export function toRun(run: WireRun): Run {
  const { summary } = run;
  return {
    id: run.id,
    suiteId: run.suiteId,
    status: run.status,
    result: run.result ?? null,
    summary: toRunSummary(summary),
    createdAtMs: run.createdAt ?? null,
    completedAtMs: run.completedAt ?? null,
    notes: run.notes ?? null,
  };
}

/** Returns null unless all counts are present, because a missing count must not read as 0 passed or failed. */
function toRunSummary(summary: WireRun['summary']): Run['summary'] {
  const { total, passed, failed } = summary ?? {};
  return total == null || passed == null || failed == null ? null : { total, passed, failed };
}

function toUsage(usage: NonNullable<WireIteration['usage']>): ModelUsage {
  return {
    modelCalls: usage.modelCalls ?? 0,
    replayedCalls: usage.replayedCalls ?? 0,
    inputTokens: usage.inputTokens ?? 0,
    cachedInputTokens: usage.cachedInputTokens ?? 0,
    outputTokens: usage.outputTokens ?? 0,
    unmeasuredCalls: usage.unmeasuredCalls ?? 0,
  };
}

/** Reads an iteration. Fields that the service left out are null. */
export function toIteration(iteration: WireIteration): Iteration {
  return {
    id: iteration.id,
    testCaseId: iteration.testCaseId ?? null,
    title: iteration.title ?? null,
    iterationNumber: iteration.iterationNumber ?? null,
    status: iteration.status,
    result: iteration.result ?? null,
    startedAtMs: iteration.startedAt ?? null,
    durationMs: iteration.durationMs ?? null,
    error: iteration.error ?? null,
    model: iteration.model ?? null,
    tokensUsed: iteration.tokensUsed ?? null,
    usage: iteration.usage == null ? null : toUsage(iteration.usage),
    judges: (iteration.judges ?? []).map((judge) => ({ ...judge, usage: toUsage(judge.usage) })),
    actualToolCalls: (iteration.actualToolCalls ?? []).map(toToolCall),
    expectedToolCalls: (iteration.expectedToolCalls ?? []).map(toToolCall),
  };
}

/** Reads the result of a step. */
export function toStepResult(step: WireStep): StepResult {
  const toolCalls = step.evidence?.toolCalls?.map(({ name, args, ok, error }) => ({
    name,
    args: args ?? {},
    ok: ok ?? error == null,
    ...(error == null ? {} : { error }),
  }));
  return {
    stepId: step.stepId,
    stepIndex: step.stepIndex,
    kind: step.kind,
    ...(step.phase != null && { phase: step.phase }),
    status: toStepStatus(step.status),
    reason: step.reason ?? null,
    ...(toolCalls === undefined ? {} : { evidence: { toolCalls } }),
  };
}

/** Reads an unknown status as pending, because it does not show that the step passed. */
function toStepStatus(status: string): StepResult['status'] {
  return status === 'ok' || status === 'fail' || status === 'skipped' ? status : 'pending';
}

function toToolCall(call: WireToolCall): ToolCall {
  return {
    toolName: call.toolName ?? call.name ?? '(unnamed)',
    arguments: call.arguments ?? call.args ?? {},
  };
}
