import { type ExploredRequest, nameRequest } from '../model/explored-request.ts';
import type { FoundDifference, Run } from './compare-runs.ts';
import type { ComparedRequest } from './bench.ts';
import { compareRun } from './compare-runs.ts';
import type { Contrasts } from './lost/contrasts.ts';

/** The runs of one session on both sides. */
export interface SessionRuns {
  base: Run[];
  head: Run[];
}

/** A session with its runs on both sides. */
export interface RanSession {
  requests: readonly ComparedRequest[];
  runs: SessionRuns;
}

/** A difference that some runs of the change show, and how many. */
export interface Candidate {
  /** Equal for the same subject, pointer and kind. */
  key: string;
  requests: readonly ComparedRequest[];
  difference: FoundDifference;
  /** The runs of the change that show it, of all runs. */
  shown: number;
  of: number;
  /** True if the runs that show it have different values. */
  varies: boolean;
}

export interface CompareContext {
  roots: { base: readonly string[]; head: readonly string[] };
  callMs: number;
  contrasts: Contrasts;
}

/** Compares each run of the change with all runs of the base; null if the base itself varies in what differs. */
export function listCandidates(
  requests: readonly ComparedRequest[],
  runs: SessionRuns,
  context: CompareContext,
): { candidates: Candidate[]; unstable: string | null } {
  const found = new Map<string, { difference: FoundDifference; values: string[] }>();
  let unstable: string | null = null;
  for (const head of runs.head) {
    const compared = compareRun(runs.base, head, { requests, ...context });
    unstable ??= compared.unstable;
    const seen = new Set<string>();
    for (const difference of compared.differences) {
      const key = nameDifference(requests, difference);
      if (seen.has(key)) continue;
      seen.add(key);
      const known = found.get(key);
      if (known === undefined) found.set(key, { difference, values: [difference.after] });
      else known.values.push(difference.after);
    }
  }
  const candidates = [...found].map(([key, { difference, values }]) => ({
    key,
    requests: requests.slice(0, difference.step + 1),
    difference,
    shown: values.length,
    of: runs.head.length,
    varies: new Set(values).size > 1,
  }));
  return { candidates, unstable };
}

function nameDifference(requests: readonly ComparedRequest[], { step, pointer, kind }: FoundDifference): string {
  const request = requests[step]?.request;
  return request === undefined ? '' : writeKey(request, pointer, kind);
}

/** Writes the key of a difference: two with the same key are one. */
export function writeKey(request: ExploredRequest, pointer: string, kind: string): string {
  return [request.kind, nameRequest(request), pointer, kind].join('\n');
}

/** Lists the requests as they are sent. */
export function listRequests(requests: readonly ComparedRequest[]): ExploredRequest[] {
  return requests.map(({ request }) => request);
}
