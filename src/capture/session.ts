import { isJsonEqual, isRecord, type JsonObject, listRecords } from '../base/json.ts';
import type { AskedRequest, Outcome } from '../explore/exploration.ts';
import { type ExploredRequest, nameRequest } from '../model/explored-request.ts';
import { readResult } from '../explore/world/world.ts';
import { readAskedAbility } from '../mcp/abilities.ts';
import { type Ability, abilities } from '../model/client-abilities.ts';
import { type JournalEntry, maxMessageBytes } from './journal.ts';

/** A request of the client that a case can repeat, with its answer. */
export interface CapturedStep {
  timeMs: number;
  /** The number of its session: several may share a server over HTTP. */
  session: number;
  request: ExploredRequest;
  outcome: Outcome;
  asked: readonly AskedRequest[];
}

/** A tool as the server listed it in the session. */
export interface SeenTool {
  isReadOnly: boolean;
  required: readonly string[];
}

/** What a session shows: the requests that a case can repeat, and what was said about them. */
export interface CapturedSession {
  serverName: string | null;
  /** The abilities that the client announced. */
  announced: readonly Ability[];
  tools: ReadonlyMap<string, SeenTool>;
  steps: readonly CapturedStep[];
  /** Requests that no case can repeat, with the reason. */
  left: ReadonlyArray<{ subject: string; reason: string }>;
}

const longest = `${maxMessageBytes / 1024 / 1024} MiB`;

/** A request that waits for its answer. */
interface Pending {
  id: unknown;
  method: string;
  params: JsonObject;
  timeMs: number;
  asked: AskedRequest[];
}

/** Reads sessions from their messages, one after the other. */
export function readSession(entries: readonly JournalEntry[]): CapturedSession {
  const parts = [...Map.groupBy(entries, ({ session = 0 }) => session)].map(([session, own]) => readOne(own, session));
  return {
    serverName: parts.findLast(({ serverName }) => serverName !== null)?.serverName ?? null,
    announced: abilities.filter((name) => parts.some(({ announced }) => announced.includes(name))),
    tools: new Map(parts.flatMap(({ tools }) => [...tools])),
    steps: parts.flatMap(({ steps }) => steps),
    left: parts.flatMap(({ left }) => left),
  };
}

function readOne(entries: readonly JournalEntry[], session: number): CapturedSession {
  const reader = createReader(session);
  for (const entry of entries) {
    if (entry.bytes !== undefined) reader.skip(entry);
    // Clients of old revisions send several messages at once.
    const messages = Array.isArray(entry.message) ? entry.message : [entry.message];
    for (const message of messages) if (isRecord(message)) reader.read(message, entry);
  }
  return reader.end();
}

