/** The chances that a decision about one minimum is wrong, 0..1: it passes and is not met, or it fails and is met. */
export interface ErrorRates {
  passing: number;
  failing: number;
}

/**
 * Splits the error that a `confidence` (0..1) leaves: half of it for each direction, for a fixed number of iterations as for a range. At 95
 * %, either error has a chance of at most 2.5 %.
 *
 * With several `minimums`, the chance that any of them fails although it is met is at most that half (Bonferroni's inequality). Passing
 * needs no such share: a gate passes only if every minimum passes, so a minimum that is not met and passes is a wrong pass at its own error.
 */
export function splitConfidence(confidence: number, minimums = 1): ErrorRates {
  const each = (1 - confidence) / 2;
  return { passing: each, failing: each / Math.max(1, minimums) };
}
