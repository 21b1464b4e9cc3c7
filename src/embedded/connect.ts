import { DeadlineError, describeError, NetworkError, ProtocolError } from '../base/errors.ts';
import { type Clock, startTimeLimit } from '../base/time.ts';
import type { ServerAccess } from '../mcp/access.ts';
import { checkTarget } from '../mcp/check-target.ts';
import type { EraChoice, ProtocolEra } from '../mcp/protocol.ts';
import type { Target } from '../mcp/session.ts';
import type { ProcessWitness, ServerWitnesses } from '../model/process-end.ts';
import { ApiError, notSupported } from './envelope.ts';
import type { ServerRecord } from './store/servers.ts';

/** How long a server may take for its handshake before a run of it is refused. */
const connectTimeoutMs = 60_000;

/** What lets the requests of a caller into servers, and starts those that are commands. A gate has none: its records are URLs. */
export interface ServerReach {
  /** @throws {ApiError} where the service or the caller cannot use the server */
  open(server: ServerRecord): Promise<{ url: string; access: ServerAccess | null }>;
  /** The refusal that stands for a failure of the server; null where it is none of authorization. */
  explain(server: ServerRecord, error: unknown): ApiError | null;
}

/** A server as the engine reaches it, and what its tools declare. */
export interface ConnectedTarget {
  target: Target;
  /** Whether a tool is declared read-only, by tool name; null where the server did not list its tools. */
  readOnlyTools: ReadonlyMap<string, boolean> | null;
}

/**
 * Connects to each server once and returns it as the engine reaches it, by server id, with the protocol it turned out
 * to speak: the run's iterations need not find out again.
 *
 * @throws {ApiError} SERVER_UNREACHABLE naming the first one that did not answer as an MCP server does; TIMEOUT where the whole API is
 *   served and it did not answer at all.
 */
export async function connectTargets(
  servers: readonly ServerRecord[],
  {
    protocols,
    witnesses,
    reach,
    clock,
  }: {
    protocols: Pick<ProtocolTable, 'choose' | 'findAccess' | 'setTools'>;
    witnesses: ServerWitnesses | null;
    reach: ServerReach | null;
    clock: Clock;
  },
): Promise<ReadonlyMap<string, ConnectedTarget>> {
  const distinct = new Map(servers.map((server) => [server.id, server]));
  return new Map(
    await Promise.all(
      [...distinct].map(async ([id, server]) => {
        const witness = witnesses?.find(id) ?? null;
        const [choice, access] = [protocols.choose(id), protocols.findAccess(id)];
        const connected = await connect(server, { choice, access, witness, reach, clock });
        if (connected.readOnlyTools !== null) protocols.setTools(id, [...connected.readOnlyTools.keys()]);
        return [id, connected] as const;
      }),
    ),
  );
}

/** @throws {ApiError} FEATURE_NOT_SUPPORTED for a server that only a service with a reach can use */
export function requireUrl({ content }: ServerRecord): string {
  const label = `Server ${JSON.stringify(content.name)}`;
  if (content.transportType === 'stdio') {
    throw notSupported(
      `${label} speaks stdio, and this service reaches servers over HTTP alone; start it behind a bridge and save its URL.`,
    );
  }
  if (content.useOAuth === true) throw notSupported(`${label} wants OAuth, and this service cannot sign in anywhere.`);
  return content.url ?? '';
}

async function connect(
  server: ServerRecord,
  options: {
    choice: EraChoice;
    access: ServerAccess | null;
    witness: ProcessWitness | null;
    reach: ServerReach | null;
    clock: Clock;
  },
): Promise<ConnectedTarget> {
  const { content } = server;
  const { choice, witness, reach, clock } = options;
  const reached = (await reach?.open(server)) ?? { url: requireUrl(server), access: null };
  const target: Target = {
    url: reached.url,
    serverName: content.name,
    protocol: choice,
    access: options.access ?? reached.access,
    ...(content.headers === undefined ? {} : { headers: content.headers }),
  };
  using limit = startTimeLimit(clock, { afterMs: connectTimeoutMs, what: 'The wait for the server' });
  const { signal } = limit;
  using visit = (await witness?.visit({ isAlone: false, isProbe: true, signal })) ?? null;
  try {
    const { protocol, readOnlyTools } = await checkTarget(target, { timeoutMs: connectTimeoutMs, clock });
    // A server that ended over the list of its tools is started again with the first iteration, once its end is known.
    if (readOnlyTools === null) await visit?.findEnd(undefined, { mayBeEnding: true });
    return { target: { ...target, protocol }, readOnlyTools };
  } catch (error) {
    if (!(error instanceof NetworkError || error instanceof ProtocolError)) throw error;
    // A gate asks again as long as its own deadline allows, as with any server that is out of reach.
    if (reach !== null && error.cause instanceof DeadlineError) throw new ApiError('TIMEOUT', error.message);
    const refusal = reach?.explain(server, error.cause) ?? null;
    throw refusal ?? new ApiError('SERVER_UNREACHABLE', describeError(error), { cause: error });
  }
}

/**
 * How the servers of this process are spoken to, by server id. It belongs to the process and not to the API: a server record has
 * no field for it, and only the gate in the same process knows what its server negotiated.
 */
export interface ProtocolTable {
  /** Has every later run speak to the server in this era, with what lets its requests in. */
  pin(serverId: string, pinned: { era: ProtocolEra; access: ServerAccess | null }): void;
  /** `auto` where nothing is pinned. */
  choose(serverId: string): EraChoice;
  /** Records the tools that the server listed when a run connected to it. */
  setTools(serverId: string, names: readonly string[]): void;
  /** Null where it has listed none yet. */
  listTools(serverId: string): readonly string[] | null;
  /** Null where nothing is pinned, or the server lets every request in. */
  findAccess(serverId: string): ServerAccess | null;
  /** Records the revision that a session of a run negotiated. */
  addSpoken(serverId: string, protocolVersion: string): void;
  /** Every revision that sessions of runs have spoken with the server so far, oldest first. */
  listSpoken(serverId: string): string[];
}

export function createProtocolTable(): ProtocolTable {
  const pinned = new Map<string, { era: ProtocolEra; access: ServerAccess | null }>();
  const spoken = new Map<string, Set<string>>();
  const tools = new Map<string, readonly string[]>();
  return {
    pin: (serverId, how) => {
      pinned.set(serverId, how);
    },
    choose: (serverId) => pinned.get(serverId)?.era ?? 'auto',
    findAccess: (serverId) => pinned.get(serverId)?.access ?? null,
    setTools: (serverId, names) => {
      tools.set(serverId, names);
    },
    listTools: (serverId) => tools.get(serverId) ?? null,
    addSpoken: (serverId, protocolVersion) => {
      const versions = spoken.get(serverId) ?? new Set();
      spoken.set(serverId, versions.add(protocolVersion));
    },
    // Revisions are dates, so their order is that of their text.
    listSpoken: (serverId) => [...(spoken.get(serverId) ?? [])].toSorted(),
  };
}
