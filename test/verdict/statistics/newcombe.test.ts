import { describe, expect, it } from 'vitest';
import { computeDifferenceInterval } from '../../../src/verdict/statistics/newcombe.ts';
import { computeWilsonInterval } from '../../../src/verdict/statistics/wilson.ts';

const compare = (a: [number, number], b: [number, number]) =>
  computeDifferenceInterval(computeWilsonInterval(...a, 0.95), computeWilsonInterval(...b, 0.95));

describe('computeDifferenceInterval', () => {
  // The examples a to h of R. G. Newcombe, Statistics in Medicine 17 (1998) 873-890, table II, method 10; the digits are
  // those of statsmodels 0.15.0, confint_proportions_2indep(method='newcomb'), which rounded are the printed ones.
  it.each<[[number, number], [number, number], number, number]>([
    [[56, 70], [48, 80], 0.05243147240236498, 0.33387265403690614],
    [[9, 10], [3, 10], 0.1705227239345029, 0.809017973535488],
    [[6, 7], [2, 7], 0.05822792748231209, 0.8062496375242278],
    [[5, 56], [0, 29], -0.038137147903536936, 0.19256001385511165],
    [[0, 10], [0, 20], -0.1611251580528194, 0.27753279986288926],
    [[0, 10], [0, 10], -0.27753279986288926, 0.27753279986288926],
    [[10, 10], [0, 20], 0.6790860371419145, 1],
    [[10, 10], [0, 10], 0.6075093504305241, 1],
  ])('agrees with other software on %j minus %j', (a, b, lower, upper) => {
    const interval = compare(a, b);
    expect(interval.lower).toBeCloseTo(lower, 10);
    expect(interval.upper).toBeCloseTo(upper, 10);
  });

  it('is mirrored when the rates are swapped', () => {
    const there = compare([9, 10], [3, 10]);
    const back = compare([3, 10], [9, 10]);
    expect(back.lower).toBeCloseTo(-there.upper, 12);
    expect(back.upper).toBeCloseTo(-there.lower, 12);
    expect(there.lower).toBeGreaterThan(0);
  });
});