function createReader(session: number) {
  const pending = new Map<string, Pending>();
  /** The server's requests to the client, by their id. */
  const questions = new Map<string, { method: string; params: JsonObject; during: Pending | null }>();
  const tools = new Map<string, SeenTool>();
  const steps: CapturedStep[] = [];
  const left: Array<{ subject: string; reason: string }> = [];
  let announced: readonly Ability[] = [];
  /** True if an answer was too long to keep. It is not known which request it answers. */
  let hasLongAnswer = false;
  let serverName: string | null = null;

  const readRequest = (key: string, { id, method, params, timeMs }: Omit<Pending, 'asked'>) => {
    const announcing = method === 'initialize' ? params['capabilities'] : readMeta(params, 'clientCapabilities');
    if (isRecord(announcing)) announced = abilities.filter((name) => announcing[name] !== undefined);
    const asked = readInputResponses(params, steps.at(-1));
    pending.set(key, { id, method, params, timeMs, asked });
  };
  /** Takes the open request of this key, or else the last one with this id: a stream that is resumed is another exchange. */
  const take = (key: string, id: unknown): Pending | undefined => {
    const [found, request] = pending.has(key)
      ? [key, pending.get(key)]
      : ([...pending].findLast(([, each]) => isJsonEqual(each.id, id)) ?? []);
    if (found !== undefined) pending.delete(found);
    return request;
  };
  const answer = ({ method, params, timeMs, asked }: Pending, message: JsonObject) => {
    const result = isRecord(message['result']) ? message['result'] : {};
    if (isRecord(result['serverInfo'])) serverName = readName(result['serverInfo']) ?? serverName;
    if (method === 'tools/list') for (const [name, tool] of readTools(result)) tools.set(name, tool);
    const request = toRequest(method, params);
    if (request === null) return;
    const subject = nameRequest(request);
    if (isRecord(params['task'])) left.push({ subject, reason: 'it ran as a task' });
    else if (result['resultType'] === 'input_required') {
      // The client asks again, with the answers.
      steps.push({
        timeMs,
        session,
        request,
        outcome: { kind: 'silent', isAlive: true },
        asked: readInputRequests(result, asked),
      });
    } else {
      if (steps.at(-1)?.outcome.kind === 'silent') steps.pop();
      steps.push({ timeMs, session, request, outcome: toOutcome(request, message), asked });
    }
  };
  return {
    /** Notes a message that was too long to keep. */
    skip: ({ from }: JournalEntry) => {
      if (from === 'server') hasLongAnswer = true;
      else left.push({ subject: 'a request', reason: `it is above the limit of ${longest}` });
    },
    read: (message: JsonObject, { from, timeMs, exchange }: JournalEntry) => {
      const { id, method } = message;
      const params = isRecord(message['params']) ? message['params'] : {};
      const key = JSON.stringify(id);
      // The answer to a question of the server comes in another exchange.
      const ownKey = exchange === undefined ? key : `${exchange} ${key}`;
      if (typeof method === 'string') {
        if (from === 'client' && method === 'notifications/cancelled') {
          const cancelled = take('', params['requestId']);
          const request = cancelled === undefined ? null : toRequest(cancelled.method, cancelled.params);
          if (request !== null) left.push({ subject: nameRequest(request), reason: 'it was cancelled' });
        } else if (id === undefined) return;
        else if (from === 'client') readRequest(ownKey, { id, method, params, timeMs });
        else questions.set(key, { method, params, during: [...pending.values()].findLast(isCall) ?? null });
        return;
      }
      if (from === 'server') {
        const request = take(ownKey, id);
        if (request !== undefined) answer(request, message);
        return;
      }
      const question = questions.get(key);
      questions.delete(key);
      if (question === undefined || !isRecord(message['result'])) return;
      const asked = readAnswer(question.method, question.params, message['result']);
      if (asked !== null) question.during?.asked.push(asked);
    },
    end: (): CapturedSession => {
      for (const { method, params } of pending.values()) {
        const request = toRequest(method, params);
        const reason = hasLongAnswer
          ? `it was not answered, or its answer is above the limit of ${longest}`
          : 'it was not answered';
        if (request !== null) left.push({ subject: nameRequest(request), reason });
      }
      const answered = steps.filter(({ outcome }) => outcome.kind === 'result' || outcome.kind === 'error');
      return { serverName, announced, tools, steps: answered, left };
    },
  };
}

const isCall = ({ method, params }: Pending) => toRequest(method, params) !== null;

/** Reads a request that a case can repeat; null for another one. */
function toRequest(method: string, params: JsonObject): ExploredRequest | null {
  const { name, uri } = params;
  const args = isRecord(params['arguments']) ? params['arguments'] : {};
  if (method === 'tools/call' && typeof name === 'string') return { kind: 'tool', tool: name, arguments: args };
  if (method === 'resources/read' && typeof uri === 'string') return { kind: 'resource', uri };
  if (method !== 'prompts/get' || typeof name !== 'string') return null;
  const texts = Object.entries(args).map(([key, value]) => [key, String(value)]);
  return { kind: 'prompt', prompt: name, arguments: Object.fromEntries(texts) };
}

function toOutcome({ kind }: ExploredRequest, { result, error }: JsonObject): Outcome {
  if (!isRecord(error)) return readResult(kind, result);
  const { code, message } = error;
  return { kind: 'error', code: typeof code === 'number' ? code : 0, message: String(message) };
}

function readMeta({ _meta }: JsonObject, name: string): unknown {
  return isRecord(_meta) ? _meta[`io.modelcontextprotocol/${name}`] : undefined;
}

