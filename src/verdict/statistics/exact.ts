import type { ErrorRates } from './errors.ts';
import { computeLogUpperBeta } from './incomplete-beta.ts';
import type { RateInterval } from './wilson.ts';

/**
 * Computes the chance of at least `least` passes among `total` at this pass rate (0..1). The numbers need not be whole, so that they can be
 * effective numbers of observations. Source: the binomial tail as an incomplete beta function, NIST Digital Library of Mathematical
 * Functions, 8.17.5.
 */
export function computeTail(least: number, total: number, rate: number): number {
  if (least <= 0) return 1;
  if (least > total || rate <= 0) return 0;
  if (rate >= 1) return 1;
  const [a, b] = [least, total - least + 1];
  return -Math.expm1(Math.min(0, computeLogUpperBeta(a, b, rate) - computeLogUpperBeta(a, b, 0)));
}

/** Checks if the interval of `computeExactInterval` stays at or above `minimum`, without computing it. */
export function isSurelyAtLeast(minimum: number, { passed, total }: Observed, error: number): boolean {
  return computeTail(passed, total, minimum) <= error;
}

/** Checks if the interval of `computeExactInterval` ends below `minimum`. */
export function isSurelyBelow(minimum: number, { passed, total }: Observed, error: number): boolean {
  return computeTail(total - passed, total, 1 - minimum) < error;
}

interface Observed {
  passed: number;
  /** Above 0. */
  total: number;
}

/**
 * Computes the interval of Clopper and Pearson: whatever the rate is, it lies below the interval with a chance of at most `passing`, and
 * above it with a chance of at most `failing`. Near 100 %, no shorter one of the usual intervals keeps that. The numbers need not be whole.
 * Sources: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika
 * 26 (1934) 404-413; for effective numbers E. L. Korn and B. I. Graubard, Survey Methodology 24 (1998) 193-201.
 */
export function computeExactInterval({ passed, total }: Observed, { passing, failing }: ErrorRates): RateInterval {
  const rate = passed / total;
  return {
    rate,
    lower: Math.min(rate, findRate(passed, total, passing)),
    upper: Math.max(rate, 1 - findRate(total - passed, total, failing)),
  };
}

/** Finds the rate at which the chance of at least `least` passes is `error`, by Newton's method on its logarithm within a bracket. */
function findRate(least: number, total: number, error: number): number {
  if (least <= 0) return 0;
  const [a, b] = [least, total - least + 1];
  const whole = computeLogUpperBeta(a, b, 0);
  let [low, high] = [0, 1];
  let rate = a / (a + b);
  for (let step = 0; step < 200 && high - low > Number.EPSILON * high; step += 1) {
    const chance = computeTail(least, total, rate);
    if (chance > error) high = rate;
    else low = rate;
    const density = Math.exp((a - 1) * Math.log(rate) + (b - 1) * Math.log1p(-rate) - whole);
    const next = rate - (Math.log(chance / error) * chance) / density;
    if (Math.abs(next - rate) <= Number.EPSILON * rate) return next;
    rate = next > low && next < high ? next : (low + high) / 2;
  }
  return rate;
}
