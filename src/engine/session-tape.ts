import {
  type CallToolResult,
  type CreateMessageRequestParams,
  type ElicitRequestParams,
  ProtocolError,
} from '@modelcontextprotocol/client';
import { isJsonEqual, isRecord } from '../base/json.ts';
import type { Clock } from '../base/time.ts';
import type { ClientAbilities } from '../mcp/abilities.ts';
import type { openRenewableSession } from '../mcp/renewable-session.ts';
import type { Session } from '../mcp/session.ts';
import { type ToolList } from '../mcp/tool-declarations.ts';
import { watchNothing } from '../mcp/notifications.ts';
import { abilities as allAbilities } from '../model/client-abilities.ts';
import type { CallUpdate, ServerNotification } from '../model/notification.ts';
import { findSharedList, shareList } from './tool-list.ts';

export type OpenSession = typeof openRenewableSession;

/** A request of an iteration, with the parameters that decide its answer. */
export interface TapedRequest {
  method: string;
  params: unknown;
}

/** The answer to a request; an error is the value that the session threw. */
export type TapedAnswer = { kind: 'result'; result: unknown } | { kind: 'error'; error: unknown };

/** A request of an iteration with its answer. */
export interface TapedExchange {
  serverName: string;
  request: TapedRequest;
  /** Null until the answer arrives. */
  answer: TapedAnswer | null;
  latencyMs: number;
  /** The progress of the call. */
  updates: CallUpdate[];
  /** The other notifications until the next request. */
  notifications: ServerNotification[];
  /** The requests of the server to its client, which the client answers anew in a replay. */
  asked: TapedQuestion[];
}

/** A request of the server to its client. */
type TapedQuestion =
  | { ability: 'elicitation'; request: ElicitRequestParams }
  | { ability: 'sampling'; request: CreateMessageRequestParams }
  | { ability: 'roots' };

/** A session with a server, apart from its exchanges. */
interface TapedServer {
  facts: Pick<Session, 'handshake' | 'capabilities' | 'instructions' | 'offered' | 'hasTasks'>;
  /** The list of tools that the sessions of the run share, and the lists that this session requested. */
  sharedTools: ToolList | undefined;
  lists: ToolList[];
  /** The notifications before the first request. */
  early: ServerNotification[];
}

/** All that one iteration received from its servers. Without it, `runCase` gives the same outcome from the same answers. */
export interface SessionTape {
  servers: Map<string, TapedServer>;
  /** In the order in which the requests were sent. */
  exchanges: TapedExchange[];
}

/** Makes a function that opens sessions as `open` does, and a tape of what they receive. */
export function recordSessions(open: OpenSession, clock: Clock): { open: OpenSession; tape: SessionTape } {
  const tape: SessionTape = { servers: new Map(), exchanges: [] };
  const record: OpenSession = async (target, options) => {
    const { serverName } = target;
    const early: ServerNotification[] = [];
    const lists: ToolList[] = [];
    const findLast = () => tape.exchanges.findLast((each) => each.serverName === serverName);
    const watch = options.watch ?? watchNothing;
    const session = await open(target, {
      ...options,
      watch: {
        ...watch,
        onNotification: (notification) => {
          (findLast()?.notifications ?? early).push(notification);
          watch.onNotification(notification);
        },
      },
      abilities: recordAbilities(options.abilities ?? {}, (question) => findLast()?.asked.push(question)),
    });
    const { handshake, capabilities, instructions, offered, hasTasks } = session;
    const facts = { handshake, capabilities, instructions, offered, hasTasks };
    tape.servers.set(serverName, { facts, sharedTools: findSharedList(target, offered), lists, early });
    const exchange = async <T>(request: TapedRequest, send: (exchange: TapedExchange) => Promise<T>): Promise<T> => {
      const taped: TapedExchange = {
        serverName,
        request,
        answer: null,
        latencyMs: 0,
        updates: [],
        notifications: [],
        asked: [],
      };
      tape.exchanges.push(taped);
      const startMs = clock.monotonicMs();
      try {
        const result = await send(taped);
        taped.answer = { kind: 'result', result };
        return result;
      } catch (error) {
        taped.answer = { kind: 'error', error };
        throw error;
      } finally {
        taped.latencyMs = clock.monotonicMs() - startMs;
      }
    };
    return wrapSession(session, {
      callTool: (name, args, call) =>
        exchange(nameCall(name, args), (taped) =>
          session.callTool(name, args, {
            ...call,
            onUpdate: (update) => {
              taped.updates.push(update);
              call.onUpdate?.(update);
            },
          }),
        ),
      listTools: async (given) => {
        const list = await session.listTools(given);
        lists.push(list);
        return list;
      },
      request: (asked, given) => exchange(nameRequest(asked), () => session.request(asked, given)),
      subscribe: (uri, given) => exchange({ method: 'subscribe', params: uri }, () => session.subscribe(uri, given)),
      waitForUpdate: (uri, given) =>
        exchange({ method: 'wait-for-update', params: uri }, () => session.waitForUpdate(uri, given)),
    });
  };
  return { open: record, tape };
}

