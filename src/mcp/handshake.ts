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

/** The most pages of one list. A longer list counts as endless. */
const listMaxPages = 1000;

/** The most requests for input before a server answers one call. Scripts are shorter, and a server could ask without end. */
const maxInputRounds = 100;

/**
 * The longest wait for the stream that a client opens after the handshake, in milliseconds. Some servers send the headers of that stream
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
 * Makes a client and completes the handshake of one era over HTTP. Closes the client if the handshake fails. With a `stream`, it also
 * waits for the stream: a server built with the official SDK sends its requests over it, and drops them before the stream is open.
 *
 * It announces the abilities that have functions, and tasks, and refuses every other request of the server. In the legacy era, a client
 * that calls tools as tasks announces nothing for them; but it announces that it runs the requests of its server as tasks, which requires
 * a prepared transport (`runTasksForServer`).
 *
 * @throws the SDK's or fetch's error if the handshake fails, {ExcessError} if the server crosses a limit, or the signal's reason
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
