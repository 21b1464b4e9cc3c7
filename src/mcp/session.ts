import { SdkHttpError, SseError, UrlElicitationRequiredError } from '@modelcontextprotocol/client';
import { type Clock, race } from '../base/time.ts';
import type { JsonObject } from '../model/assertion.ts';
import { abilities as allAbilities, type Ability } from '../model/client-abilities.ts';
import type { ServerNotification } from '../model/notification.ts';
import { announce, type ClientAbilities, findClaimedLack, findLack } from './abilities.ts';
import { type ServerAccess, withAccess } from './access.ts';
import { runTasksForServer } from './client-tasks.ts';
import { createFetch } from './fetch.ts';
import { connectClient } from './handshake.ts';
import { type Watch, watchNothing } from './notifications.ts';
import { type EraChoice, type Handshake, listEras, mayBeOldServer, type ProtocolEra } from './protocol.ts';
import { sendRequest, type ServerRequest, type TracedOptions } from './requests.ts';
import { watchResources } from './subscriptions.ts';
import { translateTaskMessages } from './task-messages.ts';
import { createToolCaller, type ToolCaller } from './tool-calls.ts';
import { readDeclarations, type ToolList } from './tool-declarations.ts';
import { createTrafficBudget, type ExcessError, iterationLimits, type TrafficBudget } from './traffic-budget.ts';
import { watchTraffic } from './traffic.ts';
import { createTransport, endSession, watchStream } from './transport.ts';

/** An MCP server reachable over HTTP, and what the cases call it. */
export interface Target {
  url: string;
  serverName: string;
  protocol: EraChoice;
  headers?: Record<string, string>;
  /** What lets its requests in; none unless given. */
  access?: ServerAccess | null | undefined;
}

/** One MCP session: what one iteration talks through. Disposing ends it on the server too. */
export interface Session extends AsyncDisposable {
  /** Undefined where the protocol or the server has no sessions. */
  readonly id: string | undefined;
  readonly handshake: Handshake;
  /** As the server declared them. */
  readonly capabilities: JsonObject;
  /** How the server says that it is used; null where it says nothing. */
  readonly instructions: string | null;
  /** What its client announced: its abilities, and `apps` where it shows those. */
  readonly offered: ReadonlyArray<Ability | 'apps'>;
  /** The limit that the server crossed, after which the session is over; null while there is none. */
  readonly excess: ExcessError | null;
  /**
   * Calls a tool once, below the span that `traceParent` names, and waits for the end of its task where it runs as one. Rejects with
   * the SDK's errors, a NetworkError, a ProtocolError, the ExcessError, or the signal's reason.
   */
  callTool: ToolCaller['call'];
  /** How often the server has reported that its list of tools changed. */
  readonly toolListChanges: number;
  /** Whether a tool can run as a task here if it requires that. */
  readonly hasTasks: boolean;
  /**
   * Lists the tools of the server, all pages, always with a request: from a list that it knows, the SDK would judge results
   * itself and withhold the ones that break their schema.
   */
  listTools(options: { signal: AbortSignal }): Promise<ToolList>;
  /** Makes any other request and returns its result. Rejects as `callTool` does, and where the server lacks the capability. */
  request(request: ServerRequest, options: TracedOptions & { signal: AbortSignal }): Promise<unknown>;
  /** Asks the server to report changes of a resource. Rejects as `request` does. */
  subscribe(uri: string, options: { signal: AbortSignal }): Promise<void>;
  /** Waits for a change of a resource that the server reports, and that no earlier wait resolved with. */
  waitForUpdate(uri: string, options: { signal: AbortSignal }): Promise<void>;
}

/** How long the end of a session may take, in milliseconds; a server that is stuck keeps its session. */
const closeTimeoutMs = 2000;

/** The SDK's own limit per request is 60 s; the signal is the only limit here, so its timer is set out of the way. */
const sdkTimeoutMs = 2 ** 31 - 1;

/** A server may ask for its stream to be opened again at once, without end. */
const minReconnectDelayMs = 100;

/**
 * Opens a session with the target and completes the handshake. With `auto`, eras come in
 * the order in which a server is asked when it is started, HTTP+SSE last.
 *
 * @throws the SDK's or fetch's error when there is no handshake, {ExcessError} when the server crosses a limit, or the signal's reason.
 */
export async function openSession(target: Target, options: SessionOptions): Promise<Session> {
  const { signal, budget = createIterationBudget() } = options;
  const context = {
    watch: watchNothing,
    abilities: {},
    taskTtlMs: defaultTaskTtlMs,
    followsRedirects: true,
    ...options,
    budget,
  };
  if (target.protocol !== 'auto') return await openSessionAs(target.protocol, target, context);
  const [first, second] = listEras('auto');
  try {
    return await openSessionAs(first, target, context);
  } catch (error) {
    if (signal.aborted || budget.signal.aborted || isNetworkFailure(error)) throw error;
    const others: ProtocolEra[] =
      error instanceof SdkHttpError && mayBeOldServer(error.status) ? [second, 'sse'] : [second];
    for (const era of others) {
      try {
        return await openSessionAs(era, target, context);
      } catch {
        signal.throwIfAborted();
        budget.signal.throwIfAborted();
      }
    }
    throw error;
  }
}

export interface SessionOptions {
  clock: Clock;
  signal: AbortSignal;
  budget?: TrafficBudget;
  /** What the server is asked to report; nothing unless given. */
  watch?: Watch;
  /** What the client answers the server; nothing unless given. */
  abilities?: ClientAbilities;
  /** How long the server keeps a task, in milliseconds. */
  taskTtlMs?: number;
  /** Whether requests without access follow redirects within the origin; they do unless given. */
  followsRedirects?: boolean;
}

