import { createRandom } from '../base/random.ts';
import { rateConfidence } from '../model/case-change.ts';
import type { Counts } from '../model/quantities.ts';
import { exceedsDrop, fewestTasks, sumCounts } from './compare-rates.ts';
import { measureFall, testFall, testSignFlips } from './statistics/differences.ts';

/** The baseline's results of a case, and the number of its iterations now. */
export interface ExpectedCase {
  baseline: Counts;
  iterations: number;
}

interface FallRule {
  maximumRateDrop: number;
  isOverTasks: boolean;
}

/** The share of gates that must find the fall. */
const fallPower = 0.9;

/** With this number, a power of 90 % is accurate to a point and a half, and most falls to one point. */
const simulatedGates = 400;

/** The number of times that the range of the fall is halved, down to less than a point. */
const halvings = 7;

/**
 * Computes the smallest fall of a suite's pass rate that `maximumRateDrop` finds nine times in ten, a fraction 0..1; null if not even the
 * loss of every pass is found so often. Assumes that each case loses the same share of its passes in the baseline, which is harder to find
 * than the same fall in a few cases. The power of the test has no formula, so this simulates the gates of a fall from one seed, and judges
 * them by the rule itself.
 */
export function computeSmallestFall(cases: readonly ExpectedCase[], rule: FallRule): number | null {
  const before = sumCounts(cases.map(({ baseline }) => baseline));
  const iterations = cases.reduce((sum, testCase) => sum + testCase.iterations, 0);
  if (before.passed === 0 || iterations === 0) return null;
  if (findShare(cases, 1, rule) < fallPower) return null;
  let [low, high] = [0, 1];
  for (let step = 0; step < halvings; step += 1) {
    const middle = (low + high) / 2;
    if (findShare(cases, middle, rule) < fallPower) low = middle;
    else high = middle;
  }
  const kept = cases.reduce((sum, { baseline, iterations: now }) => sum + (baseline.passed / baseline.total) * now, 0);
  return Math.max(0, before.passed / before.total - (kept * (1 - high)) / iterations);
}

/** Computes the share of simulated gates that fail if every case loses this share of its passes. */
function findShare(cases: readonly ExpectedCase[], lost: number, rule: FallRule): number {
  // Uses the same draws for every share, so that a larger share makes more of the gates fail.
  const random = createRandom(20_261_125);
  let failed = 0;
  for (let gate = 0; gate < simulatedGates; gate += 1) {
    const pairs = cases.map(({ baseline, iterations }) => {
      const rate = (baseline.passed / baseline.total) * (1 - lost);
      let passed = 0;
      for (let run = 0; run < iterations; run += 1) if (random() < rate) passed += 1;
      return { baseline, current: { passed, total: iterations } };
    });
    if (isFound(pairs, rule)) failed += 1;
  }
  return failed / simulatedGates;
}

function isFound(pairs: ReadonlyArray<{ baseline: Counts; current: Counts }>, rule: FallRule): boolean {
  const sides = {
    baseline: sumCounts(pairs.map(({ baseline }) => baseline)),
    current: sumCounts(pairs.map(({ current }) => current)),
  };
  if (!exceedsDrop(sides, rule.maximumRateDrop)) return false;
  const equal = rule.isOverTasks ? pairs.filter(({ baseline, current }) => baseline.total === current.total) : [];
  if (equal.length >= fewestTasks) return testSignFlips(equal) <= 1 - rateConfidence;
  const { deviations, variance } = measureFall(pairs);
  const isClear = Math.abs(deviations - clearFall) > 0.6;
  // Far from the limit, or with many iterations, the normal distribution decides like the exact one.
  if (isClear || variance >= 25) return deviations > clearFall;
  return testFall(pairs) <= 1 - rateConfidence;
}

/** The 95 % point of the normal distribution. */
const clearFall = 1.6448536269514722;
