import { describe, expect, it } from 'vitest';
import { testPairs } from '../../../src/verdict/statistics/paired.ts';

describe('testPairs', () => {
  // Exact: statsmodels 0.15.0, mcnemar(exact=True). Mid-p: that minus scipy 1.17.1's binom.pmf of the observed outcome.
  it.each([
    [1, 5, 0.21875, 0.125],
    [0, 6, 0.03125, 0.015625],
    [3, 12, 0.03515625, 0.02127075195312501],
    [45, 30, 0.10534226887460482, 0.08464609267083582],
    [12, 25, 0.04703102743951604, 0.03355243967962451],
    [0, 1, 1, 0.5],
    [600, 700, 0.0060157938610449395, 0.005543558709501235],
  ])('agrees with other software on %i fixed and %i broken', (fixed, broken, exact, midP) => {
    const test = testPairs({ fixed, broken });
    expect(test.exact).toBeCloseTo(exact, 10);
    expect(test.midP).toBeCloseTo(midP, 10);
    expect(testPairs({ fixed: broken, broken: fixed })).toEqual(test);
  });

  it('finds nothing where as many were fixed as broken, or none changed', () => {
    expect(testPairs({ fixed: 0, broken: 0 })).toEqual({ exact: 1, midP: 1 });
    const even = testPairs({ fixed: 10, broken: 10 });
    expect(even.exact).toBeCloseTo(1, 12);
    // 1 minus half of the 0.1762 that scipy gives as binom.pmf(10, 20, 0.5).
    expect(even.midP).toBeCloseTo(0.9119014739990234, 10);
  });

  it('does not underflow for many pairs', () => {
    expect(testPairs({ fixed: 5000, broken: 5000 }).exact).toBeCloseTo(1, 8);
    expect(testPairs({ fixed: 0, broken: 5000 }).exact).toBe(0);
  });
});