const defaultTaskTtlMs = 3_600_000;

/** What a server may send in one iteration, over all sessions of it. */
export function createIterationBudget(): TrafficBudget {
  return createTrafficBudget(iterationLimits, 'for one iteration');
}

/** Whether no response came. Fetch reports that as a TypeError, which the SDK wraps while it negotiates. */
export function isNetworkFailure(error: unknown): boolean {
  if (error instanceof SseError) return error.code === undefined;
  return error instanceof TypeError || (error instanceof Error && isNetworkFailure(error.cause));
}

async function openSessionAs(
  era: ProtocolEra,
  target: Target,
  { clock, signal, budget, watch, abilities, taskTtlMs, followsRedirects }: Required<SessionOptions>,
): Promise<Session> {
  signal.throwIfAborted();
  const closed = new AbortController();
  const stream = watchStream(withAccess(createFetch(budget), target.access));
  const transport = createTransport(target.url, era, {
    fetch: stream.fetch,
    reconnectionScheduler: (reconnect, delayMs) => {
      const wait = clock.sleep(Math.max(delayMs, minReconnectDelayMs), { signal: closed.signal });
      wait.then(reconnect, () => {});
    },
    requestInit: {
      ...(target.headers !== undefined && { headers: target.headers }),
      // The SDK would follow redirects within the origin.
      ...((target.access != null || !followsRedirects) && { redirect: 'manual' }),
    },
  });
  const tasksForServer = era === 'modern' ? null : runTasksForServer(transport, abilities, clock);
  const limits = { timeout: sdkTimeoutMs };
  let toolListChanges = 0;
  const onNotification = (notification: ServerNotification) => {
    if (notification.kind === 'listChanged' && notification.of === 'tools') toolListChanges += 1;
    watch.onNotification(notification);
  };
  const announced = announce(abilities);
  const listens = Object.keys(announced).length > 0 || watch.lists || watch.logLevel !== null;
  const { client, handshake, openProgress } = await connectClient(transport, era, {
    signal,
    budget,
    timeoutMs: sdkTimeoutMs,
    watch: { ...watch, onNotification },
    abilities,
    stream: era === 'legacy' && listens ? { opened: stream.opened, clock } : null,
  }).catch((error: unknown) => {
    closed.abort('closed');
    throw error;
  });
  if (era === 'modern') translateTaskMessages(transport);
  const traffic = watchTraffic(transport);
  const resources = watchResources(client);
  const { logLevel } = watch;
  const caller = createToolCaller(client, { era, clock, openProgress, request: limits, taskTtlMs, logLevel });
  /** Sends a request until it has an answer, and reports what the server needed and was not offered. */
  const request = async <T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    try {
      return await race(Promise.race([send(), traffic.lost]), { signals: [signal, budget.signal] });
    } catch (error) {
      signal.throwIfAborted();
      const lack = findLack(error, announced);
      if (lack !== null) abilities.onLack?.(lack);
      throw error;
    }
  };
  return {
    get id() {
      return 'sessionId' in transport ? transport.sessionId : undefined;
    },
    handshake,
    capabilities: { ...client.getServerCapabilities() },
    instructions: client.getInstructions() ?? null,
    offered: [
      ...allAbilities.filter((ability) => abilities[ability] !== undefined),
      ...(watch.apps ? ['apps' as const] : []),
    ],
    get excess() {
      return budget.excess;
    },
    get toolListChanges() {
      return toolListChanges;
    },
    hasTasks: caller.hasTasks,
    callTool: async (toolName, args, options) => {
      const { signal } = options;
      const send = async () => await request(async () => await caller.call(toolName, args, options), signal);
      const result = await send().catch(async (error: unknown) => {
        if (!(await acceptsUrls(error, abilities))) throw error;
        return await send();
      });
      const lack = result.isError === true ? findClaimedLack(JSON.stringify(result.content), announced) : null;
      if (lack !== null) abilities.onLack?.(lack);
      return result;
    },
    listTools: async ({ signal }) => {
      if (client.getServerCapabilities()?.tools === undefined) return null;
      const list = async () => await client.listTools(undefined, { ...limits, signal, cacheMode: 'bypass' });
      const { tools } = await request(list, signal);
      return readDeclarations(tools);
    },
    request: async (asked, options) =>
      await request(async () => await sendRequest(client, asked, { ...limits, ...options }), options.signal),
    subscribe: async (uri, { signal }) =>
      await request(async () => await resources.subscribe(uri, { ...limits, signal }), signal),
    waitForUpdate: async (uri, { signal }) =>
      await request(async () => await resources.waitForUpdate(uri, { signal }), signal),
    [Symbol.asyncDispose]: async () => {
      const goodbye = Promise.allSettled([
        traffic.waitForNotifications(),
        caller.cancelTasks(),
        tasksForServer?.cancelTasks(),
      ]).then(() => endSession(transport));
      // A session that cannot be ended is the server's to reap; the iteration is judged already.
      await race(
        goodbye.catch(() => {}),
        { timeout: { clock, afterMs: closeTimeoutMs, onTimeout: () => {} } },
      );
      closed.abort('closed');
      // After the server ended the stream, the client has no transport any more, which still waits to open the stream again.
      await (client.transport === undefined ? transport : client).close();
    },
  };
}

/** Whether a call was refused until the user has opened URLs (-32042), and the user accepts to open each of them. */
async function acceptsUrls(error: unknown, { elicitation }: ClientAbilities): Promise<boolean> {
  if (!(error instanceof UrlElicitationRequiredError) || elicitation === undefined) return false;
  if (error.elicitations.length === 0) return false;
  for (const request of error.elicitations) {
    if ((await elicitation(request)).action !== 'accept') return false;
  }
  return true;
}
