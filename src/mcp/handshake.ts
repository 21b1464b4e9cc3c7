import { Client, type Transport } from '@modelcontextprotocol/client';
import { type Clock, race } from '../base/time.ts';
import { generator } from '../base/version.ts';
import { announce, answerRequests, type ClientAbilities } from './abilities.ts';
import {
  type OpenProgress,
  receiveNotifications,
  requestNotifications,
  type Watch,
  watchNothing,
} from './notifications.ts';
import { announceTasks } from './client-tasks.ts';
import { type Handshake, modernVersion, type ProtocolEra } from './protocol.ts';
import { tasksExtension } from './tasks.ts';
import type { TrafficBudget } from './traffic-budget.ts';

/** Pages of one list. A server whose list goes on beyond them is taken for one whose list never ends. */
const listMaxPages = 1000;

/** How often a server may ask for input before it answers one call; scripts are shorter, and a server could ask without end. */
const maxInputRounds = 100;

/**
 * How long a client waits for the stream that it opens after the handshake, in milliseconds. Some servers send the headers of that stream
 * only with its first event.
 */
const streamTimeoutMs = 500;

/** A client after its handshake. */
export interface ConnectedClient {
  client: Client;
  handshake: Handshake;
  openProgress: OpenProgress;
}

/**
 * Makes a client and completes the handshake of one era over HTTP. A client that has no handshake is closed. With a `stream`, it waits for
 * that as well: a server built with the official SDK asks its client over it, and drops what it asks before the stream is open.
 *
 * It announces the abilities that it has functions for, and tasks, and refuses what else a server asks of it. In the older revision, a
 * client that calls tools as tasks announces nothing for them; it announces that it runs the requests of its server as tasks, for which
 * the transport has to be prepared (`runTasksForServer`).
 *
 * @throws the SDK's or fetch's error when there is no handshake, {ExcessError} when the server crosses a limit,
 *   or the signal's reason
 */
export async function connectClient(
  transport: Transport,
  era: ProtocolEra,
  {
    signal,
    budget,
    timeoutMs,
    watch = watchNothing,
    abilities = {},
    stream = null,
  }: {
    signal: AbortSignal;
    budget: TrafficBudget;
    timeoutMs: number;
    watch?: Watch;
    abilities?: ClientAbilities;
    stream?: { opened: Promise<void>; clock: Clock } | null;
  },
): Promise<ConnectedClient> {
  const extensions = {
    ...(era === 'modern' && { [tasksExtension]: {} }),
    ...(watch.apps && { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } }),
  };
  const client = new Client(generator, {
    capabilities: {
      ...announce(abilities),
      ...(era !== 'modern' && announceTasks(abilities)),
      ...(Object.keys(extensions).length > 0 && { extensions }),
    },
    inputRequired: { maxRounds: maxInputRounds },
    listMaxPages,
    versionNegotiation: { mode: era === 'modern' ? { pin: modernVersion } : 'legacy' },
  });
  const openProgress = receiveNotifications(client, watch);
  answerRequests(client, abilities);
  try {
    const connecting = client
      .connect(transport, { signal, timeout: timeoutMs })
      .then(() => requestNotifications(client, era, { ...watch, signal, timeoutMs }));
    const signals = [signal, budget.signal];
    await race(connecting, { signals });
    if (stream !== null) {
      const timeout = { clock: stream.clock, afterMs: streamTimeoutMs, onTimeout: () => {} };
      await race(stream.opened, { signals, timeout });
    }
  } catch (error) {
    await client.close();
    throw error;
  }
  const server = client.getServerVersion();
  const protocolVersion = client.getNegotiatedProtocolVersion() ?? (era === 'modern' ? modernVersion : '');
  const handshake = { protocol: era, protocolVersion, name: server?.name ?? null, version: server?.version ?? null };
  return { client, handshake, openProgress };
}
