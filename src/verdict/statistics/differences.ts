import { findGreatest } from '../../base/lists.ts';
import type { RateInterval } from './wilson.ts';

/** The difference of two rates and its plausible range; fractions -1..1. */
export interface DifferenceInterval {
  difference: number;
  lower: number;
  upper: number;
}

/**
 * Computes the interval of `a.rate - b.rate` from the intervals of two independent rates: Newcombe's hybrid score interval if both are
 * Wilson's of the same confidence, and by the same reasoning one for clustered rates if both are clustered. Source: R. G. Newcombe,
 * "Interval estimation for the difference between independent proportions: comparison of eleven methods", Statistics in Medicine 17 (1998)
 * 873-890, method 10; for other intervals of the rates, G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a
 * general approach", Statistics in Medicine 27 (2008) 1693-1702.
 */
export function computeDifferenceInterval(a: RateInterval, b: RateInterval): DifferenceInterval {
  const difference = a.rate - b.rate;
  return {
    difference,
    lower: difference - Math.hypot(a.rate - a.lower, b.upper - b.rate),
    upper: difference + Math.hypot(a.upper - a.rate, b.rate - b.lower),
  };
}

/** The two-sided probabilities of a difference at least as large, if there is no real difference. Fractions 0..1. */
export interface PairedTest {
  /** Never too small, whatever the number of pairs. */
  exact: number;
  /** Counts half of the probability of the observed outcome; closer to its nominal level on average, and sometimes above it. */
  midP: number;
}

/**
 * Tests whether pairs that changed did so in one direction: `fixed` failed before and pass now, `broken` passed before and fail now;
 * unchanged pairs say nothing about it. The exact conditional test, which is a sign test. Sources: Q. McNemar, "Note on the sampling error
 * of the difference between correlated proportions or percentages", Psychometrika 12 (1947) 153-157; M. W. Fagerland, S. Lydersen and P.
 * Laake, "The McNemar test for binary matched-pairs data: mid-p and asymptotic are better than exact conditional", BMC Medical Research
 * Methodology 13 (2013) 91.
 */
export function testPairs({ fixed, broken }: { fixed: number; broken: number }): PairedTest {
  const changed = fixed + broken;
  if (changed === 0) return { exact: 1, midP: 1 };
  const fewer = Math.min(fixed, broken);
  // Computes in logarithms, since 2^-n underflows beyond a thousand pairs.
  let logProbability = -changed * Math.LN2;
  let below = 0;
  for (let count = 0; count < fewer; count += 1) {
    below += Math.exp(logProbability);
    logProbability += Math.log((changed - count) / (count + 1));
  }
  const observed = Math.exp(logProbability);
  const exact = Math.min(1, 2 * (below + observed));
  return { exact, midP: fixed === broken ? 1 - observed / 2 : 2 * below + observed };
}

/** The iterations of one case that passed, earlier and now. */
interface CaseCounts {
  baseline: { passed: number; total: number };
  current: { passed: number; total: number };
}

/**
 * Tests whether fewer iterations of these cases pass now than chance explains: the probability of as few passes or fewer, given the passes
 * of each case on both sides together, if each case passes as often as before. Exact, one-sided and stratified by case, so that easy and
 * hard cases are not mixed; with one iteration per side it is McNemar's test. Sources: D. R. Cox, "A simple example of a comparison
 * involving quantal data", Biometrika 53 (1966) 215-220; C. R. Mehta, N. R. Patel and R. Gray, "Computing an exact confidence interval for
 * the common odds ratio in several 2 × 2 contingency tables", JASA 80 (1985) 969-973 (the distribution as a convolution).
 */
export function testFall(cases: readonly CaseCounts[]): number {
  let sum: Distribution = { from: 0, probabilities: [1] };
  let observed = 0;
  for (const testCase of cases) {
    sum = trim(convolve(sum, distributePasses(testCase)));
    observed += testCase.current.passed;
  }
  const { from, probabilities } = sum;
  return Math.min(1, add(probabilities.slice(0, Math.max(0, observed - from + 1))));
}

/** Distinguishes all differences of rates if both sides have at most ten iterations: the least common multiple of 1 to 10. */
const finestShare = 2520;

