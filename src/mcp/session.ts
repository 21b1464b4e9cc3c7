import { SdkHttpError, SseError, UrlElicitationRequiredError } from '@modelcontextprotocol/client';
import { type Clock, race } from '../base/time.ts';
import type { JsonObject } from '../base/json.ts';
import { abilities as allAbilities, type Ability } from '../model/client-abilities.ts';
import type { ServerNotification } from '../model/notification.ts';
import { announce, type ClientAbilities, findClaimedLack, findLack } from './abilities.ts';
import type { ServerAccess } from './access.ts';
import { runTasksForServer } from './client-tasks.ts';
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
import { type Endpoint, endSession, openTransport } from './transport.ts';

/**
 * An MCP server, with the name that cases use for it. `shownName` is its name in the configuration of a host, which is a part of the names
 * of tools that models see; `serverName` by default.
 */
export type Target = UnnamedTarget & { serverName: string; shownName?: string | undefined };

/** A server at a URL. */
export type HttpTarget = Extract<Target, { url: string }>;

export type UnnamedTarget = Endpoint & {
  protocol: EraChoice;
  headers?: Record<string, string>;
  /** The access for its requests; none by default. */
  access?: ServerAccess | null | undefined;
};

/** One MCP session; each iteration uses one. Disposing it ends the session on the server, too. */
export interface Session extends AsyncDisposable {
  /** Undefined if the protocol or the server has no sessions. */
  readonly id: string | undefined;
  readonly handshake: Handshake;
  /** The capabilities that the server declared. */
  readonly capabilities: JsonObject;
  /** The server's instructions for its use; null if there are none. */
  readonly instructions: string | null;
  /** The capabilities that the client announced: its abilities, and `apps` if it shows them. */
  readonly offered: ReadonlyArray<Ability | 'apps'>;
  /** The limit that the server crossed, which ended the session; null if there is none. */
  readonly excess: ExcessError | null;
  /**
   * Calls a tool once, below the span that `traceParent` names. If the call runs as a task, it waits for the end of the task. Rejects
   * with the SDK's errors, a NetworkError, a ProtocolError, the ExcessError, or the signal's reason.
   */
  callTool: ToolCaller['call'];
  /** The number of times that the server has reported a change of its tools. */
  readonly toolListChanges: number;
  /** True if a tool that requires a task can run here. */
  readonly hasTasks: boolean;
  /**
   * Lists all tools of the server. It always sends a request and bypasses the SDK's cache: with a known list, the SDK would validate
   * results itself and withhold those that violate their schema.
   */
  listTools(options: { signal: AbortSignal }): Promise<ToolList>;
  /** Sends any other request and returns its result. Rejects as `callTool` does, and if the server lacks the capability. */
  request(request: ServerRequest, options: TracedOptions & { signal: AbortSignal }): Promise<unknown>;
  /** Asks the server to report changes of a resource. Rejects as `request` does. */
  subscribe(uri: string, options: { signal: AbortSignal }): Promise<void>;
  /** Waits for a reported change of a resource that no earlier wait returned. */
  waitForUpdate(uri: string, options: { signal: AbortSignal }): Promise<void>;
}

/** The time limit for ending a session, in milliseconds; a server that does not answer in time keeps its session. */
const closeTimeoutMs = 2000;

/** The SDK's default limit per request is 60 s. Here only the signal limits a request, so this is the longest possible timer. */
const sdkTimeoutMs = 2 ** 31 - 1;

/**
 * Opens a session with the target and completes the handshake. With `auto`, it tries the eras in the same order as the probe of a
 * starting server, HTTP+SSE last.
 *
 * @throws the SDK's or fetch's error if the handshake fails, {ExcessError} if the server crosses a limit, or the signal's reason.
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
  /** The notifications to ask the server for; none by default. */
  watch?: Watch;
  /** The client's answers to requests of the server; none by default. */
  abilities?: ClientAbilities;
  /** The time to live of a task on the server, in milliseconds. */
  taskTtlMs?: number;
  /** True if requests without access follow redirects within the origin, which is the default. */
  followsRedirects?: boolean;
}

const defaultTaskTtlMs = 3_600_000;

/** Makes the budget for a server's traffic in one iteration, over all of its sessions. */
export function createIterationBudget(): TrafficBudget {
  return createTrafficBudget(iterationLimits, 'for one iteration');
}

/** Checks if no response arrived. Fetch reports that as a TypeError, which the SDK wraps while it negotiates. */
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
  const { transport, opened } = openTransport(target, era, { clock, closed: closed.signal, budget, followsRedirects });
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
    stream: era === 'legacy' && listens && opened !== null ? { opened, clock } : null,
  }).catch((error: unknown) => {
    closed.abort('closed');
    throw error;
  });
  if (era === 'modern') translateTaskMessages(transport);
  const traffic = watchTraffic(transport);
  const resources = watchResources(client);
  const { logLevel } = watch;
  const caller = createToolCaller(client, { era, clock, openProgress, request: limits, taskTtlMs, logLevel });
  /** Sends a request and waits for its answer. If it fails because of a capability that was not announced, it reports that. */
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
      return transport.sessionId;
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
      // If a session cannot be ended, the server has to remove it; the iteration is judged already.
      await race(
        goodbye.catch(() => {}),
        { timeout: { clock, afterMs: closeTimeoutMs, onTimeout: () => {} } },
      );
      closed.abort('closed');
      // If the server has ended the stream, the client has no transport any more; but the transport still waits to reopen the stream.
      await (client.transport === undefined ? transport : client).close();
    },
  };
}

/** Checks if a call was refused until the user has opened URLs (-32042), and the user agrees to open each of them. */
async function acceptsUrls(error: unknown, { elicitation }: ClientAbilities): Promise<boolean> {
  if (!(error instanceof UrlElicitationRequiredError) || elicitation === undefined) return false;
  if (error.elicitations.length === 0) return false;
  for (const request of error.elicitations) {
    if ((await elicitation(request)).action !== 'accept') return false;
  }
  return true;
}
