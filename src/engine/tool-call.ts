import type { CallToolResult } from '@modelcontextprotocol/client';
import { type Check, asksForRefusal, listExpectedErrors } from '../checks/assertion.ts';
import type { JsonObject } from '../base/json.ts';
import type { WitnessedEnd } from '../model/process-end.ts';
import type { ToolCall } from '../model/run.ts';
import { isRequestStep, type Step } from '../cases/step.ts';
import { composeTraceParent, type TraceIds } from '../otlp/ids.ts';
import type { ShownTool, Widgets } from './apps/widgets.ts';
import { type Connection, describeUnknownServer, explainFailedRequest, findConnection } from './process-loss.ts';
import { clipReason, joinWithin, maxListLength, printValue } from '../checks/reasons.ts';
import { checkSchema, type SchemaBudget } from './schema-check.ts';
import { describeNoAnswer, giveUpByLoss, type StepOutcome } from './step-outcome.ts';
import { listTools, lookUpTool, type ToolLookup } from './tool-list.ts';
import { type CallOutput, readText } from './call-output.ts';
import type { CallRecord, Transcript } from './transcript.ts';

/** The errors of a call that the case allows. Other errors count, but do not end the iteration, because later asserts may judge them. */
export interface CallAllowance {
  /** True if any error of any tool is allowed. */
  anyError: boolean;
  /** True if an assertion expects the error of this call. */
  ownError: boolean;
  /** True if an assertion expects that the server does not list the tool. */
  missingTool: boolean;
}

/** The objects that record and judge a call. */
export interface CallRecording {
  transcript: Transcript;
  stepIndex: number;
  /** The parent trace of the server's own spans; null if they are not collected. */
  trace: TraceIds | null;
  schemas: SchemaBudget;
  /** Null if no apps are shown. */
  widgets?: Widgets | null;
}

/** The outcome of a call. `isFatal` means that the case cannot allow the error and cannot continue. */
type CallAnswer = CallOutput & { isFatal: boolean };

/**
 * Calls the tool that a step pins. A tool that the server does not list fails the step; it is called only if the case expects that it does
 * not exist. An error of a live server, including a JSON-RPC error, is recorded as the tool's answer, and the case continues. If the server
 * cannot be reached, the iteration is given up.
 *
 * @throws the signal's reason once it aborts.
 */
export async function runToolCallStep(
  step: Extract<Step, { kind: 'toolCall' }>,
  first: Connection,
  { allowance, ...recording }: CallRecording & { allowance: CallAllowance },
): Promise<StepOutcome> {
  const { toolName } = step;
  const { stepIndex, transcript } = recording;
  const connection = findConnection(step, first);
  if (connection === undefined) {
    const reason = describeUnknownServer(step, first);
    return { status: 'fail', reason, effect: 'give-up' };
  }
  const evidence = { name: toolName, args: step.arguments };
  const end = (effect: StepOutcome['effect'], reason: string): StepOutcome => ({
    status: 'fail',
    reason,
    effect,
    evidence: { toolCalls: [{ ...evidence, ok: false, error: reason }] },
  });
  const mayBeMissing = allowance.missingTool;
  const tool = await lookUpTool(toolName, connection, { ofSession: mayBeMissing });
  if (tool.kind === 'lost') return giveUpByLoss(tool.witnessed, 'tools/list', evidence);
  if (tool.kind === 'unreachable') return end('give-up', describeNoAnswer('tools/list', tool.message));
  if (tool.kind === 'missing') transcript.unlistedTools.push({ toolName, stepIndex });
  if (tool.kind === 'refused' || (tool.kind === 'missing' && !mayBeMissing)) return end('stop', tool.reason);

  const listing = await listTools(connection);
  if (listing.kind === 'list') transcript.setTools(connection.target.serverName, listing.list);

  const call = { toolName, arguments: step.arguments };
  const origin = { step, stepIndex, promptIndex: null, isListed: tool.kind === 'listed' };
  const record = transcript.beginPinnedCall(call, origin);
  const answer = await callTool(call, connection, { ...recording, record, tool });
  if (answer.kind === 'lost') return giveUpByLoss(answer.witnessed, toolName, evidence);
  if (answer.kind === 'unreachable') return end('give-up', describeNoAnswer(toolName, answer.message));
  if (answer.kind === 'unmeasured') return end('give-up', answer.reason);
  const { isFatal, ...output } = answer;
  const { toolError } = record.complete(output);
  if (tool.kind === 'listed') {
    await showResult({ ...call, renderTimeoutMs: step.renderTimeoutMs }, output, {
      connection,
      declaration: tool,
      widgets: recording.widgets,
    });
  }
  const result = output.kind === 'result' ? { result: output.result } : {};
  if (toolError === null) {
    const toolCalls = [{ ...evidence, ok: true }];
    return { status: 'ok', reason: null, effect: 'continue', ...result, evidence: { toolCalls } };
  }
  if (isFatal) return { ...end('stop', toolError), ...result };
  if (allowance.ownError && !mayBeMissing) {
    // If the tool does not exist, its error is not the error that the case expects.
    const own = await lookUpTool(toolName, connection, { ofSession: true });
    if (own.kind === 'lost') return giveUpByLoss(own.witnessed, 'tools/list', evidence);
    if (own.kind === 'unreachable') return end('give-up', describeNoAnswer('tools/list', own.message));
    if (own.kind !== 'listed') return end('stop', own.reason);
  }
  if (!allowance.ownError && !allowance.anyError) return { ...end('continue', toolError), ...result };
  return {
    status: 'ok',
    reason: null,
    effect: 'continue',
    ...result,
    evidence: { toolCalls: [{ ...evidence, ok: false, error: toolError }] },
  };
}

