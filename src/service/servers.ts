import type { CallOptions, ServiceClient } from './client.ts';
import { parseAs } from './parse.ts';
import { fillPath, serverPath, serversPath } from './paths.ts';
import { deletedSchema, serverPageSchema, serverSchema, type WireServer } from './wire.ts';

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
  params: { projectId: string; server: NewServer } & CallOptions,
): Promise<WireServer> {
  const path = fillPath(serversPath, params);
  return client.call({ method: 'POST', path, body: params.server, parse: parseServer, ...params });
}

/** Lists all servers of a project. The API does not page them. */
export async function listServers(
  client: ServiceClient,
  params: { projectId: string } & CallOptions,
): Promise<WireServer[]> {
  const path = fillPath(serversPath, params);
  const page = await client.call({ method: 'GET', path, parse: parseServers, ...params });
  return page.items;
}

/** Gets a server record. Its URL may hold a secret, as that of a tunnel does. */
export async function getServer(client: ServiceClient, params: ServerParams): Promise<WireServer> {
  return client.call({ method: 'GET', path: fillPath(serverPath, params), parse: parseServer, ...params });
}

/** Sets the given fields of a server record and gives it as it then stands. */
export async function updateServer(
  client: ServiceClient,
  params: ServerParams & { changes: Partial<NewServer> },
): Promise<WireServer> {
  const path = fillPath(serverPath, params);
  const kind = { isRepeatable: true, priority: 'high' as const };
  return client.call({ method: 'PATCH', path, body: params.changes, ...kind, parse: parseServer, ...params });
}

/** Deletes a server record. */
export async function deleteServer(client: ServiceClient, params: ServerParams): Promise<void> {
  const path = fillPath(serverPath, params);
  await client.call({ method: 'DELETE', path, priority: 'high', parse: parseDeleted, ...params });
}
