import { SdkHttpError, UnsupportedProtocolVersionError } from '@modelcontextprotocol/client';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { describeError, ServerStartError } from '../base/errors.ts';
import { tryParseJson } from '../base/json.ts';
import { type Clock, formatDuration, startTimeLimit } from '../base/time.ts';
import type { ProtocolChoice } from '../model/protocol.ts';
import { type ServerAccess, withAccess } from './access.ts';
import { describeNoResponse } from './faults.ts';
import { createFetch } from './fetch.ts';
import { connectClient } from './handshake.ts';
import { type Handshake, isWanted, listEras, mayBeOldServer, type ProtocolEra } from './protocol.ts';
import { createTrafficBudget } from './traffic-budget.ts';
import { createHttpTransport, endSession } from './transport.ts';

const retryDelayMs = 100;

/** A server that accepts a connection and stays silent is asked again; some listen before they can answer. */
const attemptTimeoutMs = 10_000;

/** The longest possible timer. It turns off the SDK's own limit, which ignores the injected clock. */
const noSdkTimeoutMs = 2 ** 31 - 1;

/** The limits of the answer to one attempt: a handshake is short, and the server may not be an MCP server. */
const attemptLimits = {
  bytes: 4 * 1024 * 1024,
  events: 1000,
  values: 100_000,
  structures: 100_000,
  depth: 1000,
  requests: 20,
};

/** The last response of a failed handshake. */
export interface LastResponse {
  status: number;
  /** The target of a redirect, as the server wrote it; null for other responses. */
  location: string | null;
  /** The `WWW-Authenticate` header, as the server wrote it; null if there is none. */
  wwwAuthenticate: string | null;
}

/** A handshake over HTTP that failed. The message gives the reason in a few words, and never quotes a whole page. */
export class HandshakeError extends Error {
  /** Null if the server did not answer. */
  readonly response: LastResponse | null;
  /** The revisions that the server offers instead of the wanted one; null if the handshake failed for another reason. */
  readonly offered: readonly string[] | null;

  constructor(message: string, details: { response: LastResponse | null; offered?: readonly string[] | null }) {
    // Keeps no cause: the SDK's errors quote whole pages.
    super(message);
    this.response = details.response;
    this.offered = details.offered ?? null;
  }
}

export interface ProbeOptions {
  clock: Clock;
  signal: AbortSignal;
  /** The protocol to ask for; by default `auto`. */
  protocol?: ProtocolChoice;
  /** True if the server is asked over HTTP+SSE only. */
  isSse?: boolean | undefined;
  /** Makes the connections; by default the dispatcher that all sessions share. */
  dispatcher?: Dispatcher;
  /** The access for the requests; none by default. */
  access?: ServerAccess | null | undefined;
}

/**
 * Asks the server at `url` to introduce itself until it does. A bare GET would not suffice: healthy servers answer it with 400.
 * `onFailure` gets the reason of each failed attempt, and may throw to end the wait. Otherwise only an answer or the signal ends it.
 */
export async function waitForHttpServer(
  url: string,
  options: ProbeOptions & { onFailure: (failure: HandshakeError) => void | Promise<void> },
): Promise<Handshake> {
  for (;;) {
    options.signal.throwIfAborted();
    try {
      return await probeHttpServer(url, options);
    } catch (error) {
      if (!(error instanceof HandshakeError)) throw error;
      await options.onFailure(error);
    }
    await options.clock.sleep(retryDelayMs, { signal: options.signal });
  }
}

/**
 * Asks the server at `url` once to introduce itself, in one era and then in the other. If it refuses both as servers of 2024-11-05 do, it
 * is asked over HTTP+SSE.
 *
 * @throws {HandshakeError} if it does not, or only in a revision that is not wanted.
 * @throws {ServerStartError} if there is no token for it
 */
export async function probeHttpServer(url: string, options: ProbeOptions): Promise<Handshake> {
  const { protocol = 'auto', isSse = false } = options;
  if (isSse) {
    const found = await tryEra(url, 'sse', options);
    if (found instanceof HandshakeError) throw found;
    return requireWanted(found, protocol);
  }
  const [first, second] = listEras(protocol);
  const refused = await tryEra(url, first, options);
  if (!(refused instanceof HandshakeError)) return requireWanted(refused, protocol);
  // If nothing answered, another era would not help.
  if (refused.response === null) throw refused;
  const other = await tryEra(url, second, options);
  if (other instanceof HandshakeError) {
    if (other.offered !== null) throw other;
    const old = mayBeOldServer(refused.response.status) ? await tryEra(url, 'sse', options) : refused;
    if (old instanceof HandshakeError) throw refused;
    return requireWanted(old, protocol);
  }
  if (protocol === 'auto') return requireWanted(other, protocol);
  // A server that is just starting may have refused for that reason alone.
  const again = await tryEra(url, first, options);
  return requireWanted(again instanceof HandshakeError ? other : again, protocol);
}

