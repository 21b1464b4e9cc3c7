import { describeError } from '../base/errors.ts';
import { isRecord, type JsonObject } from '../base/json.ts';
import { joinSignals } from '../base/time.ts';
import { isForbidden, type ToolPolicy } from '../cases/case.ts';
import type { Step } from '../cases/step.ts';
import { clipReason, printValue } from '../checks/reasons.ts';
import type { HostAdapter, ProviderRequest, ProviderResponse, ShownServers } from '../host-drivers/driver.ts';
import type { HostProgram, HostSettings } from '../host-drivers/host-programs.ts';
import type { AnswerMcp, McpAnswer } from '../host-drivers/mcp-socket.ts';
import { FilteredError } from '../models/filtered-error.ts';
import {
  isCutOff,
  type ModelAnswer,
  type ModelCall,
  type ModelSession,
  type TextMask,
} from '../models/language-model.ts';
import { toAssistantMessage } from '../models/model-messages.ts';
import { type Connection, explainFailedRequest } from './process-loss.ts';
import { describeToolErrors, explainNoList, listCalls, type PromptAllowance } from './prompt-step.ts';
import type { CallOrigin } from './span-parts.ts';
import { describeNoAnswer, giveUpByLoss, type StepOutcome } from './step-outcome.ts';
import { callTool, type CallRecording, showResult } from './tool-call.ts';
import { type AllTools, describeMissing, listAllTools, lookUpTool } from './tool-list.ts';

/** A host that holds the conversation of a prompt, and the model that answers it. */
interface DrivenTurn {
  program: HostProgram;
  settings: HostSettings;
  session: ModelSession;
  toolPolicy: ToolPolicy;
  /** The largest number of answers of the model. */
  maxSteps: number;
  modelTimeoutMs: number | null;
}

/** Why the gate ends a host. */
type Stop = { outcome: StepOutcome } | { error: unknown };

/** The state that both sides of a host share: its requests to the server and those to the model. */
interface DrivenRun {
  turn: DrivenTurn;
  connection: Connection;
  recording: CallRecording;
  origin: CallOrigin;
  tools: AllTools;
  prompt: string;
  acceptsRefusal: boolean;
  /** Ends the host, and with it the step. The first outcome or error counts. */
  stop(end: Stop): void;
  /** Aborts when the host is to end. */
  signal: AbortSignal;
}

/** The model's side of a turn. */
interface Asked {
  answers: number;
  /** The calls of each answer that no result was seen of yet, by id. */
  open: Map<string, string>;
  messages: ModelCall['prompt'];
}

/**
 * Has the program of a host answer a prompt. Its requests to the servers go through this session, where they are recorded as the calls of
 * the model; those to the model go through the session of the model, with its budget and its recording. Anything that the host itself does not
 * do, such as approving a call, leaves the iteration without a result: it says nothing about the server.
 *
 * @throws {ModelError} if the model gives no answer
 * @throws the signal's reason once it aborts
 */
export async function runHostPrompt(
  step: Extract<Step, { kind: 'prompt' }>,
  connection: Connection,
  { turn, allowance, ...recording }: CallRecording & { turn: DrivenTurn; allowance: PromptAllowance },
): Promise<StepOutcome> {
  const { transcript, stepIndex } = recording;
  const { program, session } = turn;
  const listing = await listAllTools(connection);
  if (listing.kind !== 'list') return explainNoList(listing);
  for (const [serverName, list] of listing.lists) transcript.setTools(serverName, list);
  const [firstCall, firstResult] = [transcript.toolCalls.length, transcript.toolResults.length];
  transcript.beginTurn(step.prompt, { system: null });
  const ending = new AbortController();
  using ended = joinSignals([connection.signal, ending.signal]);
  const stops: Stop[] = [];
  const run: DrivenRun = {
    turn,
    connection,
    recording,
    origin: { step, stepIndex, promptIndex: transcript.turns.length - 1 },
    tools: listing,
    prompt: step.prompt,
    acceptsRefusal: allowance.refusal,
    stop: (end) => {
      stops.push(end);
      ending.abort(new Error('The host is ended.'));
    },
    signal: ended.signal,
  };
  const asked: Asked = { answers: 0, open: new Map(), messages: [] };
  const { output, failure } = await program.run({
    model: session.model.name,
    prompt: step.prompt,
    servers: connection.all.map((each) => ({ name: nameServer(each), answer: answerMcp(each, run) })),
    answerProvider: inTurn((request, mask) => answerProvider(request, mask, { run, asked })),
    signal: ended.signal,
  });
  connection.signal.throwIfAborted();
  const evidence = { toolCalls: listCalls(transcript, firstCall, firstResult) };
  const [end] = stops;
  if (end !== undefined) {
    if (!('error' in end)) return { evidence, ...end.outcome };
    if (!(allowance.refusal && end.error instanceof FilteredError)) throw end.error;
    transcript.refusal = end.error.message;
  } else {
    const problem = findProblem(program.adapter, { output, failure, asked });
    if (problem !== null) return { evidence, ...explainUnmeasured(problem) };
  }
  const reason = describeToolErrors(transcript, firstResult, allowance);
  return { status: reason === null ? 'ok' : 'fail', reason, effect: 'continue', evidence };
}

