import type { RateInterval } from './wilson.ts';

/** How much one rate exceeds another, and the range that plausibly has; fractions -1..1. */
export interface DifferenceInterval {
  difference: number;
  lower: number;
  upper: number;
}

/**
 * Computes the interval of `a.rate - b.rate` from the intervals of two independent rates: Newcombe's hybrid score
 * interval where both are Wilson's of the same confidence, and by the same reasoning one for clustered rates where both
 * are clustered. Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions:
 * comparison of eleven methods", Statistics in Medicine 17 (1998) 873-890, method 10; for other intervals of the rates,
 * G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general approach", Statistics in
 * Medicine 27 (2008) 1693-1702.
 */
export function computeDifferenceInterval(a: RateInterval, b: RateInterval): DifferenceInterval {
  const difference = a.rate - b.rate;
  return {
    difference,
    lower: difference - Math.hypot(a.rate - a.lower, b.upper - b.rate),
    upper: difference + Math.hypot(a.upper - a.rate, b.rate - b.lower),
  };
}

/** Two-sided probabilities of a difference at least as large, were there none. Fractions 0..1. */
export interface PairedTest {
  /** Never too small, whatever the number of pairs. */
  exact: number;
  /** Counts the observed outcome half; closer to its nominal level on average, and sometimes above it. */
  midP: number;
}

/**
 * Tests whether pairs that changed did so in one direction: `fixed` failed before and pass now, `broken` passed before
 * and fail now; pairs that did not change say nothing about it. The exact conditional test, which is a sign test. Sources:
 * Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
 * Psychometrika 12 (1947) 153-157; M. W. Fagerland, S. Lydersen and P. Laake, "The McNemar test for binary
 * matched-pairs data: mid-p and asymptotic are better than exact conditional", BMC Medical Research Methodology 13
 * (2013) 91.
 */
export function testPairs({ fixed, broken }: { fixed: number; broken: number }): PairedTest {
  const changed = fixed + broken;
  if (changed === 0) return { exact: 1, midP: 1 };
  const fewer = Math.min(fixed, broken);
  // In logarithms, since 2^-n is no number any more beyond a thousand pairs.
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