function readName({ name }: JsonObject): string | null {
  return typeof name === 'string' && name !== '' ? name : null;
}

function readTools({ tools }: JsonObject): Array<[string, SeenTool]> {
  return listRecords(tools).flatMap((tool): Array<[string, SeenTool]> => {
    const { name, annotations, inputSchema } = tool;
    if (typeof name !== 'string') return [];
    const hints = isRecord(annotations) ? annotations : {};
    const required = isRecord(inputSchema) && Array.isArray(inputSchema['required']) ? inputSchema['required'] : [];
    const isReadOnly = hints['readOnlyHint'] === true && hints['destructiveHint'] !== true;
    return [[name, { isReadOnly, required: required.filter((each) => typeof each === 'string') }]];
  });
}

/** The questions of an `input_required` result, whose answers come with the next request. */
function readInputRequests({ inputRequests }: JsonObject, earlier: readonly AskedRequest[]): AskedRequest[] {
  const questions = Object.values(isRecord(inputRequests) ? inputRequests : {}).filter(isRecord);
  const open = questions.flatMap(({ method, params }): AskedRequest[] => {
    const ability = typeof method === 'string' ? readAskedAbility(method) : null;
    const message = readQuestion(isRecord(params) ? params : {});
    if (ability === null) return [];
    if (ability === 'roots') return [{ ability }];
    return [
      ability === 'sampling' ? { ability, message, answer: { text: '' } } : { ability, message, answer: 'cancel' },
    ];
  });
  return [...earlier, ...open];
}

/** Joins the answers that a repeated request has with the questions of the result before it. */
function readInputResponses({ inputResponses }: JsonObject, before: CapturedStep | undefined): AskedRequest[] {
  if (!isRecord(inputResponses) || before?.outcome.kind !== 'silent') return [];
  const answers = Object.values(inputResponses).filter(isRecord);
  const first = before.asked.length - answers.length;
  return before.asked.map((asked, index) => {
    const given = answers[index - first];
    if (given === undefined || asked.ability === 'roots') return asked;
    const method = asked.ability === 'sampling' ? 'sampling/createMessage' : 'elicitation/create';
    return readAnswer(method, { message: asked.message }, given) ?? asked;
  });
}

/** Reads the client's answer to a question of the server; null if a case cannot give it. */
function readAnswer(method: string, params: JsonObject, result: JsonObject): AskedRequest | null {
  const ability = readAskedAbility(method);
  if (ability === null || ability === 'roots') return ability === null ? null : { ability };
  const message = readQuestion(params);
  if (ability === 'elicitation') {
    const { action, content } = result;
    if (action === 'decline' || action === 'cancel') return { ability, message, answer: action };
    if (action !== 'accept') return null;
    const fields = isRecord(content)
      ? Object.entries(content).filter((entry): entry is [string, FormValue] => isFormValue(entry[1]))
      : [];
    return { ability, message, answer: fields.length === 0 ? 'accept' : { accept: Object.fromEntries(fields) } };
  }
  const blocks = (Array.isArray(result['content']) ? result['content'] : [result['content']]).filter(isRecord);
  const used = blocks.filter(({ type }) => type === 'tool_use');
  if (used.length > 0) {
    const calls = used.map(({ name, input }) => ({ name: String(name), ...(isRecord(input) && { input }) }));
    return { ability, message, answer: { toolUse: calls } };
  }
  const [first = {}] = blocks;
  const { type, text, data, mimeType } = first;
  if (type === 'image') return { ability, message, answer: { image: String(data), mimeType: String(mimeType) } };
  return typeof text === 'string' ? { ability, message, answer: { text } } : null;
}

type FormValue = string | number | boolean | string[];

function isFormValue(value: unknown): value is FormValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string');
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** Reads the text of a question: the message of a form, or the messages for a model. */
export function readQuestion({ message, messages }: JsonObject): string {
  if (typeof message === 'string') return message;
  const blocks = listRecords(messages).flatMap(({ content }) => content);
  const texts = blocks.flatMap((block) =>
    isRecord(block) && typeof block['text'] === 'string' ? [block['text']] : [],
  );
  return texts.join('\n');
}
