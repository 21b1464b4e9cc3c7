import { describeError } from '../base/errors.ts';
import { isForbidden } from '../cases/case.ts';
import { clipReason, printValue } from '../checks/reasons.ts';
import type { HostAdapter, ProviderRequest, ProviderResponse, ShownServers } from '../host-drivers/driver.ts';
import { maskFiles } from '../host-drivers/place-mask.ts';
import { isCutOff, type ModelAnswer, type ModelCall, type TextMask } from '../models/language-model.ts';
import { toAssistantMessage } from '../models/model-messages.ts';
import { type DrivenRun, nameServer } from './driven-run.ts';
import type { CallOrigin } from './span-parts.ts';
import type { StepOutcome } from './step-outcome.ts';
import type { CallRecording } from './tool-call.ts';

/** The model's side of a turn. */
export interface Asked {
  answers: number;
  /** The calls of each answer that no result was seen of yet, by id. */
  open: Map<string, string>;
  messages: ModelCall['prompt'];
}

/** The end of an iteration whose host, and not its server, did something else than a user of the host would see. */
export function explainUnmeasured(reason: string): StepOutcome {
  return { status: 'fail', reason: clipReason(reason), effect: 'unmeasured' };
}

/** Answers a request of the host to its provider. Never rejects. */
export async function answerProvider(
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
  const shown = adapter.readShown(
    request,
    connection.all.map((each) => ({ name: nameServer(each), instructions: each.session.instructions })),
  );
  const missing = asked.answers === 0 ? findMissing(shown, run) : null;
  if (missing !== null) return explainUnmeasured(missing);
  if (asked.answers === maxSteps) {
    const reason = `The model asked for another tool in its answer ${maxSteps}, and \`maxSteps\` allows ${maxSteps}.`;
    return { status: 'fail', reason, effect: 'stop' };
  }
  const call = identifyCall(request, mask, { shown, run, asked });
  const live: ProviderResponse[] = [];
  const answer = await session.answer(
    { ...call, hostProgram: { platform: program.platform, builtIns: settings.builtIns } },
    {
      signal: run.signal,
      mask,
      ...(timeoutMs !== null && { timeoutMs }),
      acceptsRefusal: run.acceptsRefusal,
      hostRequest: {
        wire: wire.id,
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
function findMissing(
  { tools: shown, canSearch = false }: ShownServers,
  { turn, tools, connection, listed }: DrivenRun,
): string | null {
  const { adapter } = turn.program;
  for (const server of connection.all) {
    const offered = [...(tools.lists.get(server.target.serverName) ?? [])].filter(
      ([name, { isForModels }]) => isForModels && !isForbidden(name, turn.toolPolicy),
    );
    if (canSearch && listed.has(server)) continue;
    // Hosts cut long names, so that the beginning has to do.
    const prefix = adapter.nameTool(nameServer(server), '');
    if (offered.length === 0 || shown.some(({ name }) => name.startsWith(prefix))) continue;
    return `The host ${adapter.id} showed the model no tool of the server ${printValue(nameServer(server))}.`;
  }
  return null;
}

/** The call as a recording knows it: without the host's own prompt and tools, times, ids and paths. */
function identifyCall(
  request: ProviderRequest,
  mask: TextMask,
  { shown, run, asked }: { shown: ShownServers; run: DrivenRun; asked: Asked },
): ModelCall {
  const { messages, open } = asked;
  if (messages.length === 0) messages.push({ role: 'user', content: [{ type: 'text', text: run.prompt }] });
  const ids = [...open.keys()];
  const results = run.turn.program.adapter.wire.readResults(request).flatMap(({ callId, output }) => {
    const toolCallId = typeof callId === 'number' ? ids[callId] : callId;
    const toolName = toolCallId === undefined ? undefined : open.get(toolCallId);
    if (toolCallId === undefined || toolName === undefined) return [];
    open.delete(toolCallId);
    const value = JSON.parse(maskFiles(JSON.stringify(mask.hide(output ?? null))));
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
