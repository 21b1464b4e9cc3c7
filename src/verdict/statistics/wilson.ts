import { computeCriticalValue } from './normal.ts';

/** A rate and its plausible range; fractions 0..1. The rate always lies inside. */
export interface RateInterval {
  rate: number;
  lower: number;
  upper: number;
}

/**
 * Computes the Wilson score interval of a proportion, two-sided, without continuity correction. `total` is above 0 and need not be whole, so
 * that it can be an effective number of observations. The interval never leaves 0..1, and has a length at rates of 0 and 1, where the
 * textbook interval has none. Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927)
 * 209-212; method 3 of R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998) 857-872.
 */
export function computeWilsonInterval(passed: number, total: number, confidence: number): RateInterval {
  const rate = passed / total;
  const square = computeCriticalValue(confidence) ** 2;
  const center = (passed + square / 2) / (total + square);
  const reach = Math.sqrt(square * (total * rate * (1 - rate) + square / 4)) / (total + square);
  // At the ends the formula gives 0 and 1, except for rounding errors.
  return {
    rate,
    lower: passed === 0 ? 0 : Math.max(0, Math.min(rate, center - reach)),
    upper: passed === total ? 1 : Math.min(1, Math.max(rate, center + reach)),
  };
}
