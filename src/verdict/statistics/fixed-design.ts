import { splitConfidence } from './errors.ts';
import { computeTail } from './exact.ts';

/** How far from the minimum the yardstick has to find a rate, and how often. */
const distance = 0.05;
const power = 0.9;
const step = 5;
const mostIterations = 5000;

/**
 * Counts the iterations that a fixed design takes to decide what a sequential one has decided: the smallest exact one-sided binomial
 * test with this confidence that finds a rate five points above the `minimum` (0..1), or below it where it `failed`, nine times in ten.
 * In steps of five; null where it takes more than 5,000.
 */
export function countFixedDesign(
  decision: 'passed' | 'failed',
  { minimum, confidence }: { minimum: number; confidence: number },
): number | null {
  // A minimum that is missed is the same question about failures.
  const none = decision === 'passed' ? minimum : 1 - minimum;
  const some = Math.min(1, none + distance);
  const error = splitConfidence(confidence)[decision === 'passed' ? 'passing' : 'failing'];
  for (let total = 2 * step; total <= mostIterations; total += step) {
    const critical = findCritical(total, none, error);
    if (critical <= total && computeTail(critical, total, some) >= power) return total;
  }
  return null;
}

/** The least number of passes whose chance at this rate is at most `error`; one more than the total where there is none. */
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
