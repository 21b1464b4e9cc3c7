import { assessSuite } from '../../src/verdict/judge.ts';
import {
  computeSuiteRepeats,
  estimatePassAtK,
  estimatePassHatK,
  listRepeatRates,
} from '../../src/verdict/repeat-rates.ts';
import { createPolicy, createQuarantineEntry, ofPolicy } from '../support/factories/policy-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

describe('listRepeatRates', () => {
  it('lists every k of a case with up to ten iterations', () => {
    expect(listRepeatRates({ passed: 3, failed: 2 }, null)).toEqual([
      { k: 1, passAtK: 0.6, passHatK: 0.6 },
      { k: 2, passAtK: 0.9, passHatK: 0.3 },
      { k: 3, passAtK: 1, passHatK: 0.1 },
      { k: 4, passAtK: 1, passHatK: 0 },
      { k: 5, passAtK: 1, passHatK: 0 },
    ]);
  });

  it('lists round numbers, the last and the suite’s own of one with more', () => {
    const listKs = (suiteK: number | null) => listRepeatRates({ passed: 20, failed: 5 }, suiteK).map(({ k }) => k);
    expect(listKs(null)).toEqual([1, 2, 5, 10, 20, 25]);
    expect(listKs(7)).toEqual([1, 2, 5, 7, 10, 20, 25]);
  });

  it('lists nothing for a case with one iteration or none', () => {
    expect(listRepeatRates({ passed: 1, failed: 0 }, null)).toEqual([]);
    expect(listRepeatRates({ passed: 0, failed: 0 }, null)).toEqual([]);
  });
});

describe('computeSuiteRepeats', () => {
  it('is the mean over the cases with several iterations, for the fewest that any of them has', () => {
    const cases = [
      { passed: 2, failed: 0 },
      { passed: 3, failed: 2 },
      { passed: 0, failed: 4 },
      { passed: 1, failed: 0 },
    ];
    expect(computeSuiteRepeats(cases)).toEqual({
      k: 2,
      cases: 3,
      passAtK: (1 + 0.9 + 0) / 3,
      passHatK: expect.closeTo((1 + 0.3 + 0) / 3, 9),
    });
  });

  it('is null if every case with several iterations always or never passed', () => {
    expect(
      computeSuiteRepeats([
        { passed: 3, failed: 0 },
        { passed: 0, failed: 3 },
      ]),
    ).toBeNull();
    expect(
      computeSuiteRepeats([
        { passed: 3, failed: 0 },
        { passed: 2, failed: 1 },
      ]),
    ).toMatchObject({ k: 3, cases: 2 });
  });

  it('is null if no case has several iterations', () => {
    expect(computeSuiteRepeats([{ passed: 1, failed: 0 }])).toBeNull();
    expect(computeSuiteRepeats([])).toBeNull();
  });
});

describe('the rates of a suite that was judged', () => {
  const sound = createCaseResults({ id: 'asks' });
  const flaky = createCaseResults({ id: 'adds', passed: 1, failed: 2, retries: [{ passed: 3, total: 3 }] });
  const results = createSuiteResults({ cases: [sound, flaky] });

  it('are those of the first round, also where a later one counts', () => {
    const { repeats } = assessSuite(results, { policy: createPolicy({ flaky: ofPolicy('pass') }) });
    expect(repeats).toEqual({ k: 3, cases: 2, passAtK: 1, passHatK: 0.5 });
  });

  it('leave out cases that do not count', () => {
    // Without it, no case is left that passed sometimes.
    const policies = [
      createPolicy({ flaky: ofPolicy('report') }),
      createPolicy({ quarantine: [createQuarantineEntry()] }),
    ];
    for (const policy of policies) expect(assessSuite(results, { policy }).repeats).toBeNull();
  });

  it('are not listed for an inconclusive suite', () => {
    expect(assessSuite({ ...results, isComplete: false }, { policy: createPolicy() }).repeats).toBeNull();
  });
});

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

  it('are not what a rate to the power of k gives, which is biased', () => {
    expect(estimatePassHatK(3, 5, 2)).not.toBeCloseTo((3 / 5) ** 2, 2);
    expect(estimatePassAtK(3, 5, 2)).not.toBeCloseTo(1 - (2 / 5) ** 2, 2);
  });

  it('agree with going through every choice, for any small case', () => {
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

  it('meet at the pass rate for k = 1, and part from it the further the more are drawn', () => {
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
