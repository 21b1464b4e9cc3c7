import { type Clock, race } from '../../../../src/base/time.ts';
import { ApiError } from '../envelope.ts';
import { requireReachable } from '../run-request.ts';
import { type ConnectServers, openServerTools, type ServerTools } from '../server-tools.ts';
import type { ServerRecord } from '../store/servers.ts';

/** The servers of a project that a turn can use. Disposing ends their sessions. */
export interface ProjectServers extends AsyncDisposable {
  opened: ServerTools[];
  /** Names of the others, of those that the service may connect to. */
  unreachable: string[];
}

/** A server that takes longer is left out. */
const openTimeoutMs = 15_000;

/** Opens a session with each server that the service may connect to. One that does not answer is left out. */
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
      // One that answers only now is closed, and not waited for.
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
