import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/client';
import * as z from 'zod';

import type { ProcessChild } from './bridge/child.ts';
import { createNotification, createRequest } from './bridge/messages.ts';
import type { RequestMessage, ResponseMessage } from './bridge/messages.ts';
import { latestLegacyVersion, modernVersion, probeClientInfo } from './protocol.ts';
import type { Handshake } from './protocol.ts';

const serverInfoSchema = z.object({ name: z.string(), version: z.string() }).partial().catch({});
const initializeResultSchema = z.object({ protocolVersion: z.string(), serverInfo: serverInfoSchema });
const discoverResultSchema = z.object({
  supportedVersions: z.array(z.string()),
  _meta: z.object({ [SERVER_INFO_META_KEY]: serverInfoSchema }).catch({ [SERVER_INFO_META_KEY]: {} }),
});

/** What came of asking a server on stdio who it is. */
export type StdioProbe = { ok: true; handshake: Handshake } | { ok: false; answer: string };

/**
 * Asks a fresh server to `initialize`, and to `server/discover` itself where it refuses that. Resolves with what it answered;
 * never while it is silent, so callers watch the clock and the process.
 */
export async function probeStdio(child: ProcessChild): Promise<StdioProbe> {
  const initialize = createRequest('initialize', 'initialize', {
    protocolVersion: latestLegacyVersion,
    capabilities: {},
    clientInfo: probeClientInfo,
  });
  const initialized = await ask(child, initialize);
  const legacy = initializeResultSchema.safeParse(initialized.result);
  if (legacy.success) {
    await child.send(createNotification('notifications/initialized', {}));
    const { protocolVersion, serverInfo } = legacy.data;
    return { ok: true, handshake: { protocol: 'legacy', protocolVersion, ...nameServer(serverInfo) } };
  }
  if (initialized.error === null) return { ok: false, answer: initialized.text };

  const discover = createRequest('discover', 'server/discover', {
    _meta: {
      [PROTOCOL_VERSION_META_KEY]: modernVersion,
      [CLIENT_INFO_META_KEY]: probeClientInfo,
      [CLIENT_CAPABILITIES_META_KEY]: {},
    },
  });
  const discovered = await ask(child, discover);
  const modern = discoverResultSchema.safeParse(discovered.result);
  if (!modern.success || !modern.data.supportedVersions.includes(modernVersion)) {
    return { ok: false, answer: initialized.text };
  }
  const serverInfo = modern.data._meta[SERVER_INFO_META_KEY];
  return { ok: true, handshake: { protocol: 'modern', protocolVersion: modernVersion, ...nameServer(serverInfo) } };
}

function ask(child: ProcessChild, request: RequestMessage): Promise<ResponseMessage> {
  return new Promise((resolve) => {
    child.setListener({
      onMessage: (message) => {
        if (message.kind === 'response' && message.id === request.id) resolve(message);
      },
      onExit: () => {},
    });
    void child.send(request);
  });
}

function nameServer(info: { name?: string | undefined; version?: string | undefined }) {
  return { name: info.name ?? null, version: info.version ?? null };
}
