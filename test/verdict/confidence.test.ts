import { describe, expect, it } from 'vitest';
import type { GatePolicy } from '../../src/model/policy.ts';
import { followRounds } from '../../src/verdict/follow-rounds.ts';
import { judgeGate } from '../../src/verdict/judge-gate.ts';
import { judgeSuite } from '../../src/verdict/judge.ts';
import { countFurtherIterations } from '../../src/verdict/rate-rule.ts';
import { splitConfidence } from '../../src/verdict/statistics/errors.ts';
import { computeExactInterval } from '../../src/verdict/statistics/exact.ts';
import { atLeast, createPolicy, ofPolicy } from '../support/factories/policy-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

const errors = splitConfidence(0.95);
const surelyAtLeast = (minimum: number) => ({
  policy: createPolicy({ ...atLeast(minimum), confidence: ofPolicy(0.95) }),
});

/** Cases of one iteration each. */
const judgeSingles = (passed: number, failed: number, minimumPassRate: number) => {
  const cases = Array.from({ length: passed + failed }, (_, index) =>
    createCaseResults({ id: `c${index}`, passed: Number(index < passed), failed: Number(index >= passed) }),
  );
  return judgeSuite(createSuiteResults({ cases }), surelyAtLeast(minimumPassRate));
};

describe('a confidence that the minimums of a gate share', () => {
  /** 20 suites of 40 cases, the first of which passes so many; the others pass all. */
  const judgeSuites = (first: number, family: 'minimum' | 'gate' | null, count = 20) => {
    const suites = Array.from({ length: count }, (_, suite) => {
      const cases = Array.from({ length: 40 }, (_unused, index) => {
        const isPassed = suite > 0 || index < first;
        return createCaseResults({ id: `c${index}`, passed: Number(isPassed), failed: Number(!isPassed) });
      });
      return createSuiteResults({ suiteId: `s${suite}`, cases });
    });
    const confidenceFamily = family === null ? null : ofPolicy(family);
    const { requirements, today } = createPolicy({ ...atLeast(0.9), confidence: ofPolicy(0.95), confidenceFamily });
    const policy: GatePolicy = {
      today,
      suites: suites.map(({ suiteId }) => ({ ...requirements, suiteId })),
      maximumRegressions: ofPolicy(0),
      maximumRateDrop: null,
      prices: [],
      currency: ofPolicy('USD'),
      baseline: null,
      lowered: [],
    };
    return judgeGate(suites, policy);
  };

  // At a rate of 90%, at most 31 of 40 pass with a chance of 1.55%, and at most 28 with one of 0.04% (scipy 1.17.1, binom.cdf).
  it.each([
    [31, null, 'failed'],
    [31, 'minimum', 'failed'],
    [31, 'gate', 'inconclusive'],
    [28, 'gate', 'failed'],
    [40, 'gate', 'passed'],
  ] as const)('judges 20 suites of which one passes %i of 40, with the family %j: %s', (first, family, outcome) => {
    expect(judgeSuites(first, family).verdict.outcome).toBe(outcome);
  });

  it('is the same for one minimum, and says how many share it', () => {
    expect(judgeSuites(31, 'gate', 1).verdict.outcome).toBe('failed');
    expect(judgeSuites(31, 'gate').verdict.reasons[0]?.message).toContain(
      'the error of failing is shared by 20 minimums',
    );
    expect(judgeSuites(31, null).verdict.reasons[0]?.message).not.toContain('shared');
  });

  it('leaves passing as it is', () => {
    const lower = (family: 'minimum' | 'gate') => judgeSuites(38, family).suites[1]?.assessments[0]?.state;
    expect([lower('minimum'), lower('gate')]).toEqual(['met', 'met']);
  });

  it('holds for rounds', () => {
    const follow = (minimums: number) =>
      followRounds(
        Array.from({ length: 10 }, () => ({ byRound: 'fffff' })),
        { minimum: 0.6, errors: splitConfidence(0.95, minimums), min: 1, isShared: true },
      );
    expect(follow(1).state).toBe('failed');
    expect(follow(20).state).toBe('open');
  });
});

