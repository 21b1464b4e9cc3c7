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
import { createTransport, endSession } from './transport.ts';

const retryDelayMs = 100;

/** A server that accepts a connection and says nothing is asked again; some listen before they can answer. */
const attemptTimeoutMs = 10_000;

/** The longest timer there is: the SDK has no clock but the machine's, so that another limit holds. */
const noSdkTimeoutMs = 2 ** 31 - 1;

/** What one attempt may be answered with: a handshake is short, and its server may not be one of MCP. */
const attemptLimits = {
  bytes: 4 * 1024 * 1024,
  events: 1000,
  values: 100_000,
  structures: 100_000,
  depth: 1000,
  requests: 20,
};

/** What the last response of a failed handshake was. */
export interface LastResponse {
  status: number;
  /** Where a redirect leads, as the server wrote it; null for other responses. */
  location: string | null;
  /** What the server asks for, as it wrote it; null where it does not say. */
  wwwAuthenticate: string | null;
}

/** A handshake over HTTP that failed. The message says why in a few words, and never quotes a whole page. */
export class HandshakeError extends Error {
  /** Null where nothing answered. */
  readonly response: LastResponse | null;
  /** The revisions that the server offers instead of the one that was asked for; null where it failed for another reason. */
  readonly offered: readonly string[] | null;

  constructor(message: string, details: { response: LastResponse | null; offered?: readonly string[] | null }) {
    // Without a cause: what the SDK throws quotes whole pages.
    super(message);
    this.response = details.response;
    this.offered = details.offered ?? null;
  }
}

export interface ProbeOptions {
  clock: Clock;
  signal: AbortSignal;
  /** `auto` unless given. */
  protocol?: ProtocolChoice;
  /** Whether it is asked over HTTP+SSE alone. */
  isSse?: boolean | undefined;
  /** Makes the connections; that of all sessions unless given. */
  dispatcher?: Dispatcher;
  /** What lets the requests in; none unless given. */
  access?: ServerAccess | null | undefined;
}

/**
 * Asks the server at `url` to introduce itself until it does, whatever it answers meanwhile. A bare GET would not do: healthy
 * servers answer it with 400. `onFailure` hears why each attempt failed; it ends the wait by throwing. Else only an answer or the
 * signal does.
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
 * Asks the server at `url` once to introduce itself, in the one era and then in the other. One that refuses both as servers of
 * 2024-11-05 do is asked over HTTP+SSE.
 *
 * @throws {HandshakeError} when it does not, or only in a revision that was not asked for.
 * @throws {ServerStartError} when there is no token for it
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
  // Nothing refused the handshake if nothing is there.
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

/** @throws {HandshakeError} when the handshake is in a revision that was not asked for. */
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

/** Says in a few words why a handshake failed: of a response the status and its own message, never a whole page. */
function describeFailure(error: unknown): string {
  if (!(error instanceof SdkHttpError)) return describeNoResponse(error);
  const status = `it answered HTTP ${error.status}`;
  const message = readMessage(error.data['text']);
  return message === undefined ? status : `${status}: ${message}`;
}

/** The message of a JSON-RPC error, or of an API's; undefined where the body is neither. */
function readMessage(body: unknown): string | undefined {
  return errorBodySchema.safeParse(tryParseJson(String(body))).data?.slice(0, longestMessage);
}

/** Resolves with the handshake, or with why there is none; rejects with the signal's reason, or where there is no token. */
async function tryEra(
  url: string,
  era: ProtocolEra,
  { clock, signal, dispatcher, access }: ProbeOptions,
): Promise<Handshake | HandshakeError> {
  let response: LastResponse | null = null;
  let withoutToken: ServerStartError | null = null;
  const budget = createTrafficBudget(attemptLimits, 'for a handshake');
  const send = withAccess(createFetch(budget, dispatcher), access);
  const transport = createTransport(url, era, {
    // The SDK would follow redirects within the origin. The run would not follow them with every request either.
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

/** The revisions of a server that completed a handshake in none that the gate speaks; null where that is not what happened. */
function readOffer(error: unknown): readonly string[] | null {
  if (error instanceof UnsupportedProtocolVersionError) return error.supported;
  // The SDK has no class of its own for this one.
  const [, version] = /protocol version is not supported: (\S{1,100})/.exec(describeError(error)) ?? [];
  return version === undefined ? null : [version];
}
