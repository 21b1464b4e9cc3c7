import { endSentence } from '../../base/text.ts';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../model/assertion.ts';
import type { Step } from '../../model/step.ts';
import type { ServerVisit, WitnessedEnd } from '../../model/process-end.ts';
import { serverUnderTest } from '../../model/suite.ts';
import { composeTraceParent, type TraceIds } from '../../otlp/ids.ts';
import { classifyCallFault } from '../../mcp/faults.ts';
import type { ExcusedSteps } from '../excused-calls.ts';
import { findSchemaViolation } from '../output-schemas.ts';
import { describeLoss, findLoss } from '../process-loss.ts';
import { clipReason, printValue } from '../reasons.ts';
import type { SchemaContext } from '../schema-check.ts';
import type { Session, Target } from '../../mcp/session.ts';
import { lookUpTool, type ToolLookup } from '../tool-list.ts';
import { readText, type CallOutput, type CallRecord, type Transcript } from '../transcript.ts';
import type { StepOutcome } from './step-outcome.ts';

export interface ToolCallContext {
  session: Session;
  /** Knows whether the process of the server ended; null where the process was started elsewhere. */
  visit: ServerVisit | null;
  target: Target;
  transcript: Transcript;
  stepIndex: number;
  signal: AbortSignal;
  /** Where the server's own spans belong; null where they are not collected. */
  trace: TraceIds | null;
  /** Whether no error from a tool fails the iteration. One that does fail it does not end it: later asserts may be about that error. */
  areToolErrorsAllowed: boolean;
  excusedSteps: ExcusedSteps;
  schemas: SchemaContext;
}

/** The outcome of a call; `isFatal`: the case may neither excuse the error nor go on. */
type CallAnswer = CallOutput & { isFatal: boolean };

/**
 * Calls the tool that a step pins. A tool that the server does not list fails the step, and is called only where the case
 * expects that it does not exist. An error from a live server, JSON-RPC errors included, is recorded as the tool's
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
  const evidence = { name: toolName, args: step.arguments };
  const end = (effect: StepOutcome['effect'], reason: string): StepOutcome => ({
    status: 'fail',
    reason,
    effect,
    evidence: { toolCalls: [{ ...evidence, ok: false, error: reason }] },
  });
  const mayBeMissing = context.excusedSteps.missing.has(context.stepIndex);
  const tool = await lookUpTool(toolName, context, { ofSession: mayBeMissing });
  if (tool.kind === 'lost') return giveUpByLoss(tool.witnessed, 'tools/list', evidence);
  if (tool.kind === 'unreachable') return end('give-up', describeNoAnswer('tools/list', tool.message));
  if (tool.kind === 'refused' || (tool.kind === 'missing' && !mayBeMissing)) return end('stop', tool.reason);

  const origin = { stepIndex: context.stepIndex, isListed: tool.kind === 'listed' };
  const record = context.transcript.beginPinnedCall({ toolName, arguments: step.arguments }, step, origin);
  const answer = await callTool(step, { record, tool }, context).catch((error: unknown) => {
    record.abandon();
    throw error;
  });
  if (answer.kind === 'lost') {
    record.abandon();
    return giveUpByLoss(answer.witnessed, toolName, evidence);
  }
  if (answer.kind === 'unreachable') {
    record.abandon();
    return end('give-up', describeNoAnswer(toolName, answer.message));
  }
  const { isFatal, ...output } = answer;
  const { toolError } = record.complete(output);
  if (toolError === null) {
    return { status: 'ok', reason: null, effect: 'continue', evidence: { toolCalls: [{ ...evidence, ok: true }] } };
  }
  if (isFatal) return end('stop', toolError);
  const isExpected = context.excusedSteps.errors.has(context.stepIndex);
  if (isExpected && !mayBeMissing) {
    // The error of a tool that does not exist is not the one that the case expects of it.
    const own = await lookUpTool(toolName, context, { ofSession: true });
    if (own.kind === 'lost') return giveUpByLoss(own.witnessed, 'tools/list', evidence);
    if (own.kind === 'unreachable') return end('give-up', describeNoAnswer('tools/list', own.message));
    if (own.kind !== 'listed') return end('stop', own.reason);
  }
  if (!isExpected && !context.areToolErrorsAllowed) return end('continue', toolError);
  return {
    status: 'ok',
    reason: null,
    effect: 'continue',
    evidence: { toolCalls: [{ ...evidence, ok: false, error: toolError }] },
  };
}

function describeNoAnswer(what: string, message: string): string {
  return clipReason(endSentence(`The server gave no answer to ${what}: ${message}`));
}

/** The iteration cannot go on; whether it failed depends on what else the process served. */
function giveUpByLoss(
  witnessed: WitnessedEnd,
  method: string,
  { name, args }: { name: string; args: JsonObject },
): StepOutcome {
  return {
    status: 'fail',
    reason: describeLoss(witnessed, method),
    effect: 'give-up',
    evidence: { toolCalls: [{ name, args, ok: false }] },
    loss: { ...witnessed, isDuringCall: true },
  };
}

async function callTool(
  step: Extract<Step, { kind: 'toolCall' }>,
  { record: { spanId }, tool }: { record: CallRecord; tool: ToolLookup },
  context: ToolCallContext,
): Promise<CallAnswer | { kind: 'unreachable'; message: string } | { kind: 'lost'; witnessed: WitnessedEnd }> {
  const { toolName } = step;
  let result: CallToolResult;
  try {
    const { signal, trace } = context;
    const traceParent = trace === null ? undefined : composeTraceParent(trace, spanId);
    result = await context.session.callTool(toolName, step.arguments, { signal, traceParent });
  } catch (error) {
    context.signal.throwIfAborted();
    const witnessed = await findLoss(error, context);
    if (witnessed !== null) return { kind: 'lost', witnessed };
    const fault = classifyCallFault(error);
    if (fault.kind === 'unreachable') return fault;
    const answeredAtMs = context.transcript.elapsedMs();
    if (fault.kind === 'excessive') {
      const { message } = fault;
      return { kind: 'error', message, toolError: message, code: null, answeredAtMs, isFatal: true };
    }
    if (fault.kind === 'malformed') {
      const message = `${toolName} answered with a result that is not valid MCP: ${fault.message}.`;
      return { kind: 'error', message, toolError: message, code: null, answeredAtMs, isFatal: false };
    }
    const code = fault.code === null ? '' : ` with JSON-RPC error ${fault.code}`;
    const toolError = `${toolName} failed${code}: ${printValue(fault.message)}.`;
    return { kind: 'error', message: fault.message, toolError, code: fault.code, answeredAtMs, isFatal: false };
  }
  const answeredAtMs = context.transcript.elapsedMs();
  if (result.isError === true) {
    const toolError = clipReason(`${toolName} answered with an error: ${printValue(readText(result))}.`);
    return { kind: 'result', result, toolError, answeredAtMs, isFatal: false };
  }
  const schema = tool.kind === 'listed' ? tool.outputSchema : null;
  const violation = await findSchemaViolation(toolName, { result, schema }, context.schemas);
  const toolError = violation === null ? null : clipReason(violation.reason);
  return { kind: 'result', result, toolError, answeredAtMs, isFatal: violation?.isUnchecked ?? false };
}
