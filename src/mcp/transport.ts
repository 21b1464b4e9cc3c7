import {
  type FetchLike,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/client';
import type { ProtocolEra } from './protocol.ts';

type HttpTransport = SSEClientTransport | StreamableHTTPClientTransport;

/**
 * Makes the transport of an era over HTTP. Over HTTP+SSE, the SDK refuses an announced endpoint on another origin. If the server refuses
 * a message, the error is the same as over streamable HTTP.
 */
export function createTransport(
  url: string,
  era: ProtocolEra,
  options: StreamableHTTPClientTransportOptions & { fetch: FetchLike },
): HttpTransport {
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
export function watchStream(fetch: FetchLike): { fetch: FetchLike; opened: Promise<void> } {
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

/** Ends the session on the server, too. Over HTTP+SSE it lasts as long as its stream. */
export async function endSession(transport: HttpTransport): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
}
