import { Client, SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { FetchLike } from '@modelcontextprotocol/client';
import { z } from 'zod';

import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { modernVersion, probeClientInfo } from './protocol.ts';
import type { Handshake } from './protocol.ts';

const retryDelayMs = 100;

/** A server that accepts a connection and says nothing is asked again; some listen before they can answer. */
const attemptTimeoutMs = 10_000;

/**
 * Asks the server at `url` to introduce itself until it does, whatever it answers meanwhile. A bare GET would not do: healthy
 * servers answer it with 400. `onFailure` hears why each attempt failed, and the HTTP status if that was why; it ends the wait by
 * throwing. Else only an answer or the signal does.
 */
export async function waitForHttpServer(
  url: string,
  options: {
    clock: Clock;
    signal: AbortSignal;
    onFailure: (reason: string, status: number | null) => void;
    fetch?: FetchLike;
  },
): Promise<Handshake> {
  for (;;) {
    options.signal.throwIfAborted();
    try {
      return await probeHttpServer(url, options);
    } catch (error) {
      options.onFailure(describeProbeFailure(error), error instanceof SdkHttpError ? (error.status ?? null) : null);
    }
    await options.clock.sleep(retryDelayMs, { signal: options.signal });
  }
}

/** Asks the server at `url` once to introduce itself. Rejects with whatever came instead of an answer. */
export async function probeHttpServer(
  url: string,
  options: { signal: AbortSignal; fetch?: FetchLike },
): Promise<Handshake> {
  try {
    return await shakeHands(url, 'legacy', options);
  } catch (error) {
    // Nobody refused the handshake if nobody is there.
    if (!hasAnswered(error)) throw error;
    try {
      return await shakeHands(url, { pin: modernVersion }, options);
    } catch {
      throw error;
    }
  }
}

/** Says in a few words why a handshake failed: of an answer the status and its own message, never a whole page. */
export function describeProbeFailure(error: unknown): string {
  if (!(error instanceof SdkHttpError)) return describeError(error);
  const status = `it answered HTTP ${error.status}`;
  const message = readMessage(error.data['text']);
  return message === undefined ? status : `${status}: ${message}`;
}

const longestMessage = 200;
const messageSchema = z.string().min(1);
const errorBodySchema = z.union([
  z.object({ error: z.object({ message: messageSchema }) }).transform(({ error }) => error.message),
  z.object({ message: messageSchema }).transform(({ message }) => message),
]);

/** The message of a JSON-RPC error, or of an API's; undefined where the body is neither. */
function readMessage(body: unknown): string | undefined {
  try {
    return errorBodySchema.parse(JSON.parse(String(body))).slice(0, longestMessage);
  } catch {
    return undefined;
  }
}

async function shakeHands(
  url: string,
  mode: 'legacy' | { pin: string },
  { signal, fetch }: { signal: AbortSignal; fetch?: FetchLike },
): Promise<Handshake> {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { redirect: 'error' },
    ...(fetch === undefined ? {} : { fetch }),
  });
  const client = new Client(probeClientInfo, { versionNegotiation: { mode } });
  try {
    await client.connect(transport, { signal, timeout: attemptTimeoutMs });
    const server = client.getServerVersion();
    const protocol = mode === 'legacy' ? 'legacy' : 'modern';
    const protocolVersion = client.getNegotiatedProtocolVersion() ?? modernVersion;
    if (protocol === 'legacy') await transport.terminateSession().catch(() => {});
    return { protocol, protocolVersion, name: server?.name ?? null, version: server?.version ?? null };
  } finally {
    await client.close();
  }
}

/** Whether the error is the server's own answer, as opposed to none. */
function hasAnswered(error: unknown): boolean {
  return error instanceof SdkHttpError || (error instanceof Error && 'code' in error && typeof error.code === 'number');
}