/**
 * Tests whether cases pass less often now, for tasks like these cases: the probability of so low a sum of their differences, or a lower one,
 * if each difference were as likely to have the other sign. That holds if both sides have the same number of iterations and nothing changed.
 * Exact for any number of cases; differences are rounded to 1/2520, which changes none of up to ten iterations per side. With one iteration
 * per side it is McNemar's test. Sources: R. A. Fisher, "The Design of Experiments" (1935), section 21; M. Pagano and D. Tritchler, "On
 * obtaining permutation distributions in polynomial time", JASA 78 (1983) 435-440 (the distribution as a convolution).
 */
export function testSignFlips(cases: readonly CaseCounts[]): number {
  const shares = cases
    .map(({ baseline, current }) => current.passed / current.total - baseline.passed / baseline.total)
    .map((difference) => Math.round(difference * finestShare))
    .filter((share) => share !== 0);
  const unit = shares.reduce(findDivisor, 0);
  let sum: Distribution = { from: 0, probabilities: [1] };
  for (const share of shares) sum = trim(flipSign(sum, Math.abs(share / unit)));
  const observed = add(shares.map((share) => share / unit));
  return Math.min(1, add(sum.probabilities.slice(0, Math.max(0, observed - sum.from + 1))));
}

/** Adds or subtracts a number, with the same probability. */
function flipSign({ from, probabilities }: Distribution, size: number): Distribution {
  const joined = Array.from({ length: probabilities.length + 2 * size }, (_, index) => {
    return ((probabilities[index] ?? 0) + (probabilities[index - 2 * size] ?? 0)) / 2;
  });
  return { from: from - size, probabilities: joined };
}

function findDivisor(one: number, other: number): number {
  return other === 0 ? Math.abs(one) : findDivisor(other, one % other);
}

/**
 * Measures the same fall with the normal distribution: the number of standard deviations by which fewer iterations pass now than expected
 * (half a pass less for continuity), and the variance. Close to `testFall` if the variance is large. Source: N. Mantel and W. Haenszel,
 * "Statistical aspects of the analysis of data from retrospective studies of disease", Journal of the National Cancer Institute 22 (1959)
 * 719-748.
 */
export function measureFall(cases: readonly CaseCounts[]): { deviations: number; variance: number } {
  let [missing, variance] = [0, 0];
  for (const { baseline, current } of cases) {
    const total = baseline.total + current.total;
    const passed = baseline.passed + current.passed;
    if (total < 2) continue;
    missing += (passed * current.total) / total - current.passed;
    variance += (baseline.total * current.total * passed * (total - passed)) / (total * total * (total - 1));
  }
  return { deviations: variance === 0 ? -Infinity : (missing - 0.5) / Math.sqrt(variance), variance };
}

/** The distribution of a count: the probability of `from`, and of each count above it. */
interface Distribution {
  from: number;
  probabilities: readonly number[];
}

/** Computes the hypergeometric distribution of the current passes. */
function distributePasses({ baseline, current }: CaseCounts): Distribution {
  const passed = baseline.passed + current.passed;
  const fewest = Math.max(0, passed - baseline.total);
  const most = Math.min(passed, current.total);
  // Computes in logarithms, since the binomials of a thousand iterations overflow.
  const logs = [0];
  for (let count = fewest; count < most; count += 1) {
    const ratio = ((passed - count) * (current.total - count)) / ((count + 1) * (baseline.total - passed + count + 1));
    logs.push((logs.at(-1) ?? 0) + Math.log(ratio));
  }
  const greatest = findGreatest(logs);
  const weights = logs.map((log) => Math.exp(log - greatest));
  const total = add(weights);
  return { from: fewest, probabilities: weights.map((weight) => weight / total) };
}

function convolve(one: Distribution, other: Distribution): Distribution {
  const joined = Array.from({ length: one.probabilities.length + other.probabilities.length - 1 }, () => 0);
  for (const [index, probability] of one.probabilities.entries()) {
    for (const [shift, factor] of other.probabilities.entries()) {
      joined[index + shift] = (joined[index + shift] ?? 0) + probability * factor;
    }
  }
  return { from: one.from + other.from, probabilities: joined };
}

/** Far below any probability that is compared. Without these ends, the work grows with the spread of the sum and not with its range. */
const negligible = 1e-20;

function trim({ from, probabilities }: Distribution): Distribution {
  const first = probabilities.findIndex((probability) => probability > negligible);
  const last = probabilities.findLastIndex((probability) => probability > negligible);
  return { from: from + first, probabilities: probabilities.slice(first, last + 1) };
}

function add(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
