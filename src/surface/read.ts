import { ProtocolError as JsonRpcError } from '@modelcontextprotocol/client';
import { isRecord } from '../base/json.ts';
import type { Clock } from '../base/time.ts';
import type { Surface } from '../model/surface.ts';
import type { ClientAbilities } from '../mcp/abilities.ts';
import type { Handshake } from '../mcp/protocol.ts';
import type { ServerRequest } from '../mcp/requests.ts';
import { openSession, type Session, type Target } from '../mcp/session.ts';
import { normalizeSurface } from './normalize.ts';

/** The surface of a server, with the handshake of the session that read it. */
export interface ReadSurface {
  surface: Surface;
  handshake: Handshake;
}

/** JSON-RPC 2.0, section 5.1. */
const methodNotFound = -32601;

/** The most times that the lists are read, because the server reported a change while they were read. */
const maxReadings = 5;

type ListMethod = Extract<ServerRequest, { page?: unknown }>['method'];

const lists = [
  { key: 'tools', capability: 'tools', method: 'tools/list' },
  { key: 'prompts', capability: 'prompts', method: 'prompts/list' },
  { key: 'resources', capability: 'resources', method: 'resources/list' },
  { key: 'resourceTemplates', capability: 'resources', method: 'resources/templates/list' },
] as const satisfies ReadonlyArray<{ key: string; capability: string; method: ListMethod }>;

/**
 * The abilities that the client announces while it reads a surface: all that cases of a gate can offer, since servers hide tools from
 * clients with fewer. It declines every request.
 */
export const widestAbilities: ClientAbilities = {
  elicitation: async () => ({ action: 'decline' }),
  sampling: async () => {
    throw new Error('The client reads the surface of the server and asks no model.');
  },
  roots: async () => [],
};

/**
 * Reads the surface of a server in a new session: all pages of all lists. A list that the server declares but does not implement is
 * empty. If the server reports a change meanwhile, it reads the lists again.
 *
 * @throws the SDK's or fetch's error if the handshake or a list fails, {ExcessError} if the server crosses a limit, or the signal's
 * reason
 */
export async function readSurface(
  target: Target,
  { clock, signal, abilities = widestAbilities }: { clock: Clock; signal: AbortSignal; abilities?: ClientAbilities },
): Promise<ReadSurface> {
  let changes = 0;
  const watch = {
    logLevel: null,
    apps: true,
    lists: true,
    onNotification: ({ kind }: { kind: string }) => {
      if (kind === 'listChanged') changes += 1;
    },
  };
  await using session = await openSession(target, { clock, signal, abilities, watch });
  let listed = await readLists(session, signal);
  for (let seen = 0, readings = 1; changes > seen && readings < maxReadings; readings += 1) {
    seen = changes;
    listed = await readLists(session, signal);
  }
  const { capabilities, instructions, handshake } = session;
  return { surface: normalizeSurface({ capabilities, instructions, ...listed }), handshake };
}

type Lists = Record<(typeof lists)[number]['key'], unknown[]>;

async function readLists(session: Session, signal: AbortSignal): Promise<Lists> {
  const found: Lists = { tools: [], prompts: [], resources: [], resourceTemplates: [] };
  for (const { key, capability, method } of lists) {
    if (session.capabilities[capability] !== undefined) found[key] = await readList(session, { key, method, signal });
  }
  return found;
}

async function readList(
  session: Session,
  { key, method, signal }: { key: string; method: ListMethod; signal: AbortSignal },
): Promise<unknown[]> {
  try {
    const answer = await session.request({ method }, { signal });
    const items = isRecord(answer) ? answer[key] : undefined;
    return Array.isArray(items) ? items : [];
  } catch (error) {
    if (error instanceof JsonRpcError && error.code === methodNotFound) return [];
    throw error;
  }
}
