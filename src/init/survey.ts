import { ConfigurationError, describeError } from '../base/errors.ts';
import { isRecord, type JsonObject, listTexts } from '../base/json.ts';
import { clipText, putOnOneLine } from '../base/text.ts';
import { type Clock, race } from '../base/time.ts';
import type { Session } from '../mcp/session.ts';
import type { ToolDeclaration } from '../mcp/tool-declarations.ts';
import { suggestNearest } from '../suite/findings.ts';
import { sampleArguments } from './sample-arguments.ts';

/** The answer of a tool, resource or prompt to a request with sampled arguments. */
export type Trial =
  | { kind: 'answered'; arguments: JsonObject; hasStructuredContent: boolean }
  /** `message` is the error from the server. */
  | { kind: 'refused'; arguments: JsonObject; message: string }
  | { kind: 'silent'; arguments: JsonObject; afterMs: number }
  /** Nothing was sent, because the tool may change something. */
  | { kind: 'unsafe'; arguments: JsonObject; reason: string }
  /** Nothing was sent, for another reason. */
  | { kind: 'untried'; arguments: JsonObject; reason: string };

export interface SurveyedTool {
  name: string;
  description: string | null;
  outputSchema: JsonObject | null;
  trial: Trial;
}

/** The survey of a server by init: its lists, and its answers to requests that are safe to send. */
export interface Survey {
  serverName: string | null;
  /** The tools in the order of the server; null if it declares none. */
  tools: SurveyedTool[] | null;
  resources: Array<{ uri: string; trial: Trial }>;
  prompts: Array<{ name: string; trial: Trial }>;
}

interface SurveyOptions {
  clock: Clock;
  signal: AbortSignal;
  /** Tools that the user declares safe to call, whatever their annotations. */
  safeTools: ReadonlySet<string>;
  /** Returns true for parts that the evals already cover. Init does not try them again. */
  isKnown: (kind: 'tool' | 'resource' | 'prompt', name: string) => boolean;
  onProgress?: (what: string) => void;
}

/** The time limit of one request. An eval has 60 s, which is too long for a first try. */
const callTimeoutMs = 10_000;

/** The time limit of all requests together. */
const surveyTimeoutMs = 40_000;

/** The most resources, and the most prompts, that get a case. A server can list thousands. */
const maxListed = 10;

const longestMessage = 200;

/**
 * Lists what a server has, and tries what is safe: tools that the server declares read-only or that the user names, resources and prompts.
 * Each request is sent once, with arguments sampled from its schema. A request that the server refuses or does not answer in 10 s is
 * reported with its message.
 *
 * @throws {ConfigurationError} when the user names a tool that the server does not list
 * @throws the session's error when the server cannot list what it declares, and the signal's reason once it aborts
 */
export async function surveyServer(session: Session, options: SurveyOptions): Promise<Survey> {
  const { clock, signal, safeTools, isKnown } = options;
  const endsAt = clock.now() + surveyTimeoutMs;
  const trier = createTrier(session, options, endsAt);
  const listed = await session.listTools({ signal });
  const { capabilities, handshake } = session;
  // Reads all lists before the first call, because a call may crash the server.
  const resources = capabilities['resources'] === undefined ? [] : await listResources(session, options);
  const prompts = capabilities['prompts'] === undefined ? [] : await listPrompts(session, options);
  refuseUnlisted([...safeTools], [...(listed?.keys() ?? [])]);
  const tools: SurveyedTool[] = [];
  for (const [name, declaration] of listed ?? []) {
    if (isKnown('tool', name)) continue;
    const { description, outputSchema } = declaration;
    const trial = await tryTool(session, { name, declaration, options, trier });
    tools.push({ name, description, outputSchema, trial });
  }
  return {
    serverName: handshake.name,
    tools: listed === null ? null : tools,
    resources: await tryResources(session, resources, trier),
    prompts: await tryPrompts(session, prompts, trier),
  };
}

/** @throws {ConfigurationError} when the user names a tool that the server does not list */
export function refuseUnlisted(names: readonly string[], listed: readonly string[]): void {
  const issues = names
    .filter((name) => !listed.includes(name))
    .map((name) => {
      const message = `the server lists no tool \`${name}\`${suggestNearest(name, listed)}`;
      return { input: 'safe-tool', code: 'unknown-tool', message };
    });
  if (issues.length > 0) throw new ConfigurationError(issues);
}

type Trier = (what: string, args: JsonObject, send: (signal: AbortSignal) => Promise<unknown>) => Promise<Trial>;

/** Creates a function that sends a request within the remaining time. It sends nothing after the connection is lost. */
function createTrier(session: Session, { clock, signal, onProgress }: SurveyOptions, endsAt: number): Trier {
  let isLost = false;
  return async (what, args, send) => {
    // A request with less time than its limit would look like a slow one.
    const leftMs = endsAt - clock.now();
    if (isLost) return { kind: 'untried', arguments: args, reason: 'the connection to the server was lost before it' };
    if (leftMs < callTimeoutMs) {
      return { kind: 'untried', arguments: args, reason: `init tries requests for ${surveyTimeoutMs / 1000} s only` };
    }
    onProgress?.(what);
    const over = new AbortController();
    try {
      const result = await race(send(AbortSignal.any([signal, over.signal])), {
        signals: [signal],
        timeout: {
          clock,
          afterMs: callTimeoutMs,
          onTimeout: () => null,
        },
      });
      return result === null ? { kind: 'silent', arguments: args, afterMs: callTimeoutMs } : judgeResult(args, result);
    } catch (error) {
      signal.throwIfAborted();
      isLost = !(await answersPing(session, { clock, signal }));
      return { kind: 'refused', arguments: args, message: cleanMessage(describeError(error)) };
    } finally {
      over.abort('over');
    }
  };
}