/** Shows the app of a tool with its result. Shows nothing if an error was returned instead of a result. */
export async function showResult(
  { toolName, arguments: args, renderTimeoutMs }: ToolCall & { renderTimeoutMs?: number | undefined },
  output: CallOutput,
  { widgets, ...shown }: ShownTool & { widgets: Widgets | null | undefined },
): Promise<void> {
  if (output.kind !== 'result' || widgets == null) return;
  await widgets.show({ toolName, arguments: args, result: output.result, renderTimeoutMs }, shown);
}

/** A call without an answer of the server. */
type UnansweredCall = { kind: 'unreachable'; message: string } | { kind: 'lost'; witnessed: WitnessedEnd };

/**
 * Makes a tool call, pinned or for a model, and validates its result against the tool's output schema. Abandons the record of a call
 * without an answer, and of a call that cannot be judged because the tool requires a task and the session has no tasks.
 *
 * @throws the signal's reason once it aborts.
 */
export async function callTool(
  call: ToolCall,
  connection: Connection,
  context: Omit<CallRecording, 'stepIndex'> & { record: CallRecord; tool: ToolLookup },
): Promise<CallAnswer | UnansweredCall | { kind: 'unmeasured'; reason: string }> {
  const { record, tool } = context;
  try {
    const answer = await requestCall(call, connection, context);
    if (answer.kind === 'lost' || answer.kind === 'unreachable') {
      record.abandon();
      return answer;
    }
    const lacksTask = tool.kind === 'listed' && tool.taskSupport === 'required' && !connection.session.hasTasks;
    if (answer.toolError === null || !lacksTask) return answer;
    record.abandon();
    const reason = `${call.toolName} requires a task, and the server does not declare the capability \`tasks.requests.tools.call\`, without which no call can be made as a task.`;
    return { kind: 'unmeasured', reason };
  } catch (error) {
    record.abandon();
    throw error;
  }
}

