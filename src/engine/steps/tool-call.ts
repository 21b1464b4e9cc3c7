import { endSentence } from '../../base/sentence.ts';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Step } from '../../model/case.ts';
import { serverUnderTest } from '../../model/suite.ts';
import { composeTraceParent, type TraceIds } from '../../report/otlp/trace-ids.ts';
import { classifyCallFault } from '../faults.ts';
import { findSchemaViolation } from '../output-schemas.ts';
import { clipReason, printValue } from '../reasons.ts';
import type { Session } from '../session.ts';
import type { Target } from '../target.ts';
import { readText, type CallOutput, type CallRecord, type Transcript } from '../transcript.ts';
import type { StepOutcome } from './step-outcome.ts';

export interface ToolCallContext {
  session: Session;
  target: Target;
  transcript: Transcript;
  stepIndex: number;
  signal: AbortSignal;
  /** Where the server's own spans belong; null where nobody collects them. */
  trace: TraceIds | null;
  /** Whether no error from a tool fails the iteration. One that does fail it does not end it: later asserts may be about that error. */
  areToolErrorsAllowed: boolean;
  /** Indices of the steps whose call the case expects to fail. */
  excusedSteps: ReadonlySet<number>;
}

/**
 * Calls the tool that a step pins. An error from a live server, JSON-RPC errors included, is recorded as the tool's
 * answer and the case goes on; where the server cannot be reached, the iteration is given up.
 *
 * @throws the signal's reason once it aborts.
 */
export async function runToolCallStep(
  step: Extract<Step, { kind: 'toolCall' }>,
  context: ToolCallContext,
): Promise<StepOutcome> {
  const { toolName } = step;
  const isOurs = step.serverId !== undefined || [serverUnderTest, context.target.serverName].includes(step.serverName);
  if (!isOurs) {
    const reason = `The step calls server ${printValue(step.serverName)}, and only ${printValue(context.target.serverName)} is under test.`;
    return { status: 'fail', reason, effect: 'give-up' };
  }
  const record = context.transcript.beginPinnedCall({ toolName, arguments: step.arguments }, step, context.stepIndex);
  const answer = await callTool(step, record, context).catch((error: unknown) => {
    record.abandon();
    throw error;
  });
  const evidence = { name: toolName, args: step.arguments };
  if (answer.kind === 'unreachable') {
    record.abandon();
    const reason = clipReason(endSentence(`The server gave no answer to ${toolName}: ${answer.message}`));
    return {
      status: 'fail',
      reason,
      effect: 'give-up',
      evidence: { toolCalls: [{ ...evidence, ok: false, error: reason }] },
    };
  }
  const { toolError } = record.complete(answer);
  if (toolError === null) {
    return { status: 'ok', reason: null, effect: 'continue', evidence: { toolCalls: [{ ...evidence, ok: true }] } };
  }
  const isExcused = context.areToolErrorsAllowed || context.excusedSteps.has(context.stepIndex);
  return {
    status: isExcused ? 'ok' : 'fail',
    reason: isExcused ? null : toolError,
    effect: 'continue',
    evidence: { toolCalls: [{ ...evidence, ok: false, error: toolError }] },
  };
}

async function callTool(
  step: Extract<Step, { kind: 'toolCall' }>,
  { spanId }: CallRecord,
  context: ToolCallContext,
): Promise<CallOutput | { kind: 'unreachable'; message: string }> {
  const { toolName } = step;
  let result: CallToolResult;
  try {
    const { signal, trace } = context;
    const traceParent = trace === null ? undefined : composeTraceParent(trace, spanId);
    result = await context.session.callTool(toolName, step.arguments, { signal, traceParent });
  } catch (error) {
    context.signal.throwIfAborted();
    const fault = classifyCallFault(error);
    if (fault.kind === 'unreachable') return fault;
    const answeredAtMs = context.transcript.elapsedMs();
    const code = fault.code === null ? '' : ` with JSON-RPC error ${fault.code}`;
    const toolError = `${toolName} failed${code}: ${printValue(fault.message)}.`;
    return { kind: 'error', message: fault.message, toolError, code: fault.code, answeredAtMs };
  }
  const answeredAtMs = context.transcript.elapsedMs();
  const toolError =
    result.isError === true
      ? `${toolName} answered with an error: ${printValue(readText(result))}.`
      : await findSchemaViolation(toolName, result, context);
  return { kind: 'result', result, toolError: toolError === null ? null : clipReason(toolError), answeredAtMs };
}
