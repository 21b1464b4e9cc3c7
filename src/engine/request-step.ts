import { ProtocolError } from '@modelcontextprotocol/client';
import { isRecord, listRecords } from '../base/json.ts';
import { type Clock, formatDuration, race } from '../base/time.ts';
import type { ServerRequest } from '../mcp/requests.ts';
import type { RequestStep, StepByKind } from '../cases/step.ts';
import type { TraceSpan } from '../model/trace.ts';
import { composeTraceParent } from '../otlp/ids.ts';
import type { Reply } from '../checks/evidence.ts';
import { type Connection, explainFailedRequest } from './process-loss.ts';
import { clipReason, printValue } from '../checks/reasons.ts';
import { placeSpan, stepSpanId } from './span-parts.ts';
import { describeNoAnswer, giveUpByLoss, type StepOutcome } from './step-outcome.ts';
import type { CallRecording } from './tool-call.ts';
import type { Transcript } from './transcript.ts';

/** The request of a step, and the name of its reply in assertions; null if no assertion can refer to it. */
interface Question {
  request: ServerRequest;
  reply: Pick<Reply, 'kind' | 'subject'> | null;
}

const lists = {
  listTools: 'tools/list',
  listResources: 'resources/list',
  listResourceTemplates: 'resources/templates/list',
  listPrompts: 'prompts/list',
} as const;

export function formQuestion(step: RequestStep): Question {
  switch (step.kind) {
    case 'readResource': {
      const { uri } = step;
      return { request: { method: 'resources/read', params: { uri } }, reply: { kind: 'resource', subject: uri } };
    }
    case 'getPrompt': {
      const { name, arguments: args } = step;
      const params = { name, arguments: args };
      return { request: { method: 'prompts/get', params }, reply: { kind: 'prompt', subject: name } };
    }
    case 'complete': {
      const { argument, value, of, arguments: args } = step;
      const ref =
        'prompt' in of
          ? { type: 'ref/prompt' as const, name: of.prompt }
          : { type: 'ref/resource' as const, uri: of.resourceTemplate };
      const params = { ref, argument: { name: argument, value }, context: { arguments: args } };
      return { request: { method: 'completion/complete', params }, reply: { kind: 'completion', subject: argument } };
    }
    case 'ping':
      return { request: { method: 'ping' }, reply: null };
    default: {
      const method = lists[step.kind];
      return { request: { method }, reply: { kind: 'list', subject: method } };
    }
  }
}

/**
 * Makes the request of a step that is not a tool call. An error of a live server, such as a missing capability, fails the step and is
 * recorded as its reply. It does not end the iteration, because later assertions may judge it. With `mayFail`, an assertion expects the
 * error. If the server cannot be reached, the iteration is given up.
 *
 * @throws the signal's reason once it aborts
 */
export async function runRequestStep(
  step: RequestStep,
  connection: Connection,
  {
    transcript,
    trace,
    stepIndex,
    mayFail,
  }: Pick<CallRecording, 'transcript' | 'trace' | 'stepIndex'> & { mayFail: boolean },
): Promise<StepOutcome> {
  const { request, reply } = formQuestion(step);
  const what =
    reply === null || reply.subject === request.method ? request.method : `${request.method} ${reply.subject}`;
  const startMs = transcript.elapsedMs();
  const span = beginRequestSpan(transcript, describeRequest(request), { step, stepIndex });
  const keep = (read: Pick<Reply, 'text' | 'structuredContent' | 'mimeTypes' | 'error'>, result: unknown) => {
    if (reply === null) return;
    const full = { ...reply, ...read, latencyMs: transcript.elapsedMs() - startMs };
    addReply(transcript, full, { what, result });
  };
  try {
    const traceParent = trace === null ? undefined : composeTraceParent(trace, span.id);
    const result = await connection.session.request(request, { signal: connection.signal, traceParent });
    span.end();
    keep({ ...readReply(step.kind, result), error: null }, result);
    return { status: 'ok', reason: null, effect: 'continue', result };
  } catch (error) {
    span.fail(error);
    const { outcome, answer } = await explainFailure(error, what, connection);
    if (answer === null) return outcome;
    keep({ text: answer.message, structuredContent: undefined, mimeTypes: [], error: answer }, undefined);
    return mayFail ? { status: 'ok', reason: null, effect: 'continue' } : outcome;
  }
}

/** Subscribes to a resource. @throws the signal's reason once it aborts */
export async function runSubscribeStep(
  step: StepByKind['subscribe'],
  connection: Connection,
  { transcript, stepIndex }: Pick<CallRecording, 'transcript' | 'stepIndex'>,
): Promise<StepOutcome> {
  const { session, signal } = connection;
  const { uri } = step;
  const name = session.handshake.protocol === 'modern' ? 'subscriptions/listen' : 'resources/subscribe';
  const span = beginRequestSpan(transcript, { name, resourceUri: uri }, { step, stepIndex });
  try {
    await session.subscribe(uri, { signal });
    span.end();
    return { status: 'ok', reason: null, effect: 'continue' };
  } catch (error) {
    span.fail(error);
    const { outcome } = await explainFailure(error, `the subscription to ${uri}`, connection);
    return outcome;
  }
}

