import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Cluster,
  computeClusteredInterval,
  computeClusteredWilsonInterval,
  estimateVariance,
} from '../../../src/verdict/statistics/clustered.ts';
import { type ErrorRates, splitConfidence } from '../../../src/verdict/statistics/errors.ts';
import { computeExactInterval } from '../../../src/verdict/statistics/exact.ts';
import { computeWilsonInterval } from '../../../src/verdict/statistics/wilson.ts';

const toClusters = (pairs: ReadonlyArray<readonly [number, number]>): Cluster[] =>
  pairs.map(([passed, total]) => ({ passed, total }));

const cluster = fc
  .tuple(fc.nat({ max: 10 }), fc.nat({ max: 10 }))
  .map(([passed, failed]) => ({ passed, total: passed + failed }));

describe('computeClusteredInterval', () => {
  const errors = splitConfidence(0.95);

  // Variance: statsmodels 0.15.0, OLS of the results on a constant, cov_type='cluster' by case. Effective totals: that
  // variance with scipy 1.17.1's norm.ppf and t.ppf, kept within its bounds. Interval: beta.ppf for these totals.
  it.each<{ pairs: Array<[number, number]>; rates: ErrorRates; reference: number[] }>([
    {
      pairs: [
        [5, 5],
        [4, 5],
        [5, 5],
        [0, 5],
        [5, 5],
        [5, 5],
        [3, 5],
        [5, 5],
      ],
      rates: errors,
      reference: [0.015714285714285722, 8, 8, 0.3960987245503285, 0.983104214668033],
    },
    {
      pairs: [
        [9, 10],
        [8, 10],
        [10, 10],
        [9, 10],
        [7, 10],
        [9, 10],
        [10, 10],
        [8, 10],
        [9, 10],
        [9, 10],
      ],
      rates: errors,
      reference: [0.0008444444444444448, 93.87359913254478, 93.87359913254478, 0.7966356174378197, 0.9379638705818777],
    },
    {
      pairs: [
        [3, 3],
        [1, 4],
        [10, 10],
        [2, 5],
        [6, 6],
        [1, 1],
      ],
      rates: splitConfidence(0.9),
      reference: [
        0.021163865564040305, 5.1662052620960965, 5.1662052620960965, 0.34447830949584063, 0.9875319672207316,
      ],
    },
    {
      pairs: [
        [5, 5],
        [0, 5],
        [5, 5],
        [5, 5],
      ],
      rates: errors,
      reference: [0.06249999999999997, 4, 4, 0.19412044968324338, 0.9936905367902902],
    },
    {
      pairs: [
        [9, 10],
        [8, 10],
        [10, 10],
        [9, 10],
        [6, 10],
        [9, 10],
        [10, 10],
        [8, 10],
        [9, 10],
        [10, 10],
      ],
      rates: { passing: 0.025, failing: 0.00125 },
      reference: [0.0015111111111111109, 52.458775985833874, 37.16443707861775, 0.7605670513092596, 0.9833133694498384],
    },
  ])('agrees with other software on $pairs', ({ pairs, rates, reference }) => {
    const clusters = toClusters(pairs);
    const interval = computeClusteredInterval(clusters, rates);
    const variance = estimateVariance(clusters, interval?.rate ?? NaN);
    const { passing, failing } = interval?.effective ?? {};
    const figures = [variance, passing, failing, interval?.lower, interval?.upper];
    for (const [index, expected] of reference.entries()) expect(figures[index]).toBeCloseTo(expected, 8);
  });

  it('counts each case once where all passed, since nothing shows that its repeats tell more', () => {
    const interval = computeClusteredInterval(toClusters(Array.from({ length: 20 }, () => [5, 5] as const)), errors);
    expect(interval?.effective).toEqual({ passing: 20, failing: 20 });
    expect(interval?.lower).toBeCloseTo(computeExactInterval({ passed: 20, total: 20 }, errors).lower, 12);
  });

  it('is the interval of the iterations for a single case, and null without iterations', () => {
    expect(
      computeClusteredInterval(
        toClusters([
          [28, 30],
          [0, 0],
        ]),
        errors,
      ),
    ).toMatchObject(computeExactInterval({ passed: 28, total: 30 }, errors));
    expect(computeClusteredInterval([], errors)).toBeNull();
    expect(computeClusteredInterval(toClusters([[0, 0]]), errors)).toBeNull();
  });

  it('is the interval of independent iterations where every case ran once', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 200 }), (results) => {
        const clusters = results.map((hasPassed) => ({ passed: Number(hasPassed), total: 1 }));
        const [passed, total] = [results.filter(Boolean).length, results.length];
        for (const [clustered, plain] of [
          [computeClusteredInterval(clusters, errors), computeExactInterval({ passed, total }, errors)],
          [computeClusteredWilsonInterval(clusters, 0.95), computeWilsonInterval(passed, total, 0.95)],
        ] as const) {
          expect(clustered?.lower).toBeCloseTo(plain.lower, 10);
          expect(clustered?.upper).toBeCloseTo(plain.upper, 10);
        }
      }),
    );
  });

  it('contains the rate, is never narrower than with independent iterations, and does not depend on their order', () => {
    fc.assert(
      fc.property(fc.array(cluster, { minLength: 1, maxLength: 12 }), (clusters) => {
        const total = clusters.reduce((sum, member) => sum + member.total, 0);
        fc.pre(total > 0);
        const interval = computeClusteredInterval(clusters, errors);
        if (interval === null) throw new Error('There are iterations, so there is an interval.');
        const plain = computeExactInterval({ passed: interval.rate * total, total }, errors);
        expect(interval.lower).toBeLessThanOrEqual(interval.rate);
        expect(interval.upper).toBeGreaterThanOrEqual(interval.rate);
        expect(interval.lower).toBeLessThanOrEqual(plain.lower + 1e-9);
        expect(interval.upper).toBeGreaterThanOrEqual(plain.upper - 1e-9);
        const reversed = computeClusteredInterval(clusters.toReversed(), errors);
        expect(reversed?.lower).toBeCloseTo(interval.lower, 10);
      }),
      { numRuns: 2000 },
    );
  });
});
