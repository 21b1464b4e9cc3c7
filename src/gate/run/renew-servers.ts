import { type ProcessScope, processScopes } from '../../model/base-comparison.ts';
import type { ServerWitnesses } from '../../model/process-end.ts';
import type { BackendTraits } from './backend.ts';
import type { RegisteredServer } from './job-tunnel.ts';

interface ServerProcesses {
  witnesses: ServerWitnesses;
  traits: Pick<BackendTraits, 'hasCheapRuns'>;
}

/** Finds the most that a process of these servers may serve, if those that this gate started are renewed for every round. */
export function findProcessScope(
  servers: readonly RegisteredServer[],
  { witnesses, traits }: ServerProcesses,
): ProcessScope {
  return findWidestScope(
    servers.map(({ id }): ProcessScope => {
      const witness = witnesses.find(id);
      if (witness === null) return 'several-rounds';
      if (!witness.isShared) return 'iteration';
      return traits.hasCheapRuns ? 'round' : 'several-rounds';
    }),
  );
}

/**
 * Renews the processes of these servers, so that they have served no other round, if this gate started them. Returns the most that a process
 * of these servers may serve.
 *
 * @throws {ServerStartError} if one does not start again
 */
export async function renewServers(
  servers: readonly RegisteredServer[],
  { signal, ...processes }: ServerProcesses & { signal: AbortSignal },
): Promise<ProcessScope> {
  const visits = servers.map(async ({ id }) => {
    using _visit = await processes.witnesses.find(id)?.visit({ isAlone: true, isProbe: true, signal });
  });
  await Promise.all(visits);
  return findProcessScope(servers, processes);
}

/** Finds the widest of the scopes of several servers or rounds. */
export function findWidestScope(scopes: readonly ProcessScope[]): ProcessScope {
  return processScopes.findLast((scope) => scopes.includes(scope)) ?? 'iteration';
}