/** Waits until the server reports a change of a resource. @throws the signal's reason once it aborts */
export async function runWaitForUpdateStep(
  step: StepByKind['waitForUpdate'],
  connection: Connection,
  { transcript, stepIndex, clock }: Pick<CallRecording, 'transcript' | 'stepIndex'> & { clock: Clock },
): Promise<StepOutcome> {
  const { session, signal } = connection;
  const { uri, withinMs } = step;
  const waited = { name: 'notifications/resources/updated', resourceUri: uri };
  const span = beginRequestSpan(transcript, waited, { step, stepIndex });
  const over = new AbortController();
  const waiting = session.waitForUpdate(uri, { signal: over.signal }).then(() => true);
  try {
    const timeout = { clock, afterMs: withinMs, onTimeout: () => false };
    if (await race(waiting, { signals: [signal], timeout })) {
      span.end();
      return { status: 'ok', reason: null, effect: 'continue' };
    }
    span.fail(null);
    const reason = `The server reported no change of ${uri} within ${formatDuration(withinMs)}.`;
    return { status: 'fail', reason: clipReason(reason), effect: 'stop' };
  } catch (error) {
    span.fail(error);
    const { outcome } = await explainFailure(error, `the subscription to ${uri}`, connection);
    return outcome;
  } finally {
    waiting.catch(() => {});
    over.abort('over');
  }
}

/** Maps a failed request to the outcome of its step. `answer` is the error that the server returned, which does not end the iteration. */
async function explainFailure(
  error: unknown,
  what: string,
  connection: Connection,
): Promise<{ outcome: StepOutcome; answer: Reply['error'] }> {
  const fault = await explainFailedRequest(error, connection);
  if (fault.kind === 'lost') return { outcome: giveUpByLoss(fault.witnessed, what), answer: null };
  const fail = (effect: StepOutcome['effect'], reason: string): StepOutcome => ({
    status: 'fail',
    reason: clipReason(reason),
    effect,
  });
  const { message } = fault;
  switch (fault.kind) {
    case 'unreachable':
      return { outcome: fail('give-up', describeNoAnswer(what, message)), answer: null };
    case 'excessive':
      return { outcome: fail('stop', message), answer: null };
    case 'malformed': {
      const reason = `The server answered ${what} with a result that is not valid MCP: ${message}.`;
      return { outcome: fail('continue', reason), answer: { code: null, message } };
    }
    case 'answered': {
      const { code } = fault;
      const how = code === null ? '' : ` with JSON-RPC error ${code}`;
      return { outcome: fail('continue', `${what} failed${how}: ${printValue(message)}.`), answer: { code, message } };
    }
  }
}

/** Records the answer, and adds it to the trace under the name of the request. */
function addReply(transcript: Transcript, reply: Reply, { what, result }: { what: string; result: unknown }): void {
  const { error } = reply;
  transcript.replies.push(reply);
  const output =
    error === null ? { type: 'json' as const, value: result } : { type: 'error-text' as const, value: error.message };
  const toolCallId = `request_${transcript.messages.length + 1}`;
  const part = { type: 'tool-result' as const, toolCallId, toolName: what, output };
  transcript.messages.push({ role: 'tool', content: [{ ...part, ...(error !== null && { isError: true }) }] });
}

/** The facts of a request for its span: a prompt or a resource is included, arguments are not. */
type RequestFacts = { name: string } & Pick<TraceSpan, 'resourceUri' | 'promptName'>;

function describeRequest(request: ServerRequest): RequestFacts {
  return {
    name: request.method,
    ...(request.method === 'resources/read' && { resourceUri: request.params.uri }),
    ...(request.method === 'prompts/get' && { promptName: request.params.name }),
  };
}

/**
 * Begins the span of a request; `end` or `fail` records it. The id is fixed at the start, so that the server's own spans can refer to it.
 */
function beginRequestSpan(
  transcript: Transcript,
  facts: RequestFacts,
  { step, stepIndex }: { step: { id: string }; stepIndex: number },
): { id: string; end(): void; fail(error: unknown): void } {
  const { spans, startedAtMs } = transcript;
  const id = `request_${spans.length + 1}`;
  const startMs = transcript.elapsedMs();
  const record = (status: 'ok' | 'error', code: number | null) =>
    spans.push({
      id,
      parentId: stepSpanId(stepIndex),
      category: 'request',
      startMs: Math.round(startedAtMs + startMs),
      endMs: Math.round(startedAtMs + transcript.elapsedMs()),
      status,
      ...placeSpan({ step, stepIndex, promptIndex: null }),
      mcpMethod: facts.name,
      ...facts,
      ...(code !== null && { mcpErrorCode: code }),
    });
  return {
    id,
    end: () => void record('ok', null),
    fail: (error) => void record('error', error instanceof ProtocolError ? error.code : null),
  };
}

/** Reads the parts of a reply that assertions judge: its texts, and its document if it is more than text. */
export function readReply(
  kind: RequestStep['kind'],
  result: unknown,
): Pick<Reply, 'text' | 'structuredContent' | 'mimeTypes'> {
  const fields = isRecord(result) ? result : {};
  const nothing = { text: '', structuredContent: undefined, mimeTypes: [] };
  switch (kind) {
    case 'readResource': {
      const contents = listRecords(fields['contents']);
      const mimeTypes = contents.map(({ mimeType }) => (typeof mimeType === 'string' ? mimeType : null));
      return { ...nothing, text: joinTexts(contents), mimeTypes };
    }
    case 'getPrompt': {
      const messages = listRecords(fields['messages']);
      const text = joinTexts(messages.flatMap(({ content }) => (isRecord(content) ? [content] : [])));
      return { ...nothing, text, structuredContent: result };
    }
    case 'complete': {
      const { completion } = fields;
      const values = isRecord(completion) && Array.isArray(completion['values']) ? completion['values'] : [];
      return { ...nothing, text: values.join('\n'), structuredContent: values };
    }
    default:
      return { ...nothing, structuredContent: result };
  }
}

function joinTexts(parts: ReadonlyArray<Record<string, unknown>>): string {
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
}
