import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/client';
import * as z from 'zod';

import type { ProtocolChoice } from '../model/protocol.ts';
import type { ProcessChild } from './bridge/child.ts';
import { createNotification, createRequest } from './bridge/messages.ts';
import type { RequestMessage, ResponseMessage } from './bridge/messages.ts';
import { isWanted, latestLegacyVersion, listEras, modernVersion, probeClientInfo } from './protocol.ts';
import type { Handshake, ProtocolEra } from './protocol.ts';

const serverInfoSchema = z.object({ name: z.string(), version: z.string() }).partial().catch({});
const initializeResultSchema = z.object({ protocolVersion: z.string(), serverInfo: serverInfoSchema });
const discoverResultSchema = z.object({
  supportedVersions: z.array(z.string()),
  _meta: z.object({ [SERVER_INFO_META_KEY]: serverInfoSchema }).catch({ [SERVER_INFO_META_KEY]: {} }),
});

/** The outcome of a handshake with a server on stdio; `offered`: a handshake, in none of the wanted revisions. */
export type StdioProbe =
  | { ok: true; handshake: Handshake }
  | { ok: false; answer: string }
  | { ok: false; offered: readonly string[] };

/** What one question was answered with. */
type Answer = Handshake | { offered: readonly string[] } | { text: string; isRefusal: boolean };

/**
 * Asks a fresh server to `initialize` and, where it refuses that, to `server/discover` itself; the other way round where
 * 2026-07-28 is wanted. Resolves with what it answered; never while it is silent, so callers watch the clock and the process.
 */
export async function probeStdio(child: ProcessChild, choice: ProtocolChoice): Promise<StdioProbe> {
  const [first, second] = listEras(choice);
  const answer = await askAs[first](child);
  if ('protocol' in answer) return judge(answer, choice);
  if ('offered' in answer) return { ok: false, offered: answer.offered };
  if (!answer.isRefusal) return { ok: false, answer: answer.text };
  const other = await askAs[second](child);
  if ('protocol' in other) return judge(other, choice);
  return 'offered' in other ? { ok: false, offered: other.offered } : { ok: false, answer: answer.text };
}

function judge(handshake: Handshake, choice: ProtocolChoice): StdioProbe {
  return isWanted(handshake, choice) ? { ok: true, handshake } : { ok: false, offered: [handshake.protocolVersion] };
}

const askAs: Record<ProtocolEra, (child: ProcessChild) => Promise<Answer>> = {
  legacy: async (child) => {
    const initialize = createRequest('initialize', 'initialize', {
      protocolVersion: latestLegacyVersion,
      capabilities: {},
      clientInfo: probeClientInfo,
    });
    const { result, error, text } = await ask(child, initialize);
    const parsed = initializeResultSchema.safeParse(result);
    if (!parsed.success) return { text, isRefusal: error !== null };
    await child.send(createNotification('notifications/initialized', {}));
    const { protocolVersion, serverInfo } = parsed.data;
    return { protocol: 'legacy', protocolVersion, ...nameServer(serverInfo) };
  },
  modern: async (child) => {
    const discover = createRequest('discover', 'server/discover', {
      _meta: {
        [PROTOCOL_VERSION_META_KEY]: modernVersion,
        [CLIENT_INFO_META_KEY]: probeClientInfo,
        [CLIENT_CAPABILITIES_META_KEY]: {},
      },
    });
    const { result, error, text } = await ask(child, discover);
    const parsed = discoverResultSchema.safeParse(result);
    if (!parsed.success) return { text, isRefusal: error !== null };
    const { supportedVersions, _meta: meta } = parsed.data;
    if (!supportedVersions.includes(modernVersion)) return { offered: supportedVersions };
    return { protocol: 'modern', protocolVersion: modernVersion, ...nameServer(meta[SERVER_INFO_META_KEY]) };
  },
};

function ask(child: ProcessChild, request: RequestMessage): Promise<ResponseMessage> {
  return new Promise((resolve) => {
    child.setListener({
      onMessage: (message) => {
        if (message.kind === 'response' && message.id === request.id) resolve(message);
        return undefined;
      },
      onExit: () => {},
    });
    void child.send(request);
  });
}

function nameServer(info: { name?: string | undefined; version?: string | undefined }) {
  return { name: info.name ?? null, version: info.version ?? null };
}
