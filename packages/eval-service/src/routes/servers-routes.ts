import type { ServerChanges, ServerContent } from '../../../../src/service/operations/servers.ts';
import { Hono } from 'hono';
import type { ApiEnv } from '../callers.ts';
import type { Clock } from '../../../../src/base/time.ts';
import { serverContentSchema, serverOperations } from '../../../../src/service/operations/servers.ts';
import { ApiError, invalid } from '../envelope.ts';
import { createId } from '../../../../src/base/ids.ts';
import { requireProject, requireServer } from '../lookup.ts';
import type { RelayEdge } from '../../../../src/tunnel/relay/edge.ts';
import { type BodyReader, parseBody } from '../request.ts';
import type { Store } from '../store/open-store.ts';
import type { ServerRecord } from '../store/server-store.ts';

const list = '/projects/:projectId/servers';
const one = `${list}/:serverId`;
const idPattern = /^[\w-]{1,128}$/;

/** Creates the routes for server records. They only store the records; runs connect to the servers. */
export function createServerRoutes({
  store,
  clock,
  readBody,
  relay,
}: {
  store: Store;
  clock: Clock;
  readBody: BodyReader;
  relay: Pick<RelayEdge, 'revoke'>;
}): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  /** @throws {ApiError} CONFLICT if another server of the project has the name. */
  const requireFreeName = (projectId: string, name: string, ownId?: string): void => {
    const holder = store.servers.getByName(projectId, name);
    if (holder === undefined || holder.id === ownId) return;
    throw new ApiError('CONFLICT', `The project has a server named ${JSON.stringify(name)} already.`);
  };

  routes.get(list, (c) => {
    const project = requireProject(store, c.req.param('projectId'));
    return c.json({ items: store.servers.list(project.id).map(renderServer) });
  });

  routes.post(list, async (c) => {
    const projectId = requireProject(store, c.req.param('projectId')).id;
    const content = await readBody(c, serverOperations.createProjectServer.body);
    requireFreeName(projectId, content.name);
    const server = { id: createId('srv'), projectId, content, now: clock.now() };
    store.servers.insert(server);
    return c.json(renderServer({ ...server, createdAt: server.now, updatedAt: server.now }), 201);
  });

  routes.get(one, (c) => {
    const project = requireProject(store, c.req.param('projectId'));
    const serverId = c.req.param('serverId');
    // The API lists this refusal only for reading a server; in other operations, such an id is not found.
    if (!idPattern.test(serverId)) throw invalid('serverId: Expected 1 to 128 of A-Z, a-z, 0-9, _ and -');
    return c.json(renderServer(requireServer(store, project.id, serverId)));
  });

  routes.patch(one, async (c) => {
    const project = requireProject(store, c.req.param('projectId'));
    const before = requireServer(store, project.id, c.req.param('serverId'));
    const changes = await readBody(c, serverOperations.updateProjectServer.body);
    const content = parseBody(changeServerContent(before.content, changes), serverContentSchema);
    requireFreeName(project.id, content.name, before.id);
    const now = clock.now();
    store.servers.update({ id: before.id, content, now });
    return c.json(renderServer({ ...before, content, updatedAt: now }));
  });

  routes.delete(one, async (c) => {
    const project = requireProject(store, c.req.param('projectId'));
    const server = requireServer(store, project.id, c.req.param('serverId'));
    await readBody(c, serverOperations.deleteProjectServer.body);
    const now = clock.now();
    store.transact(() => {
      store.servers.delete(server, now);
      store.documents.deleteOf(server.id);
    });
    relay.revoke(server.id);
    return c.json({ id: server.id, deleted: true });
  });
  return routes;
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
