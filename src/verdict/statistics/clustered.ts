import type { ErrorRates } from './errors.ts';
import { computeExactInterval } from './exact.ts';
import { computeNormalQuantile } from './normal.ts';
import { computeWilsonInterval, type RateInterval } from './wilson.ts';

/** The iterations of one case with a result. */
export interface Cluster {
  passed: number;
  total: number;
}

export interface ClusteredInterval extends RateInterval {
  /**
   * The number of independent iterations that would show as much as these, at most their number. It differs for each error, since a rarer
   * error needs a variance that is known better.
   */
  effective: ErrorRates;
}

/**
 * Computes the two-sided interval of the pass rate of cases like these, for iterations that are similar within a case; null without
 * iterations. It is Clopper and Pearson's interval for the number of independent iterations that would have the same variance, which is
 * estimated from how far the cases lie apart (the linearised variance of a ratio, as in survey sampling), with Student's t for a variance
 * estimated from few cases.
 *
 * That number stays between n² / Σnᵢ², if each case counts once, and n, if every iteration does. If all passed or all failed, nothing shows
 * how similar the iterations of a case are, and each case counts once. With one iteration per case it is Clopper and Pearson's interval, and
 * so it is for a single case, which shows only its own rate.
 *
 * Cluster-robust rather than a bootstrap of cases: it needs no random numbers, and a bootstrap of cases that all passed gives an interval
 * without length. Sources: L. Kish, Survey Sampling (1965), §5.4 and §11.7 (design effect, effective size); E. L. Korn and B. I. Graubard,
 * "Confidence intervals for proportions with small expected number of positive counts estimated from survey data", Survey Methodology 24
 * (1998) 193-201 (Clopper and Pearson's interval on an effective size, and its degrees of freedom).
 */
export function computeClusteredInterval(
  clusters: readonly Cluster[],
  { passing, failing }: ErrorRates,
): ClusteredInterval | null {
  const sample = sampleClusters(clusters);
  if (sample === null) return null;
  const { rate } = sample;
  const effective = {
    passing: computeEffectiveTotal(sample, passing),
    failing: computeEffectiveTotal(sample, failing),
  };
  const bound = (total: number) => computeExactInterval({ passed: rate * total, total }, { passing, failing });
  return { rate, lower: bound(effective.passing).lower, upper: bound(effective.failing).upper, effective };
}

/**
 * Does the same with Wilson's interval, which differences of two rates need. Source: C. Franco, R. J. A. Little, T. A. Louis and E. V. Slud,
 * "Comparative study of confidence intervals for proportions in complex sample surveys", Journal of Survey Statistics and Methodology 7
 * (2019) 334-364.
 */
export function computeClusteredWilsonInterval(clusters: readonly Cluster[], confidence: number): RateInterval | null {
  const sample = sampleClusters(clusters);
  if (sample === null) return null;
  const total = computeEffectiveTotal(sample, (1 - confidence) / 2);
  return { ...computeWilsonInterval(sample.rate * total, total, confidence), rate: sample.rate };
}

interface Sample {
  clusters: readonly Cluster[];
  total: number;
  rate: number;
}

function sampleClusters(all: readonly Cluster[]): Sample | null {
  // Sorts the cases, since the last digit of sums of fractions depends on the order.
  const clusters = all.filter(({ total }) => total > 0).toSorted((a, b) => a.total - b.total || a.passed - b.passed);
  const total = clusters.reduce((sum, testCase) => sum + testCase.total, 0);
  if (total === 0) return null;
  return { clusters, total, rate: clusters.reduce((sum, testCase) => sum + testCase.passed, 0) / total };
}

function computeEffectiveTotal({ clusters, rate, total }: Sample, error: number): number {
  const count = clusters.length;
  if (count === 1) return total;
  const fewest = total ** 2 / clusters.reduce((sum, cluster) => sum + cluster.total ** 2, 0);
  const binomialVariance = (rate * (1 - rate)) / total;
  if (binomialVariance === 0) return fewest;
  const variance = estimateVariance(clusters, rate);
  if (variance === 0) return total;
  const shrinkage = (computeNormalQuantile(error) / computeStudentCriticalValue(1 - 2 * error, count - 1)) ** 2;
  return Math.min(total, Math.max(fewest, ((total * binomialVariance) / variance) * shrinkage));
}

/**
 * Estimates the variance of a pass rate from the spread of at least two cases, each a cluster of iterations. Source: W. G. Cochran, Sampling
 * Techniques (3rd ed. 1977), §9A and formula (6.13), with the factor k / (k - 1) for k clusters.
 */
export function estimateVariance(clusters: readonly Cluster[], rate: number): number {
  const total = clusters.reduce((sum, cluster) => sum + cluster.total, 0);
  const spread = clusters.reduce((sum, cluster) => sum + (cluster.passed - rate * cluster.total) ** 2, 0);
  return ((clusters.length / (clusters.length - 1)) * spread) / total ** 2;
}

/**
 * Computes how many standard errors a two-sided interval reaches if the variance itself was estimated, from these degrees of freedom (a
 * whole number from 1): the quantile of Student's t. The distribution function is the finite series for whole degrees of freedom (M.
 * Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 1964, 26.7.3 and 26.7.4), inverted by bisection to about 12 digits.
 */
export function computeStudentCriticalValue(confidence: number, degreesOfFreedom: number): number {
  // Bisects the angle, not t: with one degree of freedom t reaches far, and the angle stays below a quarter turn.
  let low = 0;
  let high = Math.PI / 2;
  for (let halving = 0; halving < 50; halving += 1) {
    const angle = (low + high) / 2;
    if (computeTwoSidedProbability(angle, degreesOfFreedom) < confidence) low = angle;
    else high = angle;
  }
  return Math.sqrt(degreesOfFreedom) * Math.tan((low + high) / 2);
}

/** Computes the probability that |t| stays below sqrt(degrees of freedom) times the tangent of the angle. */
function computeTwoSidedProbability(angle: number, degreesOfFreedom: number): number {
  const squaredCosine = Math.cos(angle) ** 2;
  const isOdd = degreesOfFreedom % 2 === 1;
  let term = isOdd ? Math.cos(angle) : 1;
  let sum = 0;
  for (let power = isOdd ? 1 : 0; power <= degreesOfFreedom - 2; power += 2) {
    sum += term;
    term *= ((power + 1) / (power + 2)) * squaredCosine;
  }
  return isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}
