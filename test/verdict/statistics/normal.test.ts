import { describe, expect, it } from 'vitest';
import { computeCriticalValue, computeNormalQuantile } from '../../../src/verdict/statistics/normal.ts';
import { computeStudentCriticalValue } from '../../../src/verdict/statistics/clustered.ts';

describe('computeNormalQuantile', () => {
  // scipy 1.17.1, scipy.stats.norm.ppf.
  it.each([
    [0.5, 0],
    [0.75, 0.6744897501960817],
    [0.9, 1.2815515655446004],
    [0.95, 1.6448536269514722],
    [0.975, 1.959963984540054],
    [0.99995, 3.8905918864131204],
    [0.0001, -3.7190164854556804],
    [1e-10, -6.361340902404056],
    [1e-20, -9.262340089798409],
  ])('is right at %d', (probability, expected) => {
    expect(computeNormalQuantile(probability)).toBeCloseTo(expected, 10);
  });

  it('gives the reach of two-sided intervals', () => {
    expect(computeCriticalValue(0.95)).toBeCloseTo(1.959963984540054, 12);
    expect(computeCriticalValue(0.99)).toBeCloseTo(2.5758293035489004, 12);
  });
});

describe('computeStudentCriticalValue', () => {
  // scipy 1.17.1, scipy.stats.t.ppf(0.5 + confidence / 2, df).
  it.each([
    [0.95, 1, 12.706204736174694],
    [0.95, 2, 4.302652729749462],
    [0.95, 3, 3.1824463052837078],
    [0.95, 9, 2.262157162798205],
    [0.95, 30, 2.0422724563012378],
    [0.95, 199, 1.9719565442517533],
    [0.99, 1, 63.656741162871526],
    [0.9, 4, 2.1318467863266495],
    [0.9, 5, 2.0150483733330233],
    [0.8, 2, 1.8856180831641272],
  ])('is right for %d with %i degrees of freedom', (confidence, degreesOfFreedom, expected) => {
    expect(computeStudentCriticalValue(confidence, degreesOfFreedom)).toBeCloseTo(expected, 8);
  });

  it('approaches the normal distribution from above', () => {
    const reach = computeCriticalValue(0.95);
    const wide = [10, 100, 1000].map((df) => computeStudentCriticalValue(0.95, df) - reach);
    expect(wide.every((excess) => excess > 0)).toBe(true);
    expect(wide.at(-1)).toBeLessThan(0.003);
  });
});