describe('a minimum with confidence', () => {
  it.each([
    [100, 0, 0.95, 'passed'],
    [99, 1, 0.95, 'inconclusive'],
    [95, 5, 0.95, 'inconclusive'],
    [91, 9, 0.95, 'inconclusive'],
    [90, 10, 0.95, 'inconclusive'],
    [89, 11, 0.95, 'failed'],
    [20, 0, 0.9, 'inconclusive'],
    [35, 0, 0.9, 'inconclusive'],
    [36, 0, 0.9, 'passed'],
    // At a rate of 99%, as few pass with a chance of 6.1%, and one fewer with one of 0.7% (scipy 1.17.1, binom.cdf).
    [38, 2, 0.99, 'inconclusive'],
    [37, 3, 0.99, 'failed'],
    [0, 5, 0, 'passed'],
  ])('judges %i passed and %i failed against %d: %s', (passed, failed, minimum, outcome) => {
    expect(judgeSingles(passed, failed, minimum).outcome).toBe(outcome);
  });

  it('reports the interval of the rate and how many iterations would settle the minimum', () => {
    expect(judgeSingles(9, 1, 0.8).reasons).toEqual([
      {
        code: 'minimum-unsettled',
        message:
          '9 of 10 iterations passed (90%), the minimum is 80% (from evals/math.evals.yaml:4); with 95% confidence the rate is from 55.4% to 99.8%, which leaves it open; about 55 further cases with one iteration each would settle it at this rate, and repeating these says less',
        suiteId: 'math',
      },
    ]);
    const lower = (total: number) => computeExactInterval({ passed: total * 0.9, total }, errors).lower;
    expect(lower(65)).toBeGreaterThanOrEqual(0.8);
    expect(lower(64)).toBeLessThan(0.8);
  });

  it('asks for further cases where repeats are alike', () => {
    const cases = Array.from({ length: 10 }, (_, index) =>
      createCaseResults({ id: `c${index}`, passed: index === 0 ? 0 : 10, failed: index === 0 ? 10 : 0 }),
    );
    const { outcome, reasons } = judgeSuite(createSuiteResults({ cases }), surelyAtLeast(0.8));
    expect(outcome).toBe('inconclusive');
    // The ten cases count as ten independent iterations; 55 more make 65, as in the test above.
    expect(reasons[0]?.message).toContain('about 55 further cases with one iteration each');
  });

  it.each([
    ['tasks', 'inconclusive', 'which says nothing about tasks; add cases'],
    [null, 'passed', 'over repetitions of this case'],
  ] as const)('judges one case that always passes over %s: %s', (over, outcome, says) => {
    const cases = [createCaseResults({ id: 'only', passed: 100, failed: 0 })];
    const { policy } = surelyAtLeast(0.8);
    const requirements = { ...policy.requirements, confidenceOver: over === null ? null : ofPolicy(over) };
    const verdict = judgeSuite(createSuiteResults({ cases }), { policy: { ...policy, requirements } });
    expect(verdict.outcome).toBe(outcome);
    expect(verdict.reasons[0]?.message).toContain(says);
  });

  it('judges the minimum of a case over its repetitions, whatever the suite is judged over', () => {
    const cases = Array.from({ length: 40 }, (_, index) =>
      createCaseResults({ id: `c${index}`, passed: 40, failed: 0 }),
    );
    const { policy } = surelyAtLeast(0.8);
    const rule = { name: 'c0', ...ofPolicy(0.8) };
    const requirements = { ...policy.requirements, confidenceOver: ofPolicy('tasks' as const), cases: [rule] };
    expect(judgeSuite(createSuiteResults({ cases }), { policy: { ...policy, requirements } }).outcome).toBe('passed');
  });

  it('reports no number of iterations if the rate equals the minimum', () => {
    expect(judgeSingles(9, 1, 0.9).reasons[0]?.message).toContain(
      'so close to the minimum that no reasonable number of iterations settles it',
    );
    const effective = { passing: 10, failing: 10 };
    expect(countFurtherIterations({ rate: 0.9, effective }, { minimum: 0.9, errors })).toBeNull();
  });

  it('counts where everything must pass, since no number of iterations shows that', () => {
    expect(judgeSingles(3, 0, 1).outcome).toBe('passed');
    expect(judgeSingles(99, 1, 1).outcome).toBe('failed');
  });
});