/** The end of an iteration whose host, and not its server, did something else than a user of the host would see. */
function explainUnmeasured(reason: string): StepOutcome {
  return { status: 'fail', reason: clipReason(reason), effect: 'unmeasured' };
}

function findProblem(
  { id }: HostAdapter,
  {
    output,
    failure,
    asked,
  }: { output: { denials: readonly string[]; errors: readonly string[] }; failure: string | null; asked: Asked },
): string | null {
  const name = `The host ${id}`;
  const [denial] = output.denials;
  if (denial !== undefined) return `${name} refused a call: ${denial}`;
  const [error] = output.errors;
  if (error !== undefined) return `${name} failed: ${error}`;
  if (failure !== null) return `${name} died: ${failure}.`;
  return asked.answers === 0 ? `${name} ended and never asked the model.` : null;
}

/** Makes the calls of a function one after the other. */
function inTurn<Args extends unknown[], Result>(
  call: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return async (...args) => {
    const next = last.then(async () => await call(...args));
    last = next.catch(() => {});
    return await next;
  };
}

function nameServer({ target: { serverName, shownName = serverName } }: Connection): string {
  return shownName;
}

async function answerProvider(
  request: ProviderRequest,
  mask: TextMask,
  { run, asked }: { run: DrivenRun; asked: Asked },
): Promise<ProviderResponse> {
  const { adapter } = run.turn.program;
  const kind = adapter.classify(request);
  if (kind.kind === 'side') return kind.answer;
  try {
    run.signal.throwIfAborted();
    const response = await askModel(request, mask, { run, asked });
    return 'status' in response ? refuse(adapter, response, run) : response.sent;
  } catch (error) {
    run.stop({ error });
    return adapter.wire.printError(400, describeError(error));
  }
}

function refuse(adapter: HostAdapter, outcome: StepOutcome, run: DrivenRun): ProviderResponse {
  run.stop({ outcome });
  return adapter.wire.printError(400, outcome.reason ?? 'The gate ends this conversation.');
}

async function askModel(
  request: ProviderRequest,
  mask: TextMask,
  { run, asked }: { run: DrivenRun; asked: Asked },
): Promise<{ sent: ProviderResponse } | StepOutcome> {
  const { turn, recording, connection, origin } = run;
  const { program, session, settings, maxSteps, modelTimeoutMs: timeoutMs } = turn;
  const { adapter } = program;
  const { wire } = adapter;
  const path = wire.toProviderPath(request.path);
  if (path === null) return explainUnmeasured(`The host ${adapter.id} asked for ${request.path}, which is no call.`);
  const model = wire.readModel(request);
  if (model !== null && model !== session.model.name) {
    return explainUnmeasured(`The host ${adapter.id} asked for the model ${model} instead of ${session.model.name}.`);
  }
  const shown = adapter.readShown(request, connection.all.map(nameServer));
  const missing = asked.answers === 0 ? findMissing(shown, run) : null;
  if (missing !== null) return explainUnmeasured(missing);
  if (asked.answers === maxSteps) {
    const reason = `The model asked for another tool in its answer ${maxSteps}, and \`maxSteps\` allows ${maxSteps}.`;
    return { status: 'fail', reason, effect: 'stop' };
  }
  const call = identifyCall(request, { shown, run, asked });
  const live: ProviderResponse[] = [];
  const answer = await session.answer(
    { ...call, hostProgram: { platform: program.platform, builtIns: settings.builtIns } },
    {
      signal: run.signal,
      mask,
      ...(timeoutMs !== null && { timeoutMs }),
      acceptsRefusal: run.acceptsRefusal,
      hostRequest: {
        path,
        headers: pickHeaders(request.headers),
        body: JSON.stringify(request.body),
        readAnswer: ({ contentType, text: body }) => {
          const response = { status: 200, contentType, body };
          const read = wire.readAnswer(response);
          live.push(response);
          return read;
        },
      },
    },
  );
  asked.answers += 1;
  addAnswer(answer, { run, asked, origin, recording });
  if (isCutOff(answer)) {
    const reason = 'The model reached its output limit before it was done.';
    return { status: 'fail', reason, effect: 'stop' };
  }
  return { sent: live.at(-1) ?? wire.printAnswer(answer, request) };
}