/** Checks if the session still works after a failed request. */
async function answersPing(
  session: Session,
  { clock, signal }: Pick<SurveyOptions, 'clock' | 'signal'>,
): Promise<boolean> {
  const over = new AbortController();
  try {
    return await race(
      session.request({ method: 'ping' }, { signal: AbortSignal.any([signal, over.signal]) }).then(() => true),
      { signals: [signal], timeout: { clock, afterMs: callTimeoutMs, onTimeout: () => false } },
    );
  } catch {
    signal.throwIfAborted();
    return false;
  } finally {
    over.abort('over');
  }
}

function judgeResult(args: JsonObject, result: unknown): Trial {
  if (!isRecord(result)) return { kind: 'refused', arguments: args, message: 'the answer is no result' };
  if (result['isError'] === true) {
    const first = listTexts(result['content']).find(({ path }) => path.at(-1) === 'text');
    return { kind: 'refused', arguments: args, message: cleanMessage(first?.text ?? 'an error without a text') };
  }
  return { kind: 'answered', arguments: args, hasStructuredContent: isRecord(result['structuredContent']) };
}

async function tryTool(
  session: Session,
  {
    name,
    declaration,
    options: { safeTools },
    trier,
  }: { name: string; declaration: ToolDeclaration; options: SurveyOptions; trier: Trier },
): Promise<Trial> {
  const { inputSchema, taskSupport } = declaration;
  const sample = sampleArguments(inputSchema);
  const args = 'arguments' in sample ? sample.arguments : {};
  const risk = safeTools.has(name) ? null : explainRisk(declaration);
  if (risk !== null) return { kind: 'unsafe', arguments: args, reason: risk };
  if ('reason' in sample) return { kind: 'untried', arguments: {}, reason: sample.reason };
  return await trier(name, args, async (signal) => await session.callTool(name, args, { signal, taskSupport }));
}

/** Explains why a tool is not called; null for one that the server declares read-only. */
export function explainRisk({
  annotations,
  isReadOnly,
}: Pick<ToolDeclaration, 'annotations' | 'isReadOnly'>): string | null {
  if (annotations?.['destructiveHint'] === true && isReadOnly) {
    return 'its annotations contradict each other: read-only and destructive';
  }
  if (isReadOnly) return null;
  // Some SDKs write this value for every tool that sets none.
  if (annotations?.['readOnlyHint'] === false) return 'the server declares it as not read-only';
  if (annotations?.['destructiveHint'] === true) return 'the server declares it as destructive';
  return 'the server does not declare it as read-only';
}

async function listResources(session: Session, { signal, isKnown }: SurveyOptions): Promise<Listed[]> {
  const found = await listNames(session, { method: 'resources/list', list: 'resources', key: 'uri', signal });
  return found.filter(({ name }) => !isKnown('resource', name)).slice(0, maxListed);
}

async function listPrompts(session: Session, { signal, isKnown }: SurveyOptions): Promise<Listed[]> {
  const found = await listNames(session, { method: 'prompts/list', list: 'prompts', key: 'name', signal });
  return found.filter(({ name }) => !isKnown('prompt', name)).slice(0, maxListed);
}

async function tryResources(session: Session, found: readonly Listed[], trier: Trier): Promise<Survey['resources']> {
  const tried: Survey['resources'] = [];
  for (const { name: uri } of found) {
    const send = async (limit: AbortSignal) =>
      await session.request({ method: 'resources/read', params: { uri } }, { signal: limit });
    tried.push({ uri, trial: await trier(uri, {}, send) });
  }
  return tried;
}

async function tryPrompts(session: Session, found: readonly Listed[], trier: Trier): Promise<Survey['prompts']> {
  const tried: Survey['prompts'] = [];
  for (const { name, item } of found) {
    const declared: unknown[] = Array.isArray(item['arguments']) ? item['arguments'] : [];
    const required = declared.filter((argument) => isRecord(argument) && argument['required'] === true);
    const names = required.flatMap((argument) => (isRecord(argument) ? String(argument['name']) : []));
    const args = Object.fromEntries(names.map((argument) => [argument, 'example']));
    if (names.length > 0) {
      // A prompt may run commands too, and no annotation says so.
      const reason = 'the prompt takes arguments, and no annotation says whether it only reads';
      tried.push({ name, trial: { kind: 'unsafe', arguments: args, reason } });
      continue;
    }
    const send = async (limit: AbortSignal) =>
      await session.request({ method: 'prompts/get', params: { name, arguments: args } }, { signal: limit });
    tried.push({ name, trial: await trier(name, args, send) });
  }
  return tried;
}

interface Listed {
  name: string;
  item: JsonObject;
}

async function listNames(
  session: Session,
  {
    method,
    list,
    key,
    signal,
  }: { method: 'resources/list' | 'prompts/list'; list: string; key: string; signal: AbortSignal },
): Promise<Listed[]> {
  const answer = await session.request({ method }, { signal });
  const items: unknown = isRecord(answer) ? answer[list] : undefined;
  return (Array.isArray(items) ? items : []).flatMap((item: unknown) =>
    isRecord(item) && typeof item[key] === 'string' ? { name: item[key], item } : [],
  );
}

/** Returns one line without control characters, for a comment in a file. */
function cleanMessage(text: string): string {
  return clipText(putOnOneLine(text), longestMessage);
}
