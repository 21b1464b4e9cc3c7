import { type Clock, race } from '../../../../src/base/time.ts';
import { ApiError } from '../envelope.ts';
import { requireReachable } from '../run-request.ts';
import { type ConnectServers, openServerTools, type ServerTools } from '../server-tools.ts';
import type { ServerRecord } from '../store/server-store.ts';

/** The servers of a project that a turn can use. Disposing it ends their sessions. */
export interface ProjectServers extends AsyncDisposable {
  opened: ServerTools[];
  /** The names of the servers that the service may connect to but did not reach. */
  unreachable: string[];
}

/** A server that takes longer to open is left out. */
const openTimeoutMs = 15_000;

/** Opens a session with each server that the service may connect to. Leaves out servers that do not answer. */
export async function openProjectServers(
  servers: readonly ServerRecord[],
  { connect, clock, signal }: { connect: ConnectServers; clock: Clock; signal: AbortSignal },
): Promise<ProjectServers> {
  const ending = new AbortController();
  const attempts = servers.filter(isReachable).map((server) => {
    const opening = openServerTools(server, { connect, clock, signal: ending.signal });
    const timeout = { clock, afterMs: openTimeoutMs, onTimeout: () => null };
    return { server, opening, opened: race(opening, { signals: [signal], timeout }).catch(() => null) };
  });
  const results = await Promise.all(
    attempts.map(async ({ server, opened, opening }) => ({ server, opening, opened: await opened })),
  );
  const inUse = results.flatMap(({ opened }) => opened ?? []);
  return {
    opened: inUse,
    unreachable: results.flatMap(({ opened, server }) => (opened === null ? [server.content.name] : [])),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(inUse.map((server) => server[Symbol.asyncDispose]()));
      ending.abort('over');
      // A server that answers after the turn is closed in the background.
      for (const { opened, opening } of results) {
        if (opened === null) void opening.then((late) => late[Symbol.asyncDispose]()).catch(() => {});
      }
    },
  };
}

function isReachable(server: ServerRecord): boolean {
  try {
    requireReachable(server);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}
