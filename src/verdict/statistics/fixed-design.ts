import type { ErrorRates } from './errors.ts';
import { computeTail } from './exact.ts';

/** The probability with which the fixed design has to find the distance. */
const power = 0.9;
const mostIterations = 5000;

/**
 * Counts the iterations that a fixed design needs for the decision of a sequential one: the smallest exact one-sided binomial test with
 * these errors that finds a rate this far above the `minimum` (0..1), or below it if the decision is `failed`, nine times in ten. In steps
 * of `step`; null if it needs more than 5,000.
 */
export function countFixedDesign(
  decision: 'passed' | 'failed',
  {
    minimum,
    errors,
    distance = 0.05,
    step = 5,
  }: { minimum: number; errors: ErrorRates; distance?: number; step?: number },
): number | null {
  // A missed minimum is the same question about failures.
  const none = decision === 'passed' ? minimum : 1 - minimum;
  const some = Math.min(1, none + distance);
  const error = errors[decision === 'passed' ? 'passing' : 'failing'];
  for (let total = 2 * step; total <= mostIterations; total += step) {
    const critical = findCritical(total, none, error);
    if (critical <= total && computeTail(critical, total, some) >= power) return total;
  }
  return null;
}

/** Finds the least number of passes that has a chance of at most `error` at this rate; one more than the total if there is none. */
function findCritical(total: number, rate: number, error: number): number {
  let low = 0;
  let high = total + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (computeTail(middle, total, rate) <= error) high = middle;
    else low = middle + 1;
  }
  return low;
}
