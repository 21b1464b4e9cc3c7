import { Client, type Transport } from '@modelcontextprotocol/client';
import { race } from '../base/time.ts';
import { generator } from '../base/version.ts';
import {
  type OpenProgress,
  receiveNotifications,
  requestNotifications,
  type Watch,
  watchNothing,
} from './notifications.ts';
import { type Handshake, modernVersion, type ProtocolEra } from './protocol.ts';
import { tasksExtension } from './tasks.ts';
import type { TrafficBudget } from './traffic-budget.ts';

/** Pages of one list. A server whose list goes on beyond them is taken for one whose list never ends. */
const listMaxPages = 1000;

/** A client after its handshake. */
export interface ConnectedClient {
  client: Client;
  handshake: Handshake;
  openProgress: OpenProgress;
}

/**
 * Makes a client and completes the handshake of one era over HTTP. A client that has no handshake is closed.
 *
 * Apart from tasks, no capability is advertised, so the SDK refuses what a server asks of its client: sampling, elicitation and
 * roots. In the older revision, a client that calls tools as tasks needs none.
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
  }: { signal: AbortSignal; budget: TrafficBudget; timeoutMs: number; watch?: Watch },
): Promise<ConnectedClient> {
  const client = new Client(generator, {
    capabilities: era === 'modern' ? { extensions: { [tasksExtension]: {} } } : {},
    listMaxPages,
    versionNegotiation: { mode: era === 'modern' ? { pin: modernVersion } : 'legacy' },
  });
  const openProgress = receiveNotifications(client, watch);
  try {
    const connecting = client
      .connect(transport, { signal, timeout: timeoutMs })
      .then(() => requestNotifications(client, era, { ...watch, signal, timeoutMs }));
    await race(connecting, { signals: [signal, budget.signal] });
  } catch (error) {
    await client.close();
    throw error;
  }
  const server = client.getServerVersion();
  const protocolVersion = client.getNegotiatedProtocolVersion() ?? (era === 'modern' ? modernVersion : '');
  const handshake = { protocol: era, protocolVersion, name: server?.name ?? null, version: server?.version ?? null };
  return { client, handshake, openProgress };
}
