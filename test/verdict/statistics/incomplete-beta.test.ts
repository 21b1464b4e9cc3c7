import { describe, expect, it } from 'vitest';
import { computeLogUpperBeta } from '../../../src/verdict/statistics/incomplete-beta.ts';

describe('computeLogUpperBeta', () => {
  // For whole a and b the integral is B(a, b) times the chance of at most a - 1 successes in a + b - 1 trials; summed term by term
  // with 40 digits in mpmath 1.3. scipy 1.17.1's betaln + log(betaincc) agrees where the integral is still a number.
  it.each([
    [1, 21, 0.8, -36.84271859883953],
    [21, 1, 0.8, -3.053788608424753],
    [451, 51, 0.8, -165.9341378567694],
    [351, 151, 0.9, -389.2893928249755],
    [13, 1, 0.5, -2.565071435225224],
    [7, 7, 0.5, -10.08680860966317],
    [2001, 1, 0.99, -7.601402336428852],
    [1, 2001, 0.01, -27.71212437744012],
    [501, 1501, 0.9, -3516.136684057984],
    [100001, 25001, 0.8, -62556.86373995613],
    [100001, 25001, 0.79, -62556.16833348026],
    [3, 400, 0.5, -284.6316436524203],
    [40, 2, 0.001, -7.402451520818244],
    [2, 40, 0.999, -280.0000666993725],
  ])('is right for a = %d, b = %d from %d on', (a, b, x, expected) => {
    expect(Math.abs(computeLogUpperBeta(a, b, x) / expected - 1)).toBeLessThan(1e-11);
  });

  it('covers both ends', () => {
    expect(computeLogUpperBeta(3, 2, 1)).toBe(-Infinity);
    // B(3, 2) = 1/12.
    expect(computeLogUpperBeta(3, 2, 0)).toBeCloseTo(-Math.log(12), 12);
  });
});
