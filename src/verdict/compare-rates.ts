import type { Comparison, RateChange } from '../model/comparison.ts';
import type { Counts } from '../model/quantities.ts';
import { isFallShown, rateConfidence } from '../model/case-change.ts';
import { formatMinimumPassRate, formatPassRate, meetsMinimumPassRate } from '../model/rate.ts';
import type { VerdictReason } from '../model/verdict.ts';
import { computeClusteredWilsonInterval } from './statistics/clustered.ts';
import { computeDifferenceInterval, testFall, testPairs, testSignFlips } from './statistics/differences.ts';

/** A case with the same definition on both sides and results of both. */
export interface ComparablePair {
  suiteId: string;
  baseline: Counts;
  current: Counts;
}

/** With fewer cases, no fall over tasks has a probability of at most 5 %: the lowest one is 1/2 to the power of their number. */
export const fewestTasks = 5;

/**
 * Compares the pass rates of each suite over comparable cases; leaves out suites without any. `overTasks` are the ids of suites with a
 * policy that requires the rate of tasks, of which the cases are a sample.
 */
export function compareRates(
  pairs: readonly ComparablePair[],
  overTasks: ReadonlySet<string> = new Set(),
): RateChange[] {
  return [...Map.groupBy(pairs, ({ suiteId }) => suiteId)].flatMap(([suiteId, members]) => {
    const then = members.map(({ baseline }) => baseline);
    const now = members.map(({ current }) => current);
    const before = computeClusteredWilsonInterval(then, rateConfidence);
    const after = computeClusteredWilsonInterval(now, rateConfidence);
    if (before === null || after === null) return [];
    const { difference, lower, upper } = computeDifferenceInterval(after, before);
    const signs = members.map(({ baseline, current }) =>
      Math.sign(current.passed * baseline.total - baseline.passed * current.total),
    );
    const worse = signs.filter((sign) => sign < 0).length;
    const better = signs.filter((sign) => sign > 0).length;
    return [
      {
        suiteId,
        baseline: sumCounts(then),
        current: sumCounts(now),
        difference,
        // Rounding errors of the roots can exceed the range of a difference of rates.
        lower: Math.max(-1, lower),
        upper: Math.min(1, upper),
        worse,
        better,
        pValue: testPairs({ fixed: better, broken: worse }).exact,
        fallPValue: testFall(members),
        ...(overTasks.has(suiteId) && { tasks: testTasks(members) }),
      },
    ];
  });
}

/** Tests over tasks. Skips cases with different numbers of iterations: chance alone makes one sign of their difference more likely. */
function testTasks(members: readonly ComparablePair[]): NonNullable<RateChange['tasks']> {
  const equal = members.filter(({ baseline, current }) => baseline.total === current.total);
  return { cases: equal.length, pValue: equal.length < fewestTasks ? null : testSignFlips(equal) };
}

/** Lists a reason for every suite whose pass rate fell by more than the maximum, if the data shows the fall. */
export function listRateDrops({ rates, maximumRateDrop, baseline }: Comparison): VerdictReason[] {
  if (maximumRateDrop === null) return [];
  return rates
    .filter((rate) => isFallShown(rate) && exceedsDrop(rate, maximumRateDrop))
    .map(({ suiteId, fallPValue, tasks, ...rate }) => {
      const [then, now] = [rate.baseline, rate.current].map(({ passed, total }) => formatPassRate(passed / total));
      return {
        code: 'regressed',
        message: `Of what can be compared, ${then} passed in the baseline (${baseline.source}) and ${now} now, which chance explains ${tasks?.pValue == null ? '' : 'over tasks '}with p ${formatProbability(tasks?.pValue ?? fallPValue)}; at most ${formatMinimumPassRate(maximumRateDrop)} may be lost.`,
        suiteId,
      };
    });
}

/** Formats a probability: `= 0.012`, or `< 0.001`. */
function formatProbability(value: number): string {
  return value < 0.001 ? '< 0.001' : `= ${value.toFixed(3)}`;
}

/**
 * Checks if a rate fell by more than the maximum: `then - now > maximum`. Uses integers over one denominator, so that a fall of exactly the
 * maximum is allowed.
 */
export function exceedsDrop(
  { baseline, current }: Pick<RateChange, 'baseline' | 'current'>,
  maximumRateDrop: number,
): boolean {
  const total = baseline.total * current.total;
  const kept = total - baseline.passed * current.total + current.passed * baseline.total;
  return !meetsMinimumPassRate(kept, total, 1 - maximumRateDrop);
}

export function sumCounts(list: readonly Counts[]): Counts {
  return list.reduce<Counts>(
    (sum, counts) => ({ passed: sum.passed + counts.passed, total: sum.total + counts.total }),
    { passed: 0, total: 0 },
  );
}
