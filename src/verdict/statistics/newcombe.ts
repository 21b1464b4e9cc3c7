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
