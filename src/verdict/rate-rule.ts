import { findGreatest } from '../base/lists.ts';
import { formatCount } from '../base/text.ts';
import { describeSource, type Sourced } from '../model/source.ts';
import {
  computePassRate,
  formatMinimumPassRate,
  formatPassRate,
  formatUpperRate,
  meetsMinimumPassRate,
} from '../model/rate.ts';
import type { CaseResults } from '../model/results.ts';
import type { RequirementReport } from '../model/report.ts';
import { describeFamily } from './confidence-family.ts';
import { countScored, sum } from './count.ts';
import { type Cluster, computeClusteredInterval, type ClusteredInterval } from './statistics/clustered.ts';
import type { ErrorRates } from './statistics/errors.ts';
import { computeExactInterval, isSurelyAtLeast, isSurelyBelow } from './statistics/exact.ts';

/** More than any gate runs; a rate that needs more is as good as at its minimum. */
const mostIterations = 100_000;

/**
 * Judges the pass rate of some cases against a minimum. Without a confidence the count decides, in integers. With a confidence, the interval
 * of the rate decides: the minimum is met if the lower bound reaches it, not met if the upper bound stays below it, else unknown, with the
 * number of further iterations that would settle it. A minimum of 100 % is always counted, since no number of iterations shows it.
 *
 * Recorded answers are the same every time and show nothing about the rate of a model, so the interval is that of live iterations. If all
 * iterations are replayed, the count decides. `isOverTasks` says that the policy requires the rate of tasks, of which the cases are a
 * sample: a single case leaves that open. Otherwise, a single case is judged over its repetitions.
 */
export function assessRate(
  cases: readonly CaseResults[],
  minimum: Sourced<number>,
  {
    confidence,
    errors,
    isOverTasks = false,
  }: { confidence: Sourced<number> | null; errors: ErrorRates; isOverTasks?: boolean },
): Pick<RequirementReport, 'state' | 'finding' | 'requirement'> {
  const { passed, scored } = countScored(cases);
  const isReached = meetsMinimumPassRate(passed, scored, minimum.value);
  const counted = `${passed} of ${formatCount(scored, 'iteration')} passed (${formatPassRate(computePassRate(passed, scored))}), the minimum is ${formatMinimumPassRate(minimum.value)} (${describeSource(minimum.source)})`;
  const requirement = `at least ${formatMinimumPassRate(minimum.value)} pass`;
  const interval =
    confidence === null || minimum.value >= 1 ? null : computeClusteredInterval(cases.map(countLive), errors);
  const replayed = sum(cases, (testCase) => testCase.replayed.total);
  if (confidence === null || interval === null) {
    const why =
      confidence !== null && minimum.value < 1 && replayed > 0
        ? '; recordings answered in all of them, so that the count decides'
        : '';
    return { state: isReached ? 'met' : 'not-met', finding: counted + why, requirement };
  }
  const sure = formatMinimumPassRate(confidence.value);
  const live = replayed === 0 ? '' : ` of the ${formatCount(scored - replayed, 'live iteration')}`;
  const isOneTask = isOverTasks && cases.filter((testCase) => countLive(testCase).total > 0).length === 1;
  const over =
    cases.length === 1
      ? ' over repetitions of this case'
      : isOverTasks
        ? ' over tasks, of which the cases are a sample'
        : '';
  const measured = `${counted}; with ${sure} confidence the rate${live} is from ${formatPassRate(interval.lower)} to ${formatUpperRate(interval.upper)}${over}${describeFamily(errors)}`;
  if (isOneTask) {
    const finding = `${measured}, which says nothing about tasks; add cases, or set \`confidenceOver: cases\``;
    return { state: 'unknown', finding, requirement: `${requirement}, with ${sure} confidence` };
  }
  const state = isReached
    ? interval.lower >= minimum.value
      ? 'met'
      : 'unknown'
    : interval.upper < minimum.value
      ? 'not-met'
      : 'unknown';
  const advice =
    state === 'unknown'
      ? `, which leaves it open; ${describeFurther(countFurtherIterations(interval, { minimum: minimum.value, errors }), cases)}`
      : '';
  return { state, finding: measured + advice, requirement: `${requirement}, with ${sure} confidence` };
}

/**
 * Judges the pass rate of cases with missing results by the best that these can be: `not-met` only if the minimum is out of reach whatever
 * they are, else `unknown`. `best` are the same cases with every such iteration passed.
 *
 * With a confidence, the upper bound of Clopper and Pearson's interval grows with the rate r and as the number n of independent iterations
 * falls. So the best rate over the smallest number that the clustered interval can take (n² / Σnᵢ²; n for a single case) bounds the interval
 * of every possible outcome. Why it falls with n: it is a quantile of the beta distribution with rn + 1 and (1−r)n, and the densities for
 * two such n have a ratio that is a power of xʳ(1−x)¹⁻ʳ, which rises to its peak at r and then falls. So the distribution functions cross
 * once, and above that point the one for the larger n has its quantiles further below. They cross under the median, since P(x ≤ r) rises to
 * a half with n.
 */
