import { formatCount } from '../base/text.ts';
import { describeSource, type Sourced } from '../model/source.ts';
import { computePassRate, formatMinimumPassRate, formatPassRate, meetsMinimumPassRate } from '../model/rate.ts';
import type { CaseResults } from '../model/results.ts';
import type { DemandReport } from '../model/report.ts';
import { countScored, sum } from './count.ts';
import { computeClusteredInterval, type ClusteredInterval } from './statistics/clustered.ts';
import { computeWilsonInterval } from './statistics/wilson.ts';

/** More than any gate runs; beyond it a rate is as good as at its minimum. */
const mostIterations = 100_000;

/**
 * Judges the pass rate of some cases against a minimum. Without a confidence the count decides, in integers. With one, the
 * interval of the rate does: it is met where the lower bound reaches the minimum, not met where the upper bound stays
 * below, else unknown, with the number of further iterations that would settle it. A minimum of 100 % is always a matter
 * of counting, since no number of iterations shows it.
 */
export function assessRate(
  cases: readonly CaseResults[],
  minimum: Sourced<number>,
  confidence: Sourced<number> | null,
): Pick<DemandReport, 'state' | 'finding' | 'demand'> {
  const { passed, scored } = countScored(cases);
  const isReached = meetsMinimumPassRate(passed, scored, minimum.value);
  const counted = `${passed} of ${formatCount(scored, 'iteration')} passed (${formatPassRate(computePassRate(passed, scored))}), the minimum is ${formatMinimumPassRate(minimum.value)} (${describeSource(minimum.source)})`;
  const demand = `at least ${formatMinimumPassRate(minimum.value)} pass`;
  const interval =
    confidence === null || minimum.value >= 1
      ? null
      : computeClusteredInterval(
          cases.map((testCase) => ({ passed: testCase.passed, total: testCase.passed + testCase.failed })),
          confidence.value,
        );
  if (confidence === null || interval === null) {
    return { state: isReached ? 'met' : 'not-met', finding: counted, demand };
  }
  const sure = formatMinimumPassRate(confidence.value);
  const measured = `${counted}; with ${sure} confidence the rate is from ${formatPassRate(interval.lower)} to ${formatUpperBound(interval.upper)}`;
  const state = isReached
    ? interval.lower >= minimum.value
      ? 'met'
      : 'unknown'
    : interval.upper < minimum.value
      ? 'not-met'
      : 'unknown';
  const advice =
    state === 'unknown'
      ? `, which leaves it open; ${describeFurther(countFurtherIterations(interval, scored, { minimum: minimum.value, confidence: confidence.value }), cases)}`
      : '';
  return { state, finding: measured + advice, demand: `${demand}, with ${sure} confidence` };
}

/**
 * Judges the pass rate of cases of which iterations have no result, as the best that these can come to: `not-met` only where the
 * minimum stays out of reach whatever they are, else `unknown`. `best` are the same cases with every such iteration passed.
 *
 * With a confidence, the upper bound of Wilson's interval grows with the rate and as the number of independent iterations
 * falls. So the best rate over the smallest number that the clustered interval can take (n² / Σnᵢ²; n for a single case) bounds the
 * interval of every way in which the results can turn out.
 */
export function boundRate(
  cases: readonly CaseResults[],
  best: readonly CaseResults[],
  { minimum, confidence }: { minimum: Sourced<number>; confidence: Sourced<number> | null },
): Pick<DemandReport, 'state' | 'finding'> {
  const { passed, scored } = countScored(cases);
  const most = countScored(best);
  const totals = best.map((testCase) => testCase.passed + testCase.failed).filter((total) => total > 0);
  const fewest = totals.length === 1 ? most.scored : most.scored ** 2 / sum(totals, (total) => total ** 2);
  const isCounted = confidence === null || minimum.value >= 1 || most.scored === 0;
  const upper = isCounted
    ? (computePassRate(most.passed, most.scored) ?? 1)
    : computeWilsonInterval((most.passed / most.scored) * fewest, fewest, confidence.value).upper;
  const isOut = isCounted ? !meetsMinimumPassRate(most.passed, most.scored, minimum.value) : upper < minimum.value;
  const rate = scored === 0 ? '' : ` (${formatPassRate(computePassRate(passed, scored))})`;
  const outstanding = formatCount(most.scored - scored, 'iteration');
  const verb = most.scored - scored === 1 ? 'has' : 'have';
  const reach = isCounted
    ? `if all passed, the rate would be ${formatPassRate(upper)}`
    : `if all passed, the rate would be at most ${formatUpperBound(upper)} with ${formatMinimumPassRate(confidence.value)} confidence`;
  return {
    state: isOut ? 'not-met' : 'unknown',
    finding: `${passed} of ${formatCount(scored, 'iteration')} passed${rate}, the minimum is ${formatMinimumPassRate(minimum.value)} (${describeSource(minimum.source)}); ${outstanding} ${verb} no result, and ${reach}`,
  };
}

/**
 * Counts how many further iterations would settle whether the minimum is met, if they passed at the rate seen and were as
 * alike as those seen; null where more than a hundred thousand would be needed.
 */
export function countFurtherIterations(
  { rate, effectiveTotal }: Pick<ClusteredInterval, 'rate' | 'effectiveTotal'>,
  scored: number,
  { minimum, confidence }: { minimum: number; confidence: number },
): number | null {
  const isSettledBy = (further: number): boolean => {
    const effective = (effectiveTotal * (scored + further)) / scored;
    const { lower, upper } = computeWilsonInterval(rate * effective, effective, confidence);
    return lower >= minimum || upper < minimum;
  };
  if (!isSettledBy(mostIterations)) return null;
  let low = 0;
  let high = mostIterations;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isSettledBy(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function describeFurther(further: number | null, cases: readonly CaseResults[]): string {
  if (further === null) return 'the rate is so close to the minimum that no reasonable number of iterations settles it';
  const where =
    cases.length > 1 && cases.some(({ planned }) => planned > 1)
      ? ' in cases of their own, since repeats of one case are alike,'
      : '';
  return `about ${formatCount(further, 'further iteration')}${where} would settle it at this rate`;
}

/** Rounded up, as the lower bound is rounded down: the range as printed holds the range as computed. */
function formatUpperBound(upper: number): string {
  return formatPassRate(Math.min(1, Math.ceil(upper * 1000 - 1e-9) / 1000));
}