/** @throws {HandshakeError} if the handshake is in a revision that is not wanted. */
function requireWanted(handshake: Handshake, protocol: ProtocolChoice): Handshake {
  if (isWanted(handshake, protocol)) return handshake;
  throw createOfferError([handshake.protocolVersion], null);
}

function createOfferError(offered: readonly string[], response: LastResponse | null): HandshakeError {
  return new HandshakeError(`it offers MCP ${offered.join(', ')}`, { response, offered });
}

const longestMessage = 200;
const messageSchema = z.string().min(1);
const errorBodySchema = z.union([
  z.object({ error: z.object({ message: messageSchema }) }).transform(({ error }) => error.message),
  z.object({ message: messageSchema }).transform(({ message }) => message),
]);

/** Describes in a few words why a handshake failed: the status of a response and its message, never a whole page. */
function describeFailure(error: unknown): string {
  if (!(error instanceof SdkHttpError)) return describeNoResponse(error);
  const status = `it answered HTTP ${error.status}`;
  const message = readMessage(error.data['text']);
  return message === undefined ? status : `${status}: ${message}`;
}

/** Reads the message of a JSON-RPC error, or of an API's; undefined if the body is neither. */
function readMessage(body: unknown): string | undefined {
  return errorBodySchema.safeParse(tryParseJson(String(body))).data?.slice(0, longestMessage);
}

/** Resolves with the handshake, or with the reason why it failed. Rejects with the signal's reason, or if there is no token. */
async function tryEra(
  url: string,
  era: ProtocolEra,
  { clock, signal, dispatcher, access }: ProbeOptions,
): Promise<Handshake | HandshakeError> {
  let response: LastResponse | null = null;
  let withoutToken: ServerStartError | null = null;
  const budget = createTrafficBudget(attemptLimits, 'for a handshake');
  const send = withAccess(createFetch(budget, dispatcher), access);
  const transport = createHttpTransport(url, era, {
    // The SDK would follow redirects within the origin, but a run does not follow them with every request.
    requestInit: { redirect: 'manual' },
    fetch: async (target, init) => {
      const received = await send(target, init).catch((error: unknown) => {
        if (error instanceof ServerStartError) withoutToken = error;
        throw error;
      });
      const { status, headers } = received;
      const location = status >= 300 && status < 400 ? headers.get('location') : null;
      response = { status, location, wwwAuthenticate: headers.get('www-authenticate') };
      return received;
    },
  });
  using limit = startTimeLimit(clock, { afterMs: attemptTimeoutMs, what: 'The handshake', signal });
  try {
    const { client, handshake } = await connectClient(transport, era, {
      signal: limit.signal,
      budget,
      timeoutMs: noSdkTimeoutMs,
    });
    if (era === 'legacy') await endSession(transport).catch(() => {});
    await client.close();
    return handshake;
  } catch (error) {
    signal.throwIfAborted();
    if (withoutToken !== null) throw withoutToken;
    if (budget.excess !== null) {
      const { message } = budget.excess;
      return new HandshakeError(message.replace(/^The server /, 'it ').replace(/\.$/, ''), { response });
    }
    if (limit.signal.aborted) {
      return new HandshakeError(`it did not answer within ${formatDuration(attemptTimeoutMs)}`, { response });
    }
    const offered = readOffer(error);
    if (offered !== null) return createOfferError(offered, response);
    return new HandshakeError(describeFailure(error), { response });
  }
}

/** Reads the revisions of a server that completed a handshake in a revision that the gate does not speak; null for another error. */
function readOffer(error: unknown): readonly string[] | null {
  if (error instanceof UnsupportedProtocolVersionError) return error.supported;
  // The SDK has no class for this error.
  const [, version] = /protocol version is not supported: (\S{1,100})/.exec(describeError(error)) ?? [];
  return version === undefined ? null : [version];
}
