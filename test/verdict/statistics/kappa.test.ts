import { describe, expect, it } from 'vitest';
import { computeKappa, type RatingTable } from '../../../src/verdict/statistics/kappa.ts';

function table(bothPassed: number, firstPassed: number, secondPassed: number, bothFailed: number): RatingTable {
  return { bothPassed, firstPassed, secondPassed, bothFailed };
}

/** Kappa from the definition, over categories, and the bounds of the agreement by bisection of the score test. */
function computeIndependently(ratings: RatingTable): { kappa: number; lower: number; upper: number } {
  const { bothPassed, firstPassed, secondPassed, bothFailed } = ratings;
  const cells = [
    [bothPassed, firstPassed],
    [secondPassed, bothFailed],
  ];
  const total = cells.flat().reduce((sum, cell) => sum + cell, 0);
  const row = (index: number) => (cells[index] ?? []).reduce((sum, cell) => sum + cell, 0);
  const column = (index: number) => cells.reduce((sum, cellsOfRow) => sum + (cellsOfRow[index] ?? 0), 0);
  const expected = [0, 1].reduce((sum, index) => sum + (row(index) * column(index)) / total, 0);
  const agreed = bothPassed + bothFailed;
  const toKappa = (share: number) => (total * share - expected) / (total - expected);
  const isInside = (share: number) =>
    Math.abs(agreed / total - share) <= 1.959963984540054 * Math.sqrt((share * (1 - share)) / total);
  const findBound = (outside: number) => {
    let [far, near] = [outside, agreed / total];
    for (let step = 0; step < 80; step += 1) {
      const middle = (far + near) / 2;
      if (isInside(middle)) near = middle;
      else far = middle;
    }
    return near;
  };
  return { kappa: toKappa(agreed / total), lower: Math.max(-1, toKappa(findBound(0))), upper: toKappa(findBound(1)) };
}

describe('computeKappa', () => {
  // The three tables that the English Wikipedia gives in its article on Cohen's kappa, with their results.
  it.each([
    [table(20, 5, 10, 15), 0.4],
    [table(45, 15, 25, 15), 0.1304],
    [table(25, 35, 5, 35), 0.2593],
  ])('agrees with the published kappa of %j', (ratings, published) => {
    expect(computeKappa(ratings, 0.95)?.kappa).toBeCloseTo(published, 4);
  });

  it('agrees with an independent computation of kappa and its interval', () => {
    for (const ratings of [table(20, 5, 10, 15), table(19, 1, 2, 18), table(8, 0, 0, 8), table(1, 30, 1, 2)]) {
      const { kappa, lower, upper } = computeIndependently(ratings);
      const computed = computeKappa(ratings, 0.95);
      expect(computed?.kappa).toBeCloseTo(kappa, 12);
      expect(computed?.lower).toBeCloseTo(lower, 9);
      expect(computed?.upper).toBeCloseTo(upper, 9);
    }
  });

  it('is 1 without a disagreement, with a lower bound that rises with the examples', () => {
    expect(computeKappa(table(4, 0, 0, 4), 0.95)).toMatchObject({ accuracy: 1, kappa: 1, upper: 1 });
    expect(computeKappa(table(7, 0, 0, 8), 0.95)?.lower).toBeLessThan(0.6);
    expect(computeKappa(table(8, 0, 0, 8), 0.95)?.lower).toBeGreaterThan(0.6);
  });

  it('is 0 for a rater that passes everything, and below 0 for one that turns the ratings over', () => {
    expect(computeKappa(table(10, 0, 10, 0), 0.95)?.kappa).toBe(0);
    expect(computeKappa(table(0, 10, 10, 0), 0.95)).toMatchObject({ accuracy: 0, kappa: -1, lower: -1 });
  });

  it('is undefined where both raters gave one rating only, and without items', () => {
    expect(computeKappa(table(10, 0, 0, 0), 0.95)).toBeNull();
    expect(computeKappa(table(0, 0, 0, 10), 0.95)).toBeNull();
    expect(computeKappa(table(0, 0, 0, 0), 0.95)).toBeNull();
  });

  it('covers the true kappa in at least 92% of all samples of 20 to 40 examples', () => {
    for (const [total, sensitivity, specificity] of [
      [20, 0.8, 0.8],
      [20, 0.97, 0.97],
      [40, 0.9, 0.9],
      [40, 0.95, 0.85],
    ] as const) {
      expect(computeCoverage(total, { sensitivity, specificity })).toBeGreaterThan(0.92);
    }
  });
});

/** The probability, over all results of a judge of these rates, that the interval has the true kappa. Half of the labels pass. */
function computeCoverage(total: number, judge: { sensitivity: number; specificity: number }): number {
  const half = total / 2;
  const truth = judge.sensitivity + judge.specificity - 1;
  let covered = 0;
  for (let passed = 0; passed <= half; passed += 1) {
    for (let failed = 0; failed <= half; failed += 1) {
      const computed = computeKappa(table(passed, half - passed, half - failed, failed), 0.95);
      const weight = binomial(half, passed, judge.sensitivity) * binomial(half, failed, judge.specificity);
      if (computed !== null && computed.lower <= truth && truth <= computed.upper) covered += weight;
    }
  }
  return covered;
}

function binomial(trials: number, hits: number, probability: number): number {
  let ways = 1;
  for (let index = 1; index <= hits; index += 1) ways *= (trials - hits + index) / index;
  return ways * probability ** hits * (1 - probability) ** (trials - hits);
}
