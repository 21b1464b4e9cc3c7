import type { Clock } from '../../../../src/base/time.ts';
import {
  type ServerChanges,
  type ServerContent,
  serverContentSchema,
  serverOperations,
} from '../../../../src/service/operations/servers.ts';
import { ApiError, invalid } from '../envelope.ts';
import { createId } from '../../../../src/base/ids.ts';
import { requireServer } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import type { RelayEdge } from '../../../../src/tunnel/relay/edge.ts';
import { parseBody } from '../request.ts';
import type { Store } from '../store/open-store.ts';
import type { ServerRecord } from '../store/server-store.ts';

const idPattern = /^[\w-]{1,128}$/;

/** Serves the records of servers. They are only stored; runs connect to the servers. */
export function serveServers(
  serve: ServeOperation,
  { store, clock, relay }: { store: Store; clock: Clock; relay: Pick<RelayEdge, 'revoke'> },
): void {
  /** @throws {ApiError} CONFLICT if another server of the project has the name. */
  const requireFreeName = (projectId: string, name: string, ownId?: string): void => {
    const holder = store.servers.getByName(projectId, name);
    if (holder === undefined || holder.id === ownId) return;
    throw new ApiError('CONFLICT', `The project has a server named ${JSON.stringify(name)} already.`);
  };

  serve(serverOperations.listProjectServers, ({ ids }) => ({
    items: store.servers.list(ids.projectId).map(renderServer),
  }));

  serve(serverOperations.createProjectServer, ({ ids: { projectId }, body: content }) => {
    requireFreeName(projectId, content.name);
    const server = { id: createId('srv'), projectId, content, now: clock.now() };
    store.servers.insert(server);
    return renderServer({ ...server, createdAt: server.now, updatedAt: server.now });
  });

  serve(serverOperations.getProjectServer, ({ ids: { projectId, serverId } }) => {
    // The API lists this refusal only for reading a server; in other operations, such an id is not found.
    if (!idPattern.test(serverId)) throw invalid('serverId: Expected 1 to 128 of A-Z, a-z, 0-9, _ and -');
    return renderServer(requireServer(store, projectId, serverId));
  });

  serve(serverOperations.updateProjectServer, ({ ids, body }) => {
    const before = requireServer(store, ids.projectId, ids.serverId);
    const content = parseBody(changeServerContent(before.content, body), serverContentSchema);
    requireFreeName(ids.projectId, content.name, before.id);
    const now = clock.now();
    store.servers.update({ id: before.id, content, now });
    return renderServer({ ...before, content, updatedAt: now });
  });

  serve(serverOperations.deleteProjectServer, ({ ids }) => {
    const server = requireServer(store, ids.projectId, ids.serverId);
    const now = clock.now();
    store.transact(() => {
      store.servers.delete(server, now);
      store.documents.deleteOf(server.id);
    });
    relay.revoke(server.id);
    return { id: server.id, deleted: true as const };
  });
}

/** Renders a server record without headers, arguments, environment and client secret. */
function renderServer({ id, projectId, content, createdAt, updatedAt }: ServerRecord) {
  const { name, enabled, transportType, url, useOAuth, oauthScopes, clientSecret } = content;
  return {
    id,
    projectId,
    name,
    enabled,
    transportType,
    url: transportType === 'stdio' ? null : (url ?? null),
    useOAuth: useOAuth ?? false,
    hasClientSecret: clientSecret !== undefined,
    ...(oauthScopes === undefined ? {} : { oauthScopes }),
    createdAt,
    updatedAt,
  };
}

/** Applies a write to a server record. */
function changeServerContent(before: ServerContent, changes: ServerChanges): ServerContent {
  const { clearClientSecret, clearXaaConfig, ...fields } = changes;
  const after: ServerContent = { ...before, ...fields };
  if (clearClientSecret === true) delete after.clientSecret;
  if (clearXaaConfig === true) {
    for (const key of xaaKeys) delete after[key];
  }
  return after;
}

const xaaKeys = [
  'useXaa',
  'xaaAuthzIssuer',
  'xaaAllowPathScopedIssuer',
  'xaaSubject',
  'xaaEmail',
  'xaaIdentityAssertionFormat',
  'xaaClientAuth',
] as const;
