import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';
import type { Clock } from '../base/time.ts';
import { generator } from '../base/version.ts';
import type { JsonObject } from '../model/assertion.ts';
import { createTrafficBudget, iterationLimits, type ExcessError, type TrafficBudget } from '../base/traffic-budget.ts';
import { createFetch } from './fetch.ts';
import type { Target } from './target.ts';
import { watchTraffic } from './traffic.ts';

/** One MCP session: what one iteration talks through. Disposing ends it on the server too. */
export interface Session extends AsyncDisposable {
  /** Undefined where the protocol or the server has no sessions. */
  readonly id: string | undefined;
  protocol: 'legacy' | 'modern';
  /** The negotiated revision, such as `2025-11-25`. */
  protocolVersion: string;
  /** Null where a server of the 2026-07-28 revision keeps its name to itself. */
  server: { name: string; version: string } | null;
  /** The limit that the server crossed, after which the session is over; null while there is none. */
  readonly excess: ExcessError | null;
  /**
   * Calls a tool once, below the span that `traceParent` names. Rejects with the SDK's errors, a NetworkError, the ExcessError, or
   * the signal's reason.
   */
  callTool(
    toolName: string,
    args: JsonObject,
    options: { signal: AbortSignal; traceParent?: string | undefined },
  ): Promise<CallToolResult>;
  /**
   * Lists the tools of the server, all pages, always with a request: from a list that it knows, the SDK would judge results
   * itself and withhold the ones that break their schema.
   */
  listTools(options: { signal: AbortSignal }): Promise<ToolList>;
}

/** By name, with the output schema that a tool declares; null where the server declares no tools capability. */
export type ToolList = ReadonlyMap<string, { outputSchema: JsonObject | null; isReadOnly: boolean }> | null;

/** The one revision of the modern era so far. */
const modernRevision = '2026-07-28';

/** How long the end of a session may take, in milliseconds; a server that is stuck keeps its session. */
const closeTimeoutMs = 2000;

/** The SDK's own limit per request is 60 s; the signal is the only limit here, so its timer is set out of the way. */
const sdkTimeoutMs = 2 ** 31 - 1;

/** A server may ask for its stream to be opened again at once, without end. */
const minReconnectDelayMs = 100;

/** Pages of one list. A server whose list goes on beyond them is taken for one whose list never ends. */
const listMaxPages = 1000;

/**
 * Opens a session with the target and completes the handshake. With `auto`, `initialize` comes first and 2026-07-28 second, in
 * the order in which a server is asked when it is started.
 *
 * No capability is advertised, so the SDK refuses what a server asks of its client: sampling, elicitation and roots.
 *
 * @throws the SDK's or fetch's error when there is no handshake, {ExcessError} when the server crosses a limit, or the signal's reason.
 */
export async function openSession(
  target: Target,
  { clock, signal, budget = createIterationBudget() }: { clock: Clock; signal: AbortSignal; budget?: TrafficBudget },
): Promise<Session> {
  if (target.protocol !== 'auto') return await openSessionAs(target.protocol, target, { clock, signal, budget });
  try {
    return await openSessionAs('legacy', target, { clock, signal, budget });
  } catch (error) {
    if (signal.aborted || budget.signal.aborted || isNetworkFailure(error)) throw error;
    return await openSessionAs('modern', target, { clock, signal, budget }).catch(() => {
      signal.throwIfAborted();
      budget.signal.throwIfAborted();
      throw error;
    });
  }
}

/** What a server may send in one iteration, over all sessions of it. */
export function createIterationBudget(): TrafficBudget {
  return createTrafficBudget(iterationLimits, 'for one iteration');
}

/** Whether no response came. Fetch reports that as a TypeError, which the SDK wraps while it negotiates. */
export function isNetworkFailure(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && isNetworkFailure(error.cause));
}

async function openSessionAs(
  era: 'legacy' | 'modern',
  target: Target,
  { clock, signal, budget }: { clock: Clock; signal: AbortSignal; budget: TrafficBudget },
): Promise<Session> {
  signal.throwIfAborted();
  const closed = new AbortController();
  const transport = new StreamableHTTPClientTransport(new URL(target.url), {
    fetch: createFetch(budget),
    reconnectionScheduler: (reconnect, delayMs) => {
      const wait = clock.sleep(Math.max(delayMs, minReconnectDelayMs), { signal: closed.signal });
      wait.then(reconnect, () => {});
    },
    ...(target.headers !== undefined && { requestInit: { headers: target.headers } }),
  });
  const client = new Client(generator, {
    capabilities: {},
    listMaxPages,
    versionNegotiation: { mode: era === 'modern' ? { pin: modernRevision } : era },
  });
  const limits = { timeout: sdkTimeoutMs };
  try {
    await raceSignals(client.connect(transport, { ...limits, signal }), [signal, budget.signal]);
  } catch (error) {
    closed.abort('closed');
    await client.close();
    throw error;
  }
  const traffic = watchTraffic(transport);
  const server = client.getServerVersion();
  return {
    get id() {
      return transport.sessionId;
    },
    protocol: era,
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    server: server === undefined ? null : { name: server.name, version: server.version },
    get excess() {
      return budget.excess;
    },
    callTool: (toolName, args, { signal, traceParent }) => {
      const meta = traceParent === undefined ? {} : { _meta: { traceparent: traceParent } };
      const call = { name: toolName, arguments: args, ...meta };
      const answer = Promise.race([client.callTool(call, { ...limits, signal }), traffic.lost]);
      return raceSignals(answer, [signal, budget.signal]);
    },
    listTools: async ({ signal }) => {
      if (client.getServerCapabilities()?.tools === undefined) return null;
      const listing = client.listTools(undefined, { ...limits, signal, cacheMode: 'bypass' });
      const { tools } = await raceSignals(Promise.race([listing, traffic.lost]), [signal, budget.signal]);
      return new Map(
        tools.map(({ name, outputSchema, annotations }) => [
          name,
          { outputSchema: outputSchema ?? null, isReadOnly: annotations?.readOnlyHint === true },
        ]),
      );
    },
    [Symbol.asyncDispose]: async () => {
      const stop = new AbortController();
      const goodbye = traffic.waitForNotifications().then(() => transport.terminateSession());
      await Promise.race([
        // A session that cannot be ended is the server's to reap; the iteration is judged already.
        goodbye.catch(() => {}),
        clock.sleep(closeTimeoutMs, { signal: stop.signal }).catch(() => {}),
      ]);
      stop.abort('ended');
      closed.abort('closed');
      await client.close();
    },
  };
}

/** Settles with the promise, or rejects with the own reason of the first signal that aborts. */
async function raceSignals<T>(promise: Promise<T>, signals: readonly AbortSignal[]): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const stop = new AbortController();
  for (const signal of signals) {
    const onAbort = () => aborted.reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true, signal: stop.signal });
  }
  try {
    return await Promise.race([promise, aborted.promise]);
  } catch (error) {
    // The SDK rejects with a wrapped reason of its own, and may do so first.
    for (const signal of signals) signal.throwIfAborted();
    throw error;
  } finally {
    stop.abort('settled');
  }
}