/** Says which tools never reached the model; null if some did. */
function findMissing({ tools: shown }: ShownServers, { turn, tools, connection }: DrivenRun): string | null {
  const { adapter } = turn.program;
  const names = new Set(shown.map(({ name }) => name));
  for (const server of connection.all) {
    const offered = [...(tools.lists.get(server.target.serverName) ?? [])]
      .filter(([name, { isForModels }]) => isForModels && !isForbidden(name, turn.toolPolicy))
      .map(([name]) => adapter.nameTool(nameServer(server), name));
    if (offered.length === 0 || offered.some((name) => names.has(name))) continue;
    return `The host ${adapter.id} showed the model no tool of the server ${printValue(nameServer(server))}.`;
  }
  return null;
}

/** The call as a recording knows it: without the host's own prompt and tools, times, ids and paths. */
function identifyCall(
  request: ProviderRequest,
  { shown, run, asked }: { shown: ShownServers; run: DrivenRun; asked: Asked },
): ModelCall {
  const { messages, open } = asked;
  if (messages.length === 0) messages.push({ role: 'user', content: [{ type: 'text', text: run.prompt }] });
  const results = run.turn.program.adapter.wire.readResults(request).flatMap(({ callId: toolCallId, output }) => {
    const toolName = open.get(toolCallId);
    if (toolName === undefined) return [];
    open.delete(toolCallId);
    const value = JSON.parse(JSON.stringify(output ?? null));
    return [{ type: 'tool-result' as const, toolCallId, toolName, output: { type: 'json' as const, value } }];
  });
  if (results.length > 0) messages.push({ role: 'tool', content: results });
  const { instructions, tools } = shown;
  return {
    prompt: [...(instructions === null ? [] : [{ role: 'system' as const, content: instructions }]), ...messages],
    tools: tools.map(({ name, description, schema }) => ({
      type: 'function',
      name,
      ...(description !== null && { description }),
      inputSchema: schema ?? {},
    })),
  };
}

function addAnswer(
  answer: ModelAnswer,
  { run, asked, origin, recording }: { run: DrivenRun; asked: Asked; origin: CallOrigin; recording: CallRecording },
): void {
  asked.messages.push(toAssistantMessage(answer));
  asked.open.clear();
  for (const part of answer.content) {
    if (part.type === 'tool-call') asked.open.set(part.toolCallId, part.toolName);
  }
  // The calls of the servers' tools are recorded where they arrive.
  const content = answer.content.filter(({ type }) => type !== 'tool-call');
  recording.transcript.addAnswer({ ...answer, content }, { model: run.turn.session.model, origin });
}

const passedHeaders = /^(?:accept|content-type|anthropic-(?:version|beta)|openai-beta|user-agent)$/;

