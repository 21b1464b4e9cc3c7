import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimatePassAtK, estimatePassHatK } from '../../../src/verdict/statistics/repeats.ts';

/** How many of the ways to choose `k` of these are as `holds` says, by going through every one of them. */
function countChoices(items: readonly boolean[], k: number, holds: (chosen: readonly boolean[]) => boolean): number {
  const choices = listChoices(items, k);
  return choices.filter(holds).length / choices.length;
}

function listChoices([first, ...rest]: readonly boolean[], k: number): boolean[][] {
  if (k === 0) return [[]];
  if (first === undefined) return [];
  return [...listChoices(rest, k - 1).map((chosen) => [first, ...chosen]), ...listChoices(rest, k)];
}

describe('pass@k and pass^k', () => {
  // The first eleven rows were counted over every subset of k iterations; those with 60 and more come from exact binomials, as
  // 1 - C(n - c, k) / C(n, k) and C(c, k) / C(n, k): both with CPython 3.11, itertools.combinations, fractions and math.comb.
  it.each([
    { total: 1, passed: 1, k: 1, passAtK: 1, passHatK: 1 },
    { total: 1, passed: 0, k: 1, passAtK: 0, passHatK: 0 },
    { total: 5, passed: 0, k: 3, passAtK: 0, passHatK: 0 },
    { total: 5, passed: 5, k: 3, passAtK: 1, passHatK: 1 },
    { total: 5, passed: 3, k: 1, passAtK: 3 / 5, passHatK: 3 / 5 },
    { total: 5, passed: 3, k: 2, passAtK: 9 / 10, passHatK: 3 / 10 },
    { total: 5, passed: 3, k: 3, passAtK: 1, passHatK: 1 / 10 },
    { total: 5, passed: 1, k: 5, passAtK: 1, passHatK: 0 },
    { total: 10, passed: 7, k: 3, passAtK: 119 / 120, passHatK: 7 / 24 },
    { total: 10, passed: 2, k: 5, passAtK: 7 / 9, passHatK: 0 },
    { total: 8, passed: 6, k: 4, passAtK: 1, passHatK: 3 / 14 },
    { total: 100, passed: 60, k: 10, passAtK: 0.9999510314630635, passHatK: 0.004355440771045891 },
    { total: 100, passed: 99, k: 50, passAtK: 1, passHatK: 0.5 },
    { total: 200, passed: 20, k: 10, passAtK: 0.660225623763214, passHatK: 8.229297783610822e-12 },
    { total: 200, passed: 20, k: 100, passAtK: 0.9999996678312922, passHatK: 0 },
  ])('agree with counting on $passed of $total, k = $k', ({ total, passed, k, passAtK, passHatK }) => {
    expect(estimatePassAtK(passed, total, k)).toBeCloseTo(passAtK, 12);
    expect(estimatePassHatK(passed, total, k)).toBeCloseTo(passHatK, 12);
  });

  it('differ from the pass rate to the power of k, which is biased', () => {
    expect(estimatePassHatK(3, 5, 2)).not.toBeCloseTo((3 / 5) ** 2, 2);
    expect(estimatePassAtK(3, 5, 2)).not.toBeCloseTo(1 - (2 / 5) ** 2, 2);
  });

  it('agree with counting every choice of k, for any small case', () => {
    const draw = fc.nat({ max: 7 }).chain((passed) =>
      fc.tuple(fc.constant(passed), fc.nat({ max: 7 })).chain(([passed, failed]) => {
        const total = Math.max(1, passed + failed);
        return fc.record({
          passed: fc.constant(passed),
          total: fc.constant(total),
          k: fc.integer({ min: 1, max: total }),
        });
      }),
    );
    fc.assert(
      fc.property(draw, ({ passed, total, k }) => {
        const items = Array.from({ length: total }, (_, index) => index < passed);
        expect(estimatePassAtK(passed, total, k)).toBeCloseTo(
          countChoices(items, k, (chosen) => chosen.some(Boolean)),
          12,
        );
        expect(estimatePassHatK(passed, total, k)).toBeCloseTo(
          countChoices(items, k, (chosen) => chosen.every(Boolean)),
          12,
        );
      }),
      { numRuns: 300 },
    );
  });

  it('equal the pass rate for k = 1, and diverge from it as k grows', () => {
    const ks = Array.from({ length: 10 }, (_, index) => index + 1);
    const atK = ks.map((k) => estimatePassAtK(6, 10, k));
    const hatK = ks.map((k) => estimatePassHatK(6, 10, k));
    expect([atK[0], hatK[0]]).toEqual([0.6, 0.6]);
    expect(atK.map((value) => Math.round(value * 1e6))).toEqual(
      atK.map((value) => Math.round(value * 1e6)).toSorted((a, b) => a - b),
    );
    expect(hatK).toEqual(hatK.toSorted((a, b) => b - a));
  });
});
