import { describe, expect, it } from 'vitest';
import { judgeSuite } from '../../src/verdict/judge.ts';
import { countFurtherIterations } from '../../src/verdict/rate-rule.ts';
import { splitConfidence } from '../../src/verdict/statistics/errors.ts';
import { computeExactInterval } from '../../src/verdict/statistics/exact.ts';
import { atLeast, createPolicy, demanded } from '../support/factories/policy-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

const errors = splitConfidence(0.95);
const surelyAtLeast = (minimum: number) => ({
  policy: createPolicy({ ...atLeast(minimum), confidence: demanded(0.95) }),
});

/** Cases of one iteration each. */
const judgeSingles = (passed: number, failed: number, minimumPassRate: number) => {
  const cases = Array.from({ length: passed + failed }, (_, index) =>
    createCaseResults({ id: `c${index}`, passed: Number(index < passed), failed: Number(index >= passed) }),
  );
  return judgeSuite(createSuiteResults({ cases }), surelyAtLeast(minimumPassRate));
};

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
    const requirements = { ...policy.requirements, confidenceOver: over === null ? null : demanded(over) };
    const verdict = judgeSuite(createSuiteResults({ cases }), { policy: { ...policy, requirements } });
    expect(verdict.outcome).toBe(outcome);
    expect(verdict.reasons[0]?.message).toContain(says);
  });

  it('judges the minimum of a case over its repetitions, whatever the suite is judged over', () => {
    const cases = Array.from({ length: 40 }, (_, index) =>
      createCaseResults({ id: `c${index}`, passed: 40, failed: 0 }),
    );
    const { policy } = surelyAtLeast(0.8);
    const rule = { name: 'c0', ...demanded(0.8) };
    const requirements = { ...policy.requirements, confidenceOver: demanded('tasks' as const), cases: [rule] };
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
