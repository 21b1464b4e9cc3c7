import {
  type FetchLike,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Clock } from '../base/time.ts';
import { type ServerAccess, withAccess } from './access.ts';
import { createChannelTransport, type ServerChannel } from './channel.ts';
import { createFetch } from './fetch.ts';
import type { ProtocolEra } from './protocol.ts';
import type { TrafficBudget } from './traffic-budget.ts';

/** How clients reach a server: at a URL, or through pipes that this process holds. */
export type Endpoint = { url: string; channel?: never } | { url?: never; channel: ServerChannel };

/** A server may ask the client to reopen its stream immediately, again and again. */
const minReconnectDelayMs = 100;

interface TransportOptions {
  clock: Clock;
  /** Aborts when the session is over. */
  closed: AbortSignal;
  budget: TrafficBudget;
  followsRedirects: boolean;
}

/**
 * Makes the transport of a session. `opened` resolves when the server has answered the request for the stream of its own messages,
 * whatever the answer is; null if there is no such request.
 */
export function openTransport(
  target: Endpoint & { headers?: Record<string, string>; access?: ServerAccess | null | undefined },
  era: ProtocolEra,
  { clock, closed, budget, followsRedirects }: TransportOptions,
): { transport: Transport; opened: Promise<void> | null } {
  const { url, channel, headers, access } = target;
  if (channel !== undefined) return { transport: createChannelTransport(channel, budget), opened: null };
  const { fetch, opened } = watchStream(withAccess(createFetch(budget), access));
  const transport = createHttpTransport(url, era, {
    fetch,
    reconnectionScheduler: (reconnect, delayMs) => {
      const wait = clock.sleep(Math.max(delayMs, minReconnectDelayMs), { signal: closed });
      wait.then(reconnect, () => {});
    },
    requestInit: {
      ...(headers !== undefined && { headers }),
      // Otherwise the SDK would follow redirects within the origin.
      ...((access != null || !followsRedirects) && { redirect: 'manual' }),
    },
  });
  return { transport, opened };
}

/**
 * Makes the transport of an era over HTTP. Over HTTP+SSE, the SDK refuses an announced endpoint on another origin. If the server refuses
 * a message, the error is the same as over streamable HTTP.
 */
export function createHttpTransport(
  url: string,
  era: ProtocolEra,
  options: StreamableHTTPClientTransportOptions & { fetch: FetchLike },
): Transport {
  if (era !== 'sse') return new StreamableHTTPClientTransport(new URL(url), options);
  const { fetch, requestInit } = options;
  return new SSEClientTransport(new URL(url), {
    ...(requestInit !== undefined && { requestInit }),
    fetch: async (target, init) => {
      const response = await fetch(target, init);
      if (init?.method !== 'POST' || response.ok) return response;
      const { status, statusText } = response;
      const details = { status, statusText, text: await response.text() };
      throw new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `HTTP ${status}`, details);
    },
  });
}

/** Wraps a fetch. `opened` resolves when the server has answered the first GET, whatever the answer is. */
function watchStream(fetch: FetchLike): { fetch: FetchLike; opened: Promise<void> } {
  const { promise: opened, resolve } = Promise.withResolvers<void>();
  return {
    opened,
    fetch: async (url, init) => {
      try {
        return await fetch(url, init);
      } finally {
        if (init?.method === 'GET') resolve();
      }
    },
  };
}

/** Ends the session on the server, too. Except over streamable HTTP, it lasts as long as the transport is open. */
export async function endSession(transport: Transport): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
}
