import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cluster, computeClusteredInterval, estimateVariance } from '../../../src/verdict/statistics/clustered.ts';
import { computeWilsonInterval } from '../../../src/verdict/statistics/wilson.ts';

const toClusters = (pairs: ReadonlyArray<readonly [number, number]>): Cluster[] =>
  pairs.map(([passed, total]) => ({ passed, total }));

const cluster = fc
  .tuple(fc.nat({ max: 10 }), fc.nat({ max: 10 }))
  .map(([passed, failed]) => ({ passed, total: passed + failed }));

describe('computeClusteredInterval', () => {
  // Variance: statsmodels 0.15.0, OLS of the results on a constant, cov_type='cluster' by case. Effective total: that
  // variance with scipy 1.17.1's norm.ppf and t.ppf, kept within its bounds. Interval: statsmodels' 'wilson' of it.
  it.each<{ pairs: Array<[number, number]>; confidence: number; reference: [number, number, number, number] }>([
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
      confidence: 0.95,
      reference: [0.015714285714285722, 8, 0.45493424522135517, 0.9504212158483167],
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
      confidence: 0.95,
      reference: [0.0008444444444444448, 93.87359913254478, 0.7989202855185711, 0.9312019375565599],
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
      confidence: 0.9,
      reference: [0.021163865564040305, 5.1662052620960965, 0.43439586554773246, 0.9503299765530508],
    },
    {
      pairs: [
        [5, 5],
        [0, 5],
        [5, 5],
        [5, 5],
      ],
      confidence: 0.95,
      reference: [0.06249999999999997, 4, 0.30064184258240184, 0.9544127391902995],
    },
  ])('agrees with other software on $pairs', ({ pairs, confidence, reference }) => {
    const clusters = toClusters(pairs);
    const interval = computeClusteredInterval(clusters, confidence);
    const variance = estimateVariance(clusters, interval?.rate ?? NaN);
    const figures = [variance, interval?.effectiveTotal, interval?.lower, interval?.upper];
    for (const [index, expected] of reference.entries()) expect(figures[index]).toBeCloseTo(expected, 8);
  });

  it('counts each case once where all passed, since nothing shows that its repeats tell more', () => {
    const interval = computeClusteredInterval(toClusters(Array.from({ length: 20 }, () => [5, 5] as const)), 0.95);
    expect(interval?.effectiveTotal).toBe(20);
    expect(interval?.lower).toBeCloseTo(computeWilsonInterval(20, 20, 0.95).lower, 12);
  });

  it('is the interval of the iterations for a single case, and null without iterations', () => {
    expect(
      computeClusteredInterval(
        toClusters([
          [28, 30],
          [0, 0],
        ]),
        0.95,
      ),
    ).toMatchObject(computeWilsonInterval(28, 30, 0.95));
    expect(computeClusteredInterval([], 0.95)).toBeNull();
    expect(computeClusteredInterval(toClusters([[0, 0]]), 0.95)).toBeNull();
  });

  it('is Wilson’s interval where every case ran once', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 200 }), (results) => {
        const interval = computeClusteredInterval(
          results.map((hasPassed) => ({ passed: Number(hasPassed), total: 1 })),
          0.95,
        );
        const wilson = computeWilsonInterval(results.filter(Boolean).length, results.length, 0.95);
        expect(interval?.lower).toBeCloseTo(wilson.lower, 10);
        expect(interval?.upper).toBeCloseTo(wilson.upper, 10);
      }),
    );
  });

  it('contains the rate, is never narrower than with independent iterations, and does not depend on their order', () => {
    fc.assert(
      fc.property(fc.array(cluster, { minLength: 1, maxLength: 12 }), (clusters) => {
        const total = clusters.reduce((sum, member) => sum + member.total, 0);
        fc.pre(total > 0);
        const interval = computeClusteredInterval(clusters, 0.95);
        if (interval === null) throw new Error('There are iterations, so there is an interval.');
        const wilson = computeWilsonInterval(interval.rate * total, total, 0.95);
        expect(interval.lower).toBeLessThanOrEqual(interval.rate);
        expect(interval.upper).toBeGreaterThanOrEqual(interval.rate);
        expect(interval.lower).toBeLessThanOrEqual(wilson.lower + 1e-9);
        expect(interval.upper).toBeGreaterThanOrEqual(wilson.upper - 1e-9);
        const reversed = computeClusteredInterval(clusters.toReversed(), 0.95);
        expect(reversed?.lower).toBeCloseTo(interval.lower, 10);
      }),
      { numRuns: 2000 },
    );
  });
});
