import type { CallOptions, ServiceClient } from './client.ts';
import { parseAs } from './parse.ts';
import { deletedSchema, serverPageSchema, serverSchema } from './wire.ts';
import type { WireServer } from './wire.ts';

/** An MCP server to be kept in a project. The API refuses fields it does not know. */
export interface NewServer {
  /** Unique within the project. */
  name: string;
  enabled: boolean;
  transportType: 'http' | 'stdio';
  url?: string;
  headers?: Record<string, string>;
}

interface ServerParams extends CallOptions {
  projectId: string;
  serverId: string;
}

const parseServer = parseAs(serverSchema, 'a server');
const parseServers = parseAs(serverPageSchema, 'a list of servers');
const parseDeleted = parseAs(deletedSchema, 'the receipt of a deletion');

/** Creates a server record. @throws {ServiceError} with status 409 where the project has one of that name */
export async function createServer(
  client: ServiceClient,
  { projectId, server, ...options }: { projectId: string; server: NewServer } & CallOptions,
): Promise<WireServer> {
  const path = ['projects', projectId, 'servers'];
  return client.call({ method: 'POST', path, body: server, parse: parseServer, ...options });
}

/** Lists all servers of a project. The API does not page them. */
export async function listServers(
  client: ServiceClient,
  { projectId, ...options }: { projectId: string } & CallOptions,
): Promise<WireServer[]> {
  const path = ['projects', projectId, 'servers'];
  const page = await client.call({ method: 'GET', path, parse: parseServers, ...options });
  return page.items;
}

/** Gets a server record. Its URL may hold a secret, as that of a tunnel does. */
export async function getServer(client: ServiceClient, params: ServerParams): Promise<WireServer> {
  const { projectId, serverId, ...options } = params;
  const path = ['projects', projectId, 'servers', serverId];
  return client.call({ method: 'GET', path, parse: parseServer, ...options });
}

/** Sets the given fields of a server record and gives it as it then stands. */
export async function updateServer(
  client: ServiceClient,
  params: ServerParams & { changes: Partial<NewServer> },
): Promise<WireServer> {
  const { projectId, serverId, changes, ...options } = params;
  const path = ['projects', projectId, 'servers', serverId];
  return client.call({
    method: 'PATCH',
    path,
    body: changes,
    isRepeatable: true,
    priority: 'high',
    parse: parseServer,
    ...options,
  });
}

/** Deletes a server record. */
export async function deleteServer(client: ServiceClient, params: ServerParams): Promise<void> {
  const { projectId, serverId, ...options } = params;
  const path = ['projects', projectId, 'servers', serverId];
  await client.call({ method: 'DELETE', path, priority: 'high', parse: parseDeleted, ...options });
}
