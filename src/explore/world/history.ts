import { isJsonEqual } from '../../base/json.ts';
import type { Observation } from '../exploration.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';

/** How a world is after a request: `clean` as before, `used` with something more in it, `spoilt` with something less. */
export type Trace = 'clean' | 'used' | 'spoilt';

const traces: readonly Trace[] = ['clean', 'used', 'spoilt'];

/** A request with its observation. */
export interface SentRequest {
  request: ExploredRequest;
  observation: Observation;
}

/** Judges how a world is after a request, apart from the files that it began with. What is known of the tools may have grown since. */
export type JudgeTrace = (step: SentRequest) => Trace;

/** A session that a world has served. Its process may have been lost before it answered the last requests. */
export interface ServedSession {
  requests: readonly ExploredRequest[];
  observations: readonly Observation[];
  /** The results as the server gave them. */
  results: readonly unknown[];
  /** The trace of each request that was answered. */
  traces: readonly Trace[];
}

/** The sessions that have left something in a world since it was new, or since its files were restored. */
export type History = readonly ServedSession[];

/** Returns the worst trace in a world. */
export function readState(history: History): Trace {
  return history
    .flatMap((session) => session.traces)
    .reduce((worst, trace) => (traces.indexOf(trace) > traces.indexOf(worst) ? trace : worst), 'clean');
}

const nothing: ServedSession = { requests: [], observations: [], results: [], traces: [] };

/** Returns the served requests with which a session begins, up to the last one that changed something, if nothing else has; none otherwise. */
export function findServed(history: History, requests: readonly ExploredRequest[]): ServedSession {
  const [only, ...others] = history;
  if (only === undefined || others.length > 0) return nothing;
  const end = only.traces.findLastIndex((trace) => trace !== 'clean') + 1;
  const isBeginning =
    end <= requests.length && only.requests.slice(0, end).every((request, at) => isJsonEqual(request, requests[at]));
  if (!isBeginning) return nothing;
  return {
    requests: only.requests.slice(0, end),
    observations: only.observations.slice(0, end),
    results: only.results.slice(0, end),
    traces: only.traces.slice(0, end),
  };
}

/** Adds a session to a history. One that continues the only other one, whose requests it begins with, stands for both. */
export function addSession(
  history: History,
  session: ServedSession,
  { isContinued }: { isContinued: boolean },
): History {
  if (session.traces.every((trace) => trace === 'clean')) return history;
  return isContinued ? [session] : [...history, session];
}

/** Leaves out the sessions that have changed nothing, as far as is known now. */
export function reviewHistory(history: History, judge: JudgeTrace): History {
  return history.flatMap((session) => {
    const reviewed = session.traces.map((trace, index) => {
      const { [index]: request } = session.requests;
      const { [index]: observation } = session.observations;
      const isClean = request !== undefined && observation !== undefined && judge({ request, observation }) === 'clean';
      return isClean ? 'clean' : trace;
    });
    return addSession([], { ...session, traces: reviewed }, { isContinued: false });
  });
}
