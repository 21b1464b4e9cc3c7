import type { Iteration, Run } from '../../model/run.ts';

/** A 401 or 403 of the server under test that passed through its tunnel. */
export interface SeenRefusal {
  status: number;
  /** The header of that name, as the server wrote it; null without it. */
  wwwAuthenticate: string | null;
  /** Epoch milliseconds of this machine. */
  atMs: number;
}

/** The times at which a run was requested and its receipt came, in epoch milliseconds of this machine. */
export interface LaunchTime {
  askedAtMs: number;
  answeredAtMs: number;
}

/** A service may round its times to whole seconds. */
const slackMs = 1000;

/**
 * Finds the refusal that came during an iteration; null if there is none. The service's clock may differ: the service created the run
 * between its launch and its receipt, which shows how far its clock is ahead. If the service gives no times, any refusal of the run counts.
 */
export function findRefusal<Refusal extends SeenRefusal>(
  { startedAtMs, durationMs }: Pick<Iteration, 'startedAtMs' | 'durationMs'>,
  refusals: readonly Refusal[],
  { run, launch: { askedAtMs, answeredAtMs } }: { run: Pick<Run, 'createdAtMs'> | null; launch: LaunchTime },
): Refusal | null {
  const ofRun = refusals.filter(({ atMs }) => atMs >= askedAtMs);
  const createdAtMs = run?.createdAtMs ?? null;
  if (createdAtMs === null || startedAtMs === null || durationMs === null) return ofRun[0] ?? null;
  const [leastAheadMs, mostAheadMs] = [createdAtMs - answeredAtMs, createdAtMs - askedAtMs];
  const isDuring = ({ atMs }: SeenRefusal) =>
    atMs + mostAheadMs + slackMs >= startedAtMs && atMs + leastAheadMs - slackMs <= startedAtMs + durationMs;
  return ofRun.find(isDuring) ?? null;
}

/** Returns the iteration without a result, because the server refused one of its requests. An iteration that passed stays as it is. */
export function removeResult(iteration: Iteration, reason: string): Iteration {
  if (iteration.result === 'passed') return iteration;
  return { ...iteration, status: 'failed', result: null, error: reason };
}

/** A server whose tunnel keeps the refusals. */
interface RefusingServer {
  id: string;
  alias: string;
  listRefusals(): readonly SeenRefusal[];
  explainRefusal(refusal: SeenRefusal, signal: AbortSignal): Promise<string>;
}

/**
 * Creates a function that removes the results of refused iterations of a run. It explains each kind of refusal once, since that may send a
 * request to the authorization server.
 */
export function createRefusalMarker(
  servers: readonly RefusingServer[],
  { run, signal }: { run: { readonly launch: LaunchTime; current(): Run }; signal: AbortSignal },
): (iteration: Iteration) => Promise<Iteration> {
  const explained = new Map<string, Promise<string>>();
  const explain = async (server: RefusingServer, refusal: SeenRefusal) => {
    const reason = await server.explainRefusal(refusal, signal);
    return servers.length > 1 ? `${server.alias}: ${reason}` : reason;
  };
  return async (iteration) => {
    if (iteration.result === 'passed') return iteration;
    for (const server of servers) {
      const refusal = findRefusal(iteration, server.listRefusals(), { run: run.current(), launch: run.launch });
      if (refusal === null) continue;
      const key = JSON.stringify([server.id, refusal.status, refusal.wwwAuthenticate]);
      const reason = explained.get(key) ?? explain(server, refusal);
      explained.set(key, reason);
      return removeResult(iteration, await reason);
    }
    return iteration;
  };
}
