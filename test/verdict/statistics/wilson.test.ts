import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeWilsonInterval } from '../../../src/verdict/statistics/wilson.ts';

describe('computeWilsonInterval', () => {
  // R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3, as printed there.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('agrees with the published interval of %i of %i', (passed, total, lower, upper) => {
    const interval = computeWilsonInterval(passed, total, 0.95);
    expect(interval.lower).toBeCloseTo(lower, 4);
    expect(interval.upper).toBeCloseTo(upper, 4);
  });

  // statsmodels 0.15.0, proportion_confint(method='wilson').
  it.each([
    [9, 10, 0.95, 0.5958499732047615, 0.9821237869049271],
    [10, 10, 0.95, 0.7224672001371107, 1],
    [95, 100, 0.99, 0.8608496970983599, 0.9831516839573993],
    [1, 1, 0.9, 0.269865948784054, 1],
    [4.5, 7.25, 0.95, 0.29029227589909623, 0.8674867889011897],
  ])('agrees with other software on %d of %d at %d', (passed, total, confidence, lower, upper) => {
    const interval = computeWilsonInterval(passed, total, confidence);
    expect(interval.lower).toBeCloseTo(lower, 10);
    expect(interval.upper).toBeCloseTo(upper, 10);
  });

  it('contains the rate, stays within 0 and 1, and narrows with lower confidence', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 2000 }),
        fc.nat({ max: 2000 }),
        fc.double({ min: 0.5, max: 0.999, noNaN: true }),
        (a, b, c) => {
          fc.pre(a + b > 0);
          const { rate, lower, upper } = computeWilsonInterval(a, a + b, c);
          expect(0 <= lower && lower <= rate && rate <= upper && upper <= 1).toBe(true);
          const sure = computeWilsonInterval(a, a + b, 0.9995);
          expect(sure.lower <= lower && sure.upper >= upper).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('moves neither bound down when one more passes', () => {
    fc.assert(
      fc.property(fc.nat({ max: 500 }), fc.nat({ max: 500 }), (a, b) => {
        fc.pre(a + b > 0);
        const before = computeWilsonInterval(a, a + b, 0.95);
        const after = computeWilsonInterval(a + 1, a + b + 1, 0.95);
        expect(after.lower).toBeGreaterThanOrEqual(before.lower);
        expect(after.upper).toBeGreaterThanOrEqual(before.upper);
      }),
      { numRuns: 2000 },
    );
  });
});
