import { type ProcessScope, processScopes } from '../../model/base-comparison.ts';
import type { ServerWitnesses } from '../../model/process-end.ts';
import type { BackendTraits } from './backend.ts';
import type { RegisteredServer } from './job-tunnel.ts';

interface ServerProcesses {
  witnesses: ServerWitnesses;
  traits: Pick<BackendTraits, 'hasCheapRuns'>;
}

/** Finds what a process of these servers may serve at the most, if those that this gate started are renewed for every round. */
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
 * Has these servers serve the next round with processes that have served no other, where this gate started them. Returns what a process of
 * them may serve at the most.
 *
 * @throws {ServerStartError} when one does not start again
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

/** What a process serves at the most, of several servers or rounds. */
export function findWidestScope(scopes: readonly ProcessScope[]): ProcessScope {
  return processScopes.findLast((scope) => scopes.includes(scope)) ?? 'iteration';
}
