import { describe, expect, it } from 'vitest';
import { assessSuite } from '../../src/verdict/judge.ts';
import { computeSuiteRepeats, listRepeatRates } from '../../src/verdict/repeat-rates.ts';
import { createPolicy, createQuarantineEntry, demanded } from '../support/policy-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/results-factory.ts';

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
    const { repeats } = assessSuite(results, { policy: createPolicy({ flaky: demanded('pass') }) });
    expect(repeats).toEqual({ k: 3, cases: 2, passAtK: 1, passHatK: 0.5 });
  });

  it('leave out cases that do not count', () => {
    // Without it, no case is left that passed sometimes.
    const policies = [
      createPolicy({ flaky: demanded('report') }),
      createPolicy({ quarantine: [createQuarantineEntry()] }),
    ];
    for (const policy of policies) expect(assessSuite(results, { policy }).repeats).toBeNull();
  });

  it('are not listed for an inconclusive suite', () => {
    expect(assessSuite({ ...results, isComplete: false }, { policy: createPolicy() }).repeats).toBeNull();
  });
});