export function boundRate(
  cases: readonly CaseResults[],
  best: readonly CaseResults[],
  { minimum, confidence, errors }: { minimum: Sourced<number>; confidence: Sourced<number> | null; errors: ErrorRates },
): Pick<RequirementReport, 'state' | 'finding'> {
  const { passed, scored } = countScored(cases);
  const most = countScored(best);
  const isCounted = confidence === null || minimum.value >= 1 || most.scored === 0;
  const isCountOut = !meetsMinimumPassRate(most.passed, most.scored, minimum.value);
  const upper = isCounted
    ? (computePassRate(most.passed, most.scored) ?? 1)
    : computeGreatestBound(
        { read: cases.map(countLive), best: best.map(countLive) },
        { errors, hasReplayed: best.some(({ replayed }) => replayed.total > 0) },
      );
  const isOut = isCounted ? isCountOut : isCountOut && upper < minimum.value;
  const rate = scored === 0 ? '' : ` (${formatPassRate(computePassRate(passed, scored))})`;
  const outstanding = formatCount(most.scored - scored, 'iteration');
  const verb = most.scored - scored === 1 ? 'has' : 'have';
  const reach = isCounted
    ? `if all passed, the rate would be ${formatPassRate(upper)}`
    : `if all passed, the rate would be at most ${formatUpperRate(upper)} with ${formatMinimumPassRate(confidence.value)} confidence`;
  return {
    state: isOut ? 'not-met' : 'unknown',
    finding: `${passed} of ${formatCount(scored, 'iteration')} passed${rate}, the minimum is ${formatMinimumPassRate(minimum.value)} (${describeSource(minimum.source)}); ${outstanding} ${verb} no result, and ${reach}`,
  };
}

/**
 * Computes the bound of live iterations at their best. With recordings, it is open which of the missing ones will be live, so at least those
 * that were read count: (Σnᵢ)² / Σnᵢ² is at least Σnᵢ divided by the greatest nᵢ.
 */
function computeGreatestBound(
  { read, best }: Record<'read' | 'best', readonly Cluster[]>,
  { errors, hasReplayed }: { errors: ErrorRates; hasReplayed: boolean },
): number {
  const totals = best.map(({ total }) => total).filter((total) => total > 0);
  const total = sum(totals, (each) => each);
  if (total === 0) return 1;
  const several = total ** 2 / sum(totals, (each) => each ** 2);
  const least = Math.max(1, sum(read, (each) => each.total) / findGreatest(totals));
  const fewest = hasReplayed ? least : totals.length === 1 ? total : several;
  const rate = sum(best, ({ passed }) => passed) / total;
  return computeExactInterval({ passed: rate * fewest, total: fewest }, errors).upper;
}

/**
 * Counts the further iterations that would settle whether the minimum is met, if they passed at the measured rate: those of a single case,
 * or one iteration each of further cases, each of which is an independent one. Null if more than a hundred thousand are needed.
 */
export function countFurtherIterations(
  { rate, effective }: Pick<ClusteredInterval, 'rate' | 'effective'>,
  { minimum, errors }: { minimum: number; errors: ErrorRates },
): number | null {
  const isSettledBy = (further: number): boolean => {
    const [passing, failing] = [effective.passing + further, effective.failing + further];
    return (
      isSurelyAtLeast(minimum, { passed: rate * passing, total: passing }, errors.passing) ||
      isSurelyBelow(minimum, { passed: rate * failing, total: failing }, errors.failing)
    );
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

/** Counts the scored iterations of a case except those in which a recording answered. */
export function countLive({ passed, failed, replayed }: CaseResults): Cluster {
  return { passed: passed - replayed.passed, total: passed + failed - replayed.total };
}

function describeFurther(further: number | null, cases: readonly CaseResults[]): string {
  // The live iterations are on one side of the minimum, and together with the recorded ones they are on the other.
  if (further === 0) return 'the recorded iterations say otherwise';
  if (further === null) return 'the rate is so close to the minimum that no reasonable number of iterations settles it';
  if (cases.length === 1) return `about ${formatCount(further, 'further iteration')} would settle it at this rate`;
  // Repeated iterations of one case are similar, and show less than an iteration of another case.
  return `about ${formatCount(further, 'further case')} with one iteration each would settle it at this rate, and repeating these says less`;
}
