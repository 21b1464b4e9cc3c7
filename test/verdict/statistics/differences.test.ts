import {
  testFall,
  computeDifferenceInterval,
  testPairs,
  testSignFlips,
} from '../../../src/verdict/statistics/differences.ts';
import { computeWilsonInterval } from '../../../src/verdict/statistics/wilson.ts';
import { describe, expect, it } from 'vitest';

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

  it('needs no number smaller than the machine has', () => {
    expect(testPairs({ fixed: 5000, broken: 5000 }).exact).toBeCloseTo(1, 8);
    expect(testPairs({ fixed: 0, broken: 5000 }).exact).toBe(0);
  });
});

const repeat = (count: number, counts: readonly number[]) => Array.from({ length: count }, () => counts);

/** From passed and total earlier, and now. */
const readCounts = (cases: ReadonlyArray<readonly number[]>) =>
  cases.map(([then = 0, of = 0, now = 0, total = 0]) => ({
    baseline: { passed: then, total: of },
    current: { passed: now, total },
  }));

describe('testFall', () => {
  // Python 3.11 with exact fractions: the convolution of hypergeometric distributions. Columns: passed and total earlier, and now.
  it.each([
    ['five cases that broke, one run each', repeat(5, [1, 1, 0, 1]), 0.03125],
    ['four that broke and one that works again', [...repeat(4, [1, 1, 0, 1]), [0, 1, 1, 1]], 0.1875],
    ['one case, 10 of 10 and 8 of 10', [[10, 10, 8, 10]], 0.23684210526315788],
    [
      'cases of other sizes',
      [
        [3, 4, 1, 2],
        [5, 6, 4, 9],
        [1, 1, 0, 3],
      ],
      0.04825174825174825,
    ],
  ])('gives the exact probability of %s', (_, cases, expected) => {
    expect(testFall(readCounts(cases))).toBeCloseTo(expected, 14);
  });

  it('finds a fall of 13 points in nineteen of twenty cases that always passed', () => {
    const fell = { baseline: { passed: 20, total: 20 }, current: { passed: 17, total: 20 } };
    const same = { baseline: { passed: 20, total: 20 }, current: { passed: 20, total: 20 } };
    expect(testFall([...Array.from({ length: 19 }, () => fell), same])).toBeLessThan(1e-15);
    expect(testFall([same, same])).toBe(1);
    expect(testFall([])).toBe(1);
  });

  it('judges thousands of iterations of a case', () => {
    const counts = (now: number) => [
      { baseline: { passed: 2500, total: 5000 }, current: { passed: now, total: 5000 } },
    ];
    expect(testFall(counts(2400))).toBeCloseTo(0.02382680677762031, 10);
    expect(testFall(counts(2500))).toBeGreaterThan(0.5);
  });
});

describe('testSignFlips', () => {
  // Python 3.11 with exact fractions: all 2^n signs, of which those count that have a sum as low.
  it.each([
    ['five cases that broke, one run each', repeat(5, [1, 1, 0, 1]), 1 / 32],
    ['four that broke and one that works again', [...repeat(4, [1, 1, 0, 1]), [0, 1, 1, 1]], 3 / 16],
    [
      'cases that fell by different shares',
      [
        [5, 5, 4, 5],
        [5, 5, 3, 5],
        [5, 5, 5, 5],
        [4, 5, 5, 5],
        [5, 5, 2, 5],
        [3, 5, 1, 5],
      ],
      3 / 32,
    ],
    [
      'cases of other sizes',
      [
        [10, 10, 7, 10],
        [7, 7, 6, 7],
        [3, 3, 1, 3],
        [1, 1, 0, 1],
        [8, 9, 9, 9],
        [4, 4, 2, 4],
        [6, 8, 3, 8],
      ],
      1 / 64,
    ],
    [
      'more than ten iterations a case, with differences rounded to 1/2520',
      [
        [37, 37, 30, 37],
        [20, 23, 20, 23],
        [11, 11, 10, 11],
        [12, 13, 13, 13],
        [29, 31, 20, 31],
        [17, 19, 16, 19],
        [40, 41, 39, 41],
      ],
      5 / 64,
    ],
    [
      'fifteen cases',
      [...[9, 8, 10, 7, 9, 9, 6, 8, 9, 10, 8, 9, 9, 10].map((now) => [10, 10, now, 10]), [6, 10, 10, 10]],
      135 / 4096,
    ],
  ])('gives the exact probability of %s', (_, cases, expected) => {
    expect(testSignFlips(readCounts(cases))).toBeCloseTo(expected, 14);
  });

  it('is the test of McNemar with one iteration a side', () => {
    const cases = readCounts([...repeat(9, [1, 1, 0, 1]), ...repeat(2, [0, 1, 1, 1]), ...repeat(40, [1, 1, 1, 1])]);
    expect(testSignFlips(cases)).toBeCloseTo(testPairs({ fixed: 2, broken: 9 }).exact / 2, 14);
    expect(testSignFlips(cases)).toBeCloseTo(testFall(cases), 14);
  });

  it('does not take one case that broke for a fall of all, and finds none where nothing changed', () => {
    expect(testSignFlips(readCounts([[10, 10, 0, 10], ...repeat(19, [10, 10, 10, 10])]))).toBe(0.5);
    expect(testSignFlips(readCounts(repeat(6, [10, 10, 10, 10])))).toBe(1);
    expect(testSignFlips([])).toBe(1);
  });

  it('judges a thousand cases', () => {
    const cases = readCounts([...repeat(520, [9, 10, 8, 10]), ...repeat(480, [8, 10, 9, 10])]);
    // Python 3.11 with exact fractions: the chance of at most 480 of a thousand fair coins.
    expect(testSignFlips(cases)).toBeCloseTo(0.10872414660207047, 12);
  });
});
