// What the scripted provider asks of a host, and what it sees.
import type { JsonObject } from '../../src/base/json.ts';
import { longNames, oddName, readLongStem, resultTools, serverName, sizes } from './probe.ts';
import type { Script } from './provider.ts';
import { type Answer, type Call, joinTexts, type SeenMessage, type SeenRequest, type SeenResult } from './seen.ts';

/** A call, and what the next request shows of its result. */
export interface Turn {
  result: SeenResult | null;
  /** The messages that the host added. */
  added: SeenMessage[];
  /** The request with the result. */
  after: SeenRequest;
}

export interface Seen {
  first: SeenRequest | null;
  /** The request after the search; null if the host shows tools at once. */
  found: { request: SeenRequest; text: string } | null;
  /** By name of the tool, or `sized:` with the size. */
  turns: Map<string, Turn>;
}

export const createSeen = (): Seen => ({ first: null, found: null, turns: new Map() });

const silent: Answer = { kind: 'text', text: '' };

/** The part of a name that no host changes, so that the tool is found by it. */
const stems = new Map([
  [oddName, 'odd'],
  ...longNames.map((name): [string, string] => [name, readLongStem(name.length)]),
]);

export const readStem = (tool: string): string => stems.get(tool) ?? tool;

/** Lists all texts of a request outside of its tools. */
export function listTexts({ system, messages, otherTools }: SeenRequest): string[] {
  return [system, otherTools, ...messages.map(({ parts }) => joinTexts(parts))];
}

/** Finds a tool of the server in the tools of a request. */
export function findTool({ tools }: SeenRequest, tool: string) {
  const stem = readStem(tool);
  const form = new RegExp(`${serverName}[._-]*${stem}${stem === tool ? '$' : ''}`);
  return tools.find(({ namespace, name }) => form.test(`${namespace ?? ''}${name}`));
}

/** Finds the name of a tool of the server in the texts of a request, which name the tools that are deferred. */
export function findDeferredName(request: SeenRequest, tool: string): string | null {
  const stem = readStem(tool);
  const form = new RegExp(`[A-Za-z0-9_]*${serverName}_+${stem}${stem === tool ? '(?![A-Za-z0-9_])' : '[^\\n",:]*'}`);
  for (const text of listTexts(request)) {
    const [name] = form.exec(text) ?? [];
    if (name !== undefined) return name.trim();
  }
  return null;
}

/** Finds the tool of the host that searches the deferred tools. */
export function findSearch({ tools }: SeenRequest): string | null {
  return tools.find(({ name }) => /tool.?search/i.test(name))?.name ?? null;
}

/** Finds the tool of the host that calls a tool which was found. */
const findCaller = ({ tools }: SeenRequest) => tools.find(({ name }) => /^tool.?call$/i.test(name))?.name ?? null;

let count = 0;

function createCall(request: SeenRequest, tool: string, args: JsonObject): Call | null {
  count += 1;
  const id = `call_${String(count).padStart(6, '0')}`;
  const shown = findTool(request, tool);
  if (shown !== undefined) return { id, namespace: shown.namespace, name: shown.name, arguments: args };
  const caller = findCaller(request);
  const name = findDeferredName(request, tool);
  if (name === null) return null;
  if (caller === null) return { id, namespace: null, name, arguments: args };
  return { id, namespace: null, name: caller, arguments: { name, arguments: args } };
}

/** Reads the result of a call: by its id, or the last one where the API has none. */
function readResult(request: SeenRequest, id: string): SeenResult | null {
  return (
    request.results.find((result) => result.id === id) ??
    request.results.findLast((result) => result.id === null) ??
    null
  );
}

/** Makes one call, or several calls of the same tool in one answer. */
function* callTool(
  request: SeenRequest,
  tool: string,
  args: JsonObject = {},
  times = 1,
): Generator<Answer, Turn | null, SeenRequest> {
  const calls = Array.from({ length: times }, () => createCall(request, tool, args)).filter((call) => call !== null);
  const [first] = calls;
  if (first === undefined) return null;
  const after = yield { kind: 'calls', calls };
  return { result: readResult(after, first.id), added: after.messages.slice(request.messages.length), after };
}

/** Waits for the first request with a tool of the server, and searches for tools that the host defers. */
function* meetHost(seen: Seen): Generator<Answer, SeenRequest, SeenRequest> {
  const first = yield silent;
  seen.first = first;
  const search = findTool(first, 'say') === undefined ? findSearch(first) : null;
  if (search === null) return first;
  const names = [
    ...Object.keys(resultTools),
    'bounded',
    'described',
    'sized',
    'hang',
    'meet',
    'meet_reading',
    'extend',
  ];
  const wanted = names.flatMap((name) => findDeferredName(first, name) ?? []);
  count += 1;
  const id = `call_${String(count).padStart(6, '0')}`;
  const query = { query: `select:${wanted.join(',')}`, max_results: 20 };
  const request = yield { kind: 'calls', calls: [{ id, namespace: null, name: search, arguments: query }] };
  const parts = readResult(request, id)?.parts ?? [];
  seen.found = { request, text: parts.map(({ text }) => text).join('\n') };
  return request;
}

/** Only reads the first request. */
export function* readFirst(seen: Seen): Script {
  seen.first = yield silent;
}

/** Arguments that break the schema of `bounded`. */
const brokenArguments = { count: 'many', code: 5 };

/** Calls each tool with a result of its own. */
export function* callAll(seen: Seen): Script {
  let request = yield* meetHost(seen);
  const calls: Array<[string, JsonObject, number]> = [
    ...Object.keys(resultTools).map((tool): [string, JsonObject, number] => [tool, {}, 1]),
    ['bounded', brokenArguments, 1],
    ['meet', {}, 2],
    ['meet_reading', {}, 2],
    ['extend', {}, 1],
  ];
  for (const [tool, args, times] of calls) {
    const turn = yield* callTool(request, tool, args, times);
    if (turn === null) continue;
    seen.turns.set(tool, turn);
    request = turn.after;
  }
}

/** The sizes between the largest that is whole and the smallest that is cut differ by this at most. */
const sizeStep = 1000;

/** Finds the size from which results are cut, by halves. */
export function* halveSizes(seen: Seen): Script {
  let request = yield* meetHost(seen);
  let [whole, cut] = [0, sizes.longest * 2];
  for (let size: number = sizes.longest; cut - whole > sizeStep; size = Math.round((whole + cut) / 20) * 10) {
    if (size >= sizes.longest && whole === sizes.longest) return;
    const turn = yield* callTool(request, 'sized', { size });
    if (turn === null) return;
    seen.turns.set(`sized:${size}`, turn);
    request = turn.after;
    if (isWhole(turn, size)) whole = size;
    else cut = size;
  }
}

/** Checks if the model was shown the last words of a result. */
export function isWhole({ result }: Turn, size: number): boolean {
  const shown = joinTexts(result?.parts ?? []);
  const wordAt = (index: number) => shown.includes(`s${String(index).padStart(8, '0')} `);
  return [0, 1 / 4, 1 / 2, 3 / 4, 1].every((share) => wordAt(Math.floor((size / 10 - 1) * share)));
}

/** Calls a tool that never answers. */
export function* callHanging(seen: Seen): Script {
  const request = yield* meetHost(seen);
  const turn = yield* callTool(request, 'hang');
  if (turn !== null) seen.turns.set('hang', turn);
}
