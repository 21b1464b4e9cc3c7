import { createServer } from 'node:http';
import { once } from 'node:events';
import { createId } from '../../base/ids.ts';
import type { Clock } from '../../base/time.ts';
import { Secret } from '../../base/redaction.ts';
import { agentPath, createRelayEdge } from '../../tunnel/relay/edge.ts';
import { defaultRelayLimits } from '../../tunnel/relay/relay-limits.ts';
import { relayPath } from '../../tunnel/target.ts';
import type { TunnelGrants } from './job-tunnel.ts';

/** Grants tunnels through a relay of this process, on the loopback interface. */
export async function openLocalRelay(clock: Clock): Promise<AsyncDisposable & { grants: TunnelGrants }> {
  const relay = createRelayEdge({ clock, limits: defaultRelayLimits });
  const server = createServer((request, response) => {
    if (!relay.serve({ request, response })) response.writeHead(404).end();
  });
  server.on('upgrade', (request, stream, head) => relay.upgrade(request, stream, head));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  /** The grants by the name of their server's record. */
  const granted = new Map<string, { id: string; version: number }>();
  return {
    grants: {
      subprotocol: 'svc-tunnel.v1',
      create: async (name) => {
        const before = granted.get(name);
        const grant = relay.issue(before?.id ?? createId('srv'), before?.version ?? 0);
        const { serverId, slug, secret, connectToken, connectTokenExpiresAt, secretVersion } = grant;
        granted.set(name, { id: serverId, version: secretVersion });
        const url = new Secret(`http://${host}${relayPath}${serverId}?k=${secret.reveal()}`);
        return {
          serverId,
          name,
          existed: before !== undefined,
          previousUrl: null,
          previousTransportType: null,
          slug,
          url,
          connectToken,
          connectTokenExpiresAtMs: connectTokenExpiresAt,
          relayWsUrl: `ws://${host}${agentPath}`,
          secretVersion,
          secrets: [url, connectToken, secret],
        };
      },
      clear: async ({ serverId }) => {
        if (serverId !== null) relay.revoke(serverId);
      },
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      relay[Symbol.dispose]();
      server.closeAllConnections();
      await closed;
    },
  };
}
