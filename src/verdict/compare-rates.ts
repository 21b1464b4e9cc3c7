import type { Comparison, RateChange } from '../model/comparison.ts';
import type { Counts } from '../model/quantities.ts';
import { rateConfidence } from '../model/case-change.ts';
import { formatMinimumPassRate, formatPassRate, meetsMinimumPassRate } from '../model/rate.ts';
import type { VerdictReason } from '../model/verdict.ts';
import { computeClusteredInterval } from './statistics/clustered.ts';
import { computeDifferenceInterval, testPairs } from './statistics/differences.ts';

/** A case that did the same both times and has results of both. */
export interface ComparablePair {
  suiteId: string;
  baseline: Counts;
  current: Counts;
}

/** Compares the pass rates of each suite over such cases; suites without any are left out. */
export function compareRates(pairs: readonly ComparablePair[]): RateChange[] {
  return [...Map.groupBy(pairs, ({ suiteId }) => suiteId)].flatMap(([suiteId, members]) => {
    const then = members.map(({ baseline }) => baseline);
    const now = members.map(({ current }) => current);
    const before = computeClusteredInterval(then, rateConfidence);
    const after = computeClusteredInterval(now, rateConfidence);
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
        // Sums of roots end a last digit beyond what a difference of rates can be.
        lower: Math.max(-1, lower),
        upper: Math.min(1, upper),
        worse,
        better,
        pValue: testPairs({ fixed: better, broken: worse }).exact,
      },
    ];
  });
}

/**
 * A reason for every suite whose pass rate fell by more than the maximum, where the fall is shown: the interval of the
 * difference lies below zero. The two gates' iterations are taken for independent, which they are not where the same cases
 * are hard both times; so a fall is rather missed than made up.
 */
export function listRateDrops({ rates, maximumRateDrop, baseline }: Comparison): VerdictReason[] {
  if (maximumRateDrop === null) return [];
  return rates
    .filter(({ upper, ...rate }) => upper < 0 && exceedsDrop(rate, maximumRateDrop))
    .map(({ suiteId, lower, upper, ...rate }) => {
      const [then, now] = [rate.baseline, rate.current].map(({ passed, total }) => formatPassRate(passed / total));
      const range = `${formatPassRate(-upper)} to ${formatPassRate(-lower)} lower with ${formatMinimumPassRate(rateConfidence)} confidence`;
      return {
        code: 'regressed',
        message: `Of what can be compared, ${then} passed in the baseline (${baseline.source}) and ${now} now, ${range}; at most ${formatMinimumPassRate(maximumRateDrop)} may be lost.`,
        suiteId,
      };
    });
}

/** In integers, so that a fall of exactly the maximum is allowed: `then - now > maximum` over one denominator. */
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