const nameCall = (name: string, args: unknown): TapedRequest => ({
  method: 'tools/call',
  params: { name, arguments: args },
});

function nameRequest({ method, ...params }: Parameters<Session['request']>[0]): TapedRequest {
  return { method, params };
}

/** Replaces requests of a session. Its getters stay live. */
function wrapSession(session: Session, own: Pick<Session, RequestName>): Session {
  return {
    get id() {
      return session.id;
    },
    handshake: session.handshake,
    capabilities: session.capabilities,
    instructions: session.instructions,
    offered: session.offered,
    get hasTasks() {
      return session.hasTasks;
    },
    get excess() {
      return session.excess;
    },
    get toolListChanges() {
      return session.toolListChanges;
    },
    ...own,
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

type RequestName = 'callTool' | 'listTools' | 'request' | 'subscribe' | 'waitForUpdate';

function recordAbilities(abilities: ClientAbilities, keep: (question: TapedQuestion) => void): ClientAbilities {
  const { elicitation, sampling, roots } = abilities;
  return {
    ...abilities,
    ...(elicitation && {
      elicitation: async (request) => {
        keep({ ability: 'elicitation', request });
        return await elicitation(request);
      },
    }),
    ...(sampling && {
      sampling: async (request) => {
        keep({ ability: 'sampling', request });
        return await sampling(request);
      },
    }),
    ...(roots && {
      roots: async () => {
        keep({ ability: 'roots' });
        return await roots();
      },
    }),
  };
}

async function ask(question: TapedQuestion, { elicitation, sampling, roots }: ClientAbilities): Promise<void> {
  if (question.ability === 'elicitation') await elicitation?.(question.request);
  else if (question.ability === 'sampling') await sampling?.(question.request);
  else await roots?.();
}

/** The parts of a tape that a replay changes. */
export interface TapeChanges {
  /** The answers that replace those of the tape, by the position of the exchange. */
  answers: ReadonlyMap<number, TapedAnswer>;
  /** Changes the lists of tools of the servers. */
  changeTools?: (list: ToolList) => ToolList;
  /** True if a call that the tape has not gets the answer of the next one that it has. */
  isLenient?: boolean;
}

export const noChanges: TapeChanges = { answers: new Map() };

export interface TapeReplay {
  open: OpenSession;
  clock: Clock;
  /** The first request that the tape has no answer to; null if there was none. */
  readonly missing: TapedRequest | null;
  /** True if a replaced answer was given. */
  readonly hasGivenChange: boolean;
}

/**
 * Makes a function that opens sessions with the servers of a tape, which answer from it, and a clock that only answers advance. `limitMs`
 * is the time limit of the iteration: shorter waits end at once, and longer ones never.
 */
export function replaySessions(
  tape: SessionTape,
  changes: TapeChanges,
  { startedAtMs, limitMs }: { startedAtMs: number; limitMs: number },
): TapeReplay {
  let elapsedMs = 0;
  let missing: TapedRequest | null = null;
  let hasGivenChange = false;
  const used = new Set<number>();
  const take = (serverName: string, request: TapedRequest): { taped: TapedExchange; answer: TapedAnswer } => {
    const find = (isMeant: (each: TapedExchange, at: number) => boolean) =>
      tape.exchanges.findIndex((each, at) => each.serverName === serverName && isMeant(each, at));
    const isCall = ({ request: { method } }: TapedExchange) => method === 'tools/call';
    let index = find((each, at) => !used.has(at) && isSameRequest(each.request, request));
    if (index === -1 && changes.isLenient === true && request.method === 'tools/call') {
      const unused = find((each, at) => !used.has(at) && isCall(each));
      index = unused === -1 ? find(isCall) : unused;
    }
    const taped = tape.exchanges[index];
    const own = changes.answers.get(index);
    const answer = own ?? taped?.answer;
    if (taped === undefined || answer == null) {
      missing ??= request;
      throw new Error('The tape has no answer to this request.');
    }
    used.add(index);
    if (own !== undefined) hasGivenChange = true;
    elapsedMs += taped.latencyMs;
    return { taped, answer };
  };
  const clock: Clock = {
    now: () => Math.round(startedAtMs + elapsedMs),
    monotonicMs: () => elapsedMs,
    sleep: (delayMs, { signal } = {}) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) reject(signal.reason);
        else if (delayMs < limitMs) {
          elapsedMs += delayMs;
          resolve();
        } else signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  };
  const open: OpenSession = async (target, { watch = watchNothing, abilities = {} }) => {
    const { serverName } = target;
    const taped = tape.servers.get(serverName);
    if (taped === undefined) throw new Error(`The tape has no session with ${serverName}.`);
    const { facts, early } = taped;
    const { changeTools = (list) => list } = changes;
    const lists = taped.lists.map(changeTools);
    const shared = taped.sharedTools === undefined ? lists[0] : changeTools(taped.sharedTools);
    if (shared !== undefined) {
      shareList(target, facts.offered, shared);
      shareList(target, allAbilities, shared);
    }
    let toolListChanges = 0;
    const notify = (notification: ServerNotification) => {
      if (notification.kind === 'listChanged' && notification.of === 'tools') toolListChanges += 1;
      watch.onNotification(notification);
    };
    for (const notification of early) notify(notification);
    const answer = async (request: TapedRequest, onUpdate?: (update: CallUpdate) => void): Promise<unknown> => {
      const found = take(serverName, request);
      for (const update of found.taped.updates) onUpdate?.(update);
      for (const question of found.taped.asked) await ask(question, abilities);
      for (const notification of found.taped.notifications) notify(notification);
      if (found.answer.kind === 'error') throw found.answer.error;
      return found.answer.result;
    };
    return {
      id: undefined,
      ...facts,
      excess: null,
      get toolListChanges() {
        return toolListChanges;
      },
      callTool: async (name, args, { onUpdate }) => {
        const result = await answer(nameCall(name, args), onUpdate);
        if (!isCallResult(result)) throw new Error('The answer of a call on the tape has no content.');
        return result;
      },
      listTools: async () => (lists.length > 1 ? lists.shift() : lists[0]) ?? shared ?? null,
      request: async (asked) => await answer(nameRequest(asked)),
      subscribe: async (uri) => void (await answer({ method: 'subscribe', params: uri })),
      waitForUpdate: async (uri) => void (await answer({ method: 'wait-for-update', params: uri })),
      [Symbol.asyncDispose]: async () => {},
    };
  };
  return {
    open,
    clock,
    get missing() {
      return missing;
    },
    get hasGivenChange() {
      return hasGivenChange;
    },
  };
}

const isSameRequest = (one: TapedRequest, other: TapedRequest) =>
  one.method === other.method && isJsonEqual(one.params, other.params);

function isCallResult(value: unknown): value is CallToolResult {
  return isRecord(value) && Array.isArray(value['content']);
}

/** Makes the answer of a server that returns a JSON-RPC error instead of a result. */
export function makeErrorAnswer(code: number, message: string): TapedAnswer {
  return { kind: 'error', error: new ProtocolError(code, message) };
}
