import { formatDuration } from '../base/time.ts';
import type { ExploredRequest } from '../model/explored-request.ts';
import { firstVariant } from '../explore/world/world.ts';
import { testPairs } from '../verdict/statistics/differences.ts';
import { rejectByHolm } from '../verdict/statistics/holm.ts';
import type { Bench, ComparedRequest, SentStep } from './bench.ts';
import { listRequests, type SessionRuns } from './candidates.ts';
import type { FoundDifference } from './compare-runs.ts';

/** A request counts as slower in a pair of runs if it takes so much longer, and so many times as long. */
const leastMs = 100;
const leastFactor = 2;

/** The chance that any tool of an unchanged server is called slower. */
const error = 0.05;
const leastPairs = 12;

export interface SlowerTool {
  requests: readonly ComparedRequest[];
  difference: Omit<FoundDifference, 'kind'>;
  /** The geometric mean of both medians: a limit between them. */
  limitMs: number;
}

interface Suspect {
  requests: readonly ComparedRequest[];
  /** By how much the change was slower in the pair in which it was least so. */
  gainMs: number;
}

/** Finds the tools that the first rounds showed as slower, and tests each with further pairs of runs. */
export async function findSlowerTools(
  ran: ReadonlyArray<{ requests: readonly ComparedRequest[]; runs: SessionRuns }>,
  bench: Bench,
): Promise<SlowerTool[]> {
  const tools = new Set<string>();
  const suspects = new Map<string, Suspect>();
  for (const { requests, runs } of ran) {
    for (const [step, { request }] of requests.entries()) {
      const name = nameTimed(request);
      tools.add(name);
      const gains = runs.base.map((base, index) => measureGain(base[step], runs.head[index]?.[step]));
      const gainMs = Math.min(...gains);
      if (gains.length === 0 || gainMs <= (suspects.get(name)?.gainMs ?? 0)) continue;
      suspects.set(name, { requests: requests.slice(0, step + 1), gainMs });
    }
  }
  const pairs = Math.max(leastPairs, Math.ceil(Math.log2((2 * tools.size) / error)));
  const tested: Array<{ suspect: Suspect; pValue: number; before: number; after: number }> = [];
  for (const suspect of suspects.values()) tested.push({ suspect, ...(await timePairs(suspect, pairs, bench)) });
  const areSlower = rejectByHolm(
    tested.map(({ pValue }) => pValue),
    { error, total: Math.max(1, tools.size) },
  );
  return tested
    .filter((_, index) => areSlower[index] === true)
    .map(({ suspect: { requests }, before, after }) => ({
      requests,
      limitMs: Math.round(Math.sqrt(Math.max(1, before) * after)),
      difference: {
        step: requests.length - 1,
        pointer: '',
        exact: null,
        what: `it takes ${formatDuration(after - before)} longer, in ${pairs} pairs of calls`,
        before: formatDuration(before),
        after: formatDuration(after),
        value: null,
      },
    }));
}

function nameTimed(request: ExploredRequest): string {
  return request.kind === 'tool' ? `tool ${request.tool}` : request.kind;
}

/** Measures by how much the change was slower; 0 if it was not, or if the answers are not of one kind. */
export function measureGain(base: SentStep | undefined, head: SentStep | undefined): number {
  if (base === undefined || head === undefined) return 0;
  const [before, after] = [base.observation.outcome, head.observation.outcome];
  const isAlike = before.kind === after.kind && (before.kind === 'result' || before.kind === 'error');
  return isAlike && isSlower(base.durationMs, head.durationMs) ? head.durationMs - base.durationMs : 0;
}

const isSlower = (before: number, after: number) => after >= before + leastMs && after >= leastFactor * before;

async function timePairs(
  { requests }: Suspect,
  count: number,
  bench: Bench,
): Promise<{ pValue: number; before: number; after: number }> {
  await using round = bench.openRound(firstVariant, { isQuiet: true });
  const sent = listRequests(requests);
  const times: { before: number[]; after: number[] } = { before: [], after: [] };
  let [slower, others] = [0, 0];
  for (let pair = 0; pair < count; pair += 1) {
    const { base, head } = await round.run(sent, { start: 'new' });
    const [before, after] = [base.at(-1), head.at(-1)];
    if (base.length < sent.length || head.length < sent.length || before === undefined || after === undefined) continue;
    times.before.push(before.durationMs);
    times.after.push(after.durationMs);
    if (isSlower(before.durationMs, after.durationMs)) slower += 1;
    else others += 1;
    // No result of the missing pairs can make it significant.
    if (testPairs({ broken: count - others, fixed: others }).exact > error) break;
  }
  const pValue = slower > others ? testPairs({ broken: slower, fixed: others }).exact : 1;
  return { pValue, before: findMedian(times.before), after: findMedian(times.after) };
}

function findMedian(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