async function requestCall(
  { toolName, arguments: args }: ToolCall,
  connection: Connection,
  {
    record,
    tool,
    transcript,
    trace,
    schemas,
  }: Omit<CallRecording, 'stepIndex'> & { record: CallRecord; tool: ToolLookup },
): Promise<CallAnswer | UnansweredCall> {
  const { session, signal } = connection;
  let result: CallToolResult;
  try {
    const traceParent = trace === null ? undefined : composeTraceParent(trace, record.spanId);
    const taskSupport = tool.kind === 'listed' ? tool.taskSupport : undefined;
    result = await session.callTool(toolName, args, {
      signal,
      traceParent,
      taskSupport,
      onUpdate: (update) => transcript.notifications.add({ ...update, toolCallId: record.spanId, toolName }),
    });
  } catch (error) {
    const fault = await explainFailedRequest(error, connection);
    if (fault.kind === 'lost' || fault.kind === 'unreachable') return fault;
    const answeredAtMs = transcript.elapsedMs();
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
  const answeredAtMs = transcript.elapsedMs();
  if (result.isError === true) {
    const toolError = clipReason(`${toolName} answered with an error: ${printValue(readText(result))}.`);
    return { kind: 'result', result, toolError, answeredAtMs, isFatal: false };
  }
  const schema = tool.kind === 'listed' ? tool.outputSchema : null;
  const violation = await findSchemaViolation(toolName, { result, schema }, schemas);
  const toolError = violation === null ? null : clipReason(violation.reason);
  return { kind: 'result', result, toolError, answeredAtMs, isFatal: violation?.isUnchecked ?? false };
}

/** A problem of a result; `reason` is one sentence. */
interface SchemaViolation {
  reason: string;
  /** True if the check exceeded a limit. The case must not continue as if the result were valid. */
  isUnchecked: boolean;
}

/**
 * Finds a violation of the output schema that the tool declares; null if there is none or the tool declares no schema. A server must follow
 * its schema (MCP 2025-06-18, "Output Schema"), and clients reject results that do not. A schema that cannot be compiled is ignored. A
 * check that exceeds a limit counts as a violation, because schema and result both come from the server.
 *
 * @throws the reason of the limit's signal once it aborts.
 */
async function findSchemaViolation(
  toolName: string,
  { result, schema }: { result: CallToolResult; schema: JsonObject | null },
  schemas: SchemaBudget,
): Promise<SchemaViolation | null> {
  if (result.isError === true || schema === null) return null;
  if (result.structuredContent === undefined) {
    const reason = `${toolName} declares an outputSchema and answered without structuredContent.`;
    return { reason, isUnchecked: false };
  }
  const check = await checkSchema(schema, result.structuredContent, { budget: schemas });
  if (check.kind === 'stopped') {
    const reason = `${toolName} answered with structuredContent that cannot be checked against its own outputSchema: ${check.reason}. Simplify the schema, or return less.`;
    return { reason, isUnchecked: true };
  }
  if (check.kind !== 'invalid') return null;
  const reason = `${toolName} answered with structuredContent that breaks its own outputSchema: ${joinWithin(check.mismatches, maxListLength)}.`;
  return { reason, isUnchecked: false };
}

/** The steps whose errors a case expects, by index. */
export interface ExpectedErrors {
  /** Tool calls and other requests that may return an error. */
  errors: ReadonlySet<number>;
  /** Calls of tools that the server does not have to list. */
  missing: ReadonlySet<number>;
  /** Prompts, each with the tools whose latest error in the turn is expected; null stands for the latest call of any tool. */
  prompts: ReadonlyMap<number, ReadonlySet<string | null>>;
  /** Prompts that the model may refuse, because a check judges the refusal. */
  refusals: ReadonlySet<number>;
}

/**
 * Lists the steps whose errors the case expects. An assertion that expects an error judges the latest call before it, of its tool if it
 * names one. Checks at the end judge the latest call of all. A model may make that call instead, so prompts between the pinned call and the
 * assertion are excused too. Errors of all other calls count. A check of a refusal judges the latest prompt before it.
 */
export function findExpectedErrors(steps: readonly Step[], checks: readonly Check[]): ExpectedErrors {
  const assertions = [
    ...steps.flatMap((step, index) => (step.kind === 'assert' ? [{ assertion: step.assertion, position: index }] : [])),
    ...checks.map((assertion) => ({ assertion, position: steps.length })),
  ];
  const expectations = assertions.flatMap(({ assertion, position }) =>
    listExpectedErrors(assertion).map((error) => ({ ...error, position })),
  );
  const refusals = new Set(
    assertions
      .filter(({ assertion }) => asksForRefusal(assertion))
      .map(({ position }) => steps.slice(0, position).findLastIndex(({ kind }) => kind === 'prompt')),
  );
  const errors = new Set<number>();
  const missing = new Set<number>();
  const prompts = new Map<number, Set<string | null>>();
  for (const { of, toolName, mayBeMissing, position } of expectations) {
    if (of === 'request') {
      errors.add(steps.slice(0, position).findLastIndex(isRequestStep));
      continue;
    }
    const index = steps
      .slice(0, position)
      .findLastIndex((step) => step.kind === 'toolCall' && (toolName === undefined || step.toolName === toolName));
    errors.add(index);
    if (mayBeMissing) missing.add(index);
    for (const [at, { kind }] of steps.entries()) {
      if (kind !== 'prompt' || at < index || at > position) continue;
      prompts.set(at, new Set([...(prompts.get(at) ?? []), toolName ?? null]));
    }
  }
  return { errors, missing, prompts, refusals };
}