function pickHeaders(headers: ProviderRequest['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => passedHeaders.test(name)));
}

const methodNotFound = -32_601;
const internalError = -32_603;

/** The revisions in which a host may speak. */
const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** Answers the requests of the host to one server, from the session of the iteration. */
function answerMcp(connection: Connection, run: DrivenRun): AnswerMcp {
  const { session, signal } = connection;
  const list = async (
    method: 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list',
    params: JsonObject,
  ) => {
    const { cursor } = params;
    const result = await session.request({ method, page: typeof cursor === 'string' ? { cursor } : {} }, { signal });
    return { result: method === 'tools/list' ? leaveOut(result, run.turn.toolPolicy) : result };
  };
  const answers: Readonly<Record<string, (params: JsonObject) => Promise<McpAnswer>>> = {
    initialize: async ({ protocolVersion }) => ({ result: describeServer(connection, protocolVersion) }),
    ping: async () => ({ result: {} }),
    'logging/setLevel': async () => ({ result: {} }),
    'tools/list': async (params) => await list('tools/list', params),
    'resources/list': async (params) => await list('resources/list', params),
    'resources/templates/list': async (params) => await list('resources/templates/list', params),
    'prompts/list': async (params) => await list('prompts/list', params),
    'resources/read': async ({ uri }) => ({
      result: await session.request({ method: 'resources/read', params: { uri: String(uri) } }, { signal }),
    }),
    'prompts/get': async ({ name, arguments: args }) => {
      const given = isRecord(args) ? Object.entries(args).map(([key, value]) => [key, String(value)] as const) : [];
      const params = { name: String(name), arguments: Object.fromEntries(given) };
      return { result: await session.request({ method: 'prompts/get', params }, { signal }) };
    },
    'tools/call': async (params) => await answerCall(params, connection, run),
  };
  return async (method, params) => {
    const answer = Object.hasOwn(answers, method) ? answers[method] : undefined;
    if (answer === undefined) return { error: { code: methodNotFound, message: `Method not found: ${method}` } };
    try {
      return await answer(params);
    } catch (error) {
      if (signal.aborted) return { error: { code: internalError, message: 'The iteration is over.' } };
      const fault = await explainFailedRequest(error, connection);
      if (fault.kind === 'lost') run.stop({ outcome: giveUpByLoss(fault.witnessed, method) });
      else if (fault.kind === 'unreachable') {
        run.stop({ outcome: { status: 'fail', reason: describeNoAnswer(method, fault.message), effect: 'give-up' } });
      }
      const code = 'code' in fault && fault.code !== null ? fault.code : internalError;
      return { error: { code, message: 'message' in fault ? fault.message : 'The process of the server ended.' } };
    }
  };
}

/** Describes the server as it described itself to this session. */
function describeServer({ session, target }: Connection, asked: unknown): JsonObject {
  const { capabilities, instructions, handshake } = session;
  const { tools, resources, prompts } = capabilities;
  return {
    protocolVersion: typeof asked === 'string' && revisions.includes(asked) ? asked : revisions[0],
    capabilities: {
      ...(tools !== undefined && { tools: {} }),
      ...(resources !== undefined && { resources: {} }),
      ...(prompts !== undefined && { prompts: {} }),
    },
    serverInfo: { name: handshake.name ?? target.serverName, version: handshake.version ?? '0' },
    ...(instructions !== null && { instructions }),
  };
}

/** Leaves out the tools that the policy of the case does not offer. */
function leaveOut(result: unknown, { deny = [] }: ToolPolicy): unknown {
  if (!isRecord(result) || !Array.isArray(result['tools'])) return result;
  const tools: unknown[] = result['tools'];
  return { ...result, tools: tools.filter((tool) => !isRecord(tool) || !deny.includes(String(tool['name']))) };
}

async function answerCall(params: JsonObject, connection: Connection, run: DrivenRun): Promise<McpAnswer> {
  const { recording, origin, turn, tools } = run;
  const { transcript } = recording;
  const toolName = String(params['name']);
  const call = { toolName, arguments: isRecord(params['arguments']) ? params['arguments'] : {} };
  if (isForbidden(toolName, turn.toolPolicy)) {
    const text = `Calls of ${toolName} are not allowed here.`;
    transcript.refuseHostCall(call, text);
    return { result: { content: [{ type: 'text', text }], isError: true } };
  }
  const known = tools.lists.get(connection.target.serverName)?.get(toolName);
  const tool = known === undefined ? await lookUpTool(toolName, connection) : { kind: 'listed' as const, ...known };
  if (tool.kind === 'lost' || tool.kind === 'unreachable' || tool.kind === 'refused') {
    run.stop({ outcome: explainNoList(tool) });
    return { error: { code: internalError, message: 'The server lists no tools.' } };
  }
  if (tool.kind === 'missing') transcript.unlistedTools.push({ toolName, stepIndex: origin.stepIndex });
  const record = transcript.beginHostCall(call, { ...origin, isListed: tool.kind === 'listed' });
  if (tool.kind === 'missing') {
    const message = describeMissing(toolName, tools.list);
    const toolError = clipReason(message);
    record.complete({ kind: 'error', message, toolError, code: null, answeredAtMs: transcript.elapsedMs() });
    return { error: { code: -32_602, message } };
  }
  const answer = await callTool(call, connection, { ...recording, record, tool });
  const failed = { error: { code: internalError, message: 'The server gave no answer.' } };
  if (answer.kind === 'lost') {
    run.stop({ outcome: giveUpByLoss(answer.witnessed, toolName, { name: toolName, args: call.arguments }) });
    return failed;
  }
  if (answer.kind === 'unreachable' || answer.kind === 'unmeasured') {
    const reason = answer.kind === 'unmeasured' ? answer.reason : describeNoAnswer(toolName, answer.message);
    run.stop({ outcome: { status: 'fail', reason, effect: 'give-up' } });
    return failed;
  }
  const { isFatal, ...output } = answer;
  const { toolError } = record.complete(output);
  await showResult(call, output, { connection, declaration: tool, widgets: recording.widgets });
  if (isFatal) run.stop({ outcome: { status: 'fail', reason: toolError, effect: 'stop' } });
  if (output.kind === 'result') return { result: output.result };
  return { error: { code: output.code ?? internalError, message: output.message } };
}
