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

/** Deletes a server record. */
export async function deleteServer(
  client: ServiceClient,
  { projectId, serverId, ...options }: { projectId: string; serverId: string } & CallOptions,
): Promise<void> {
  const path = ['projects', projectId, 'servers', serverId];
  await client.call({ method: 'DELETE', path, parse: parseDeleted, ...options });
}
