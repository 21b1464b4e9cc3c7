import { isJsonEqual } from '../../base/json.ts';
import type { ExploredRequest, Observation } from '../exploration.ts';

/** How a world is after a request: `clean` as before, `used` with something more in it, `spoilt` with something less. */
export type Trace = 'clean' | 'used' | 'spoilt';

const traces: readonly Trace[] = ['clean', 'used', 'spoilt'];

/** Requests after which a world is as it is, if nothing but calls that changed nothing came in addition. */
interface Trunk {
  requests: readonly ExploredRequest[];
  observations: readonly Observation[];
  results: readonly unknown[];
}

/** A session that left something in its world. */
export interface LeftSession {
  requests: readonly ExploredRequest[];
  observations: readonly Observation[];
}

/** What sessions have left in a world since it was new, or since its files were restored. */
export interface History {
  /** The worst of all traces. */
  state: Trace;
  left: readonly LeftSession[];
  /** Null if the state is that of several sessions. */
  trunk: Trunk | null;
}

export const emptyHistory: History = {
  state: 'clean',
  left: [],
  trunk: { requests: [], observations: [], results: [] },
};

/** Returns the served requests with which a session begins, if nothing else has changed the world; none otherwise. */
export function findServed({ trunk }: History, requests: readonly ExploredRequest[]): Trunk {
  const isBeginning =
    trunk !== null &&
    trunk.requests.length <= requests.length &&
    trunk.requests.every((request, index) => isJsonEqual(request, requests[index]));
  return isBeginning ? trunk : { requests: [], observations: [], results: [] };
}

/** A session that a world has served. */
export interface ServedSession {
  requests: readonly ExploredRequest[];
  observations: readonly Observation[];
  /** The results as the server gave them. */
  results: readonly unknown[];
  /** The trace of each request that was sent; the first ones may have been served before. */
  traces: readonly Trace[];
}

/** Adds a session to a history. */
export function addSession(
  { state, left, trunk }: History,
  { requests, observations, results, traces: sent }: ServedSession,
): History {
  const shared = observations.length - sent.length;
  const end = shared + sent.findLastIndex((trace) => trace !== 'clean') + 1;
  if (end <= shared) return { state, left, trunk };
  const isFromClean = shared > 0 || state === 'clean';
  return {
    state: sent.reduce((worst, trace) => (traces.indexOf(trace) > traces.indexOf(worst) ? trace : worst), state),
    // A session that continues others begins with all of their requests.
    left: [...(shared > 0 ? [] : left), { requests, observations }],
    trunk: isFromClean
      ? {
          requests: requests.slice(0, end),
          observations: observations.slice(0, end),
          results: results.slice(0, end),
        }
      : null,
  };
}
