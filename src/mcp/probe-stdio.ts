import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { generator } from '../base/version.ts';
import type { JsonObject } from '../base/json.ts';
import type { ProtocolChoice } from '../model/protocol.ts';
import {
  type Handshake,
  isWanted,
  latestLegacyVersion,
  listEras,
  modernVersion,
  type ProtocolEra,
} from './protocol.ts';

/** A server on stdio that no client has initialized yet. */
export interface StdioPeer {
  /** Resolves with the response to the request; does not settle while the server is silent. */
  request(method: string, params: JsonObject): Promise<StdioResponse>;
  notify(method: string, params: JsonObject): Promise<void>;
}

export interface StdioResponse {
  /** Undefined for an error. */
  result: unknown;
  isError: boolean;
  /** The message as the server sent it. */
  text: string;
}

const serverInfoSchema = z.object({ name: z.string(), version: z.string() }).partial().catch({});
const initializeResultSchema = z.object({ protocolVersion: z.string(), serverInfo: serverInfoSchema });
const discoverResultSchema = z.object({
  supportedVersions: z.array(z.string()),
  _meta: z.object({ [SERVER_INFO_META_KEY]: serverInfoSchema }).catch({ [SERVER_INFO_META_KEY]: {} }),
});

/** The outcome of a handshake with a server on stdio. `offered`: the handshake succeeded, but in none of the wanted revisions. */
export type StdioProbe =
  | { ok: true; handshake: Handshake }
  | { ok: false; answer: string }
  | { ok: false; offered: readonly string[] };

/** The answer to one request. */
type Answer = Handshake | { offered: readonly string[] } | { text: string; isRefusal: boolean };

/**
 * Sends `initialize` to a fresh server and, if it refuses that, `server/discover`; in the reverse order if 2026-07-28 is wanted. Resolves
 * with the answer. It does not settle while the server is silent, so callers have to watch the clock and the process. The client announces
 * `capabilities`, none by default.
 */
export async function probeStdio(
  peer: StdioPeer,
  choice: ProtocolChoice,
  capabilities: ClientCapabilities = {},
): Promise<StdioProbe> {
  const [first, second] = listEras(choice);
  const answer = await askAs[first](peer, capabilities);
  if ('protocol' in answer) return judge(answer, choice);
  if ('offered' in answer) return { ok: false, offered: answer.offered };
  if (!answer.isRefusal) return { ok: false, answer: answer.text };
  const other = await askAs[second](peer, capabilities);
  if ('protocol' in other) return judge(other, choice);
  return 'offered' in other ? { ok: false, offered: other.offered } : { ok: false, answer: answer.text };
}

function judge(handshake: Handshake, choice: ProtocolChoice): StdioProbe {
  return isWanted(handshake, choice) ? { ok: true, handshake } : { ok: false, offered: [handshake.protocolVersion] };
}

const askAs: Record<
  Exclude<ProtocolEra, 'sse'>,
  (peer: StdioPeer, capabilities: ClientCapabilities) => Promise<Answer>
> = {
  legacy: async (peer, capabilities) => {
    const { result, isError, text } = await peer.request('initialize', {
      protocolVersion: latestLegacyVersion,
      capabilities,
      clientInfo: generator,
    });
    const parsed = initializeResultSchema.safeParse(result);
    if (!parsed.success) return { text, isRefusal: isError };
    await peer.notify('notifications/initialized', {});
    const { protocolVersion, serverInfo } = parsed.data;
    return { protocol: 'legacy', protocolVersion, ...nameServer(serverInfo) };
  },
  modern: async (peer, capabilities) => {
    const { result, isError, text } = await peer.request('server/discover', {
      _meta: describeModernClient(capabilities),
    });
    const parsed = discoverResultSchema.safeParse(result);
    if (!parsed.success) return { text, isRefusal: isError };
    const { supportedVersions, _meta: meta } = parsed.data;
    if (!supportedVersions.includes(modernVersion)) return { offered: supportedVersions };
    return { protocol: 'modern', protocolVersion: modernVersion, ...nameServer(meta[SERVER_INFO_META_KEY]) };
  },
};

/** The `_meta` of each request of 2026-07-28. */
export function describeModernClient(capabilities: ClientCapabilities = {}): JsonObject {
  return {
    [PROTOCOL_VERSION_META_KEY]: modernVersion,
    [CLIENT_INFO_META_KEY]: generator,
    [CLIENT_CAPABILITIES_META_KEY]: capabilities,
  };
}

function nameServer(info: { name?: string | undefined; version?: string | undefined }) {
  return { name: info.name ?? null, version: info.version ?? null };
}
