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
