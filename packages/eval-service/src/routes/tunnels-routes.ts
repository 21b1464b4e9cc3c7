import { z } from 'zod';
import type { Clock } from '../../../../src/base/time.ts';
import { tunnelOperations } from '../../../../src/service/operations/tunnels.ts';
import { relayPath } from '../../../../src/tunnel/target.ts';
import type { ServerContent } from '../../../../src/service/operations/servers.ts';
import { createId } from '../../../../src/base/ids.ts';
import { requireServer } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { agentPath, type RelayEdge } from '../../../../src/tunnel/relay/edge.ts';
import type { Store } from '../store/open-store.ts';

/** Serves tunnels to servers of a project. The name of the server's record identifies a tunnel. */
export function serveTunnels(
  serve: ServeOperation,
  { store, clock, relay }: { store: Store; clock: Clock; relay: Pick<RelayEdge, 'issue' | 'revoke'> },
): void {
  /** The number of grants of each server so far. The grants themselves end with the process. */
  const counts = store.documents.open('tunnel', z.object({ secretVersion: z.number() }));

  serve(tunnelOperations.createTunnel, ({ ids: { projectId }, body: { name }, request }) => {
    const before = store.servers.getByName(projectId, name);
    const counted = before && counts.get(projectId, before.id);
    const grant = relay.issue(before?.id ?? createId('srv'), counted?.content.secretVersion ?? 0);
    const { serverId, slug, secret, connectToken, connectTokenExpiresAt, secretVersion } = grant;
    const { origin, host } = new URL(request.url);
    const url = `${origin}${relayPath}${serverId}?k=${secret.reveal()}`;
    const content: ServerContent = { ...before?.content, name, enabled: true, transportType: 'http', url };
    try {
      const count = { id: serverId, content: { secretVersion }, now: clock.now() };
      store.transact(() => {
        if (before === undefined) store.servers.insert({ id: serverId, projectId, content, now: clock.now() });
        else store.servers.update({ id: serverId, content, now: clock.now() });
        if (counted === undefined) counts.insert({ ...count, projectId, parentId: serverId });
        else counts.update(count);
      });
    } catch (error) {
      // A grant without a record could never be closed.
      relay.revoke(serverId);
      throw error;
    }
    return {
      serverId,
      name,
      existed: before !== undefined,
      ...(before === undefined ? {} : describeBefore(before.content, url)),
      slug,
      url,
      connectToken: connectToken.reveal(),
      connectTokenExpiresAt,
      relayWsUrl: `ws://${host}${agentPath}`,
      secretVersion,
    };
  });

  serve(tunnelOperations.closeTunnel, ({ ids }) => {
    const { id: serverId } = requireServer(store, ids.projectId, ids.serverId);
    relay.revoke(serverId);
    return { serverId, status: 'closed' as const };
  });
}

/** Describes the previous record. A new secret of the same tunnel does not count as a new URL. */
function describeBefore({ transportType, url }: ServerContent, nextUrl: string) {
  const isOther = url !== undefined && dropQuery(url) !== dropQuery(nextUrl);
  return { ...(isOther ? { previousUrl: url } : {}), previousTransportType: transportType };
}

function dropQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
