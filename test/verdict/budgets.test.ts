import { describe, expect, it } from 'vitest';
import { type Budgets, emptyPolicyLayer } from '../../src/model/policy.ts';
import { computePercentile } from '../../src/verdict/budgets.ts';
import { assessSuite, judgeSuite } from '../../src/verdict/judge.ts';
import { createPolicy, ofPolicy } from '../support/factories/policy-factory.ts';
import { createCaseResults, createRun, createSuiteResults } from '../support/factories/results-factory.ts';

const withBudgets = (budgets: Partial<Budgets>) =>
  createPolicy({ budgets: { ...emptyPolicyLayer.budgets, ...budgets } });

const results = createSuiteResults({
  cases: [
    createCaseResults({ id: 'a', tokensUsed: 700, durationsMs: [100, 200, 300] }),
    createCaseResults({ id: 'b', tokensUsed: 301, durationsMs: [1000] }),
  ],
});

describe('budgets', () => {
  it.each<[Partial<Budgets>, string, string]>([
    [{ tokens: ofPolicy(1001) }, 'passed', 'The iterations used 1001 tokens, the budget tokens is 1001 tokens'],
    [{ tokens: ofPolicy(1000) }, 'failed', 'The iterations used 1001 tokens, the budget tokens is 1000 tokens'],
    [
      { p95IterationMs: ofPolicy(1000) },
      'passed',
      '95% of the iterations took up to 1 s, the budget p95IterationTime is 1 s',
    ],
    [
      { p95IterationMs: ofPolicy(500) },
      'failed',
      '95% of the iterations took up to 1 s, the budget p95IterationTime is 500 ms',
    ],
    [{ wallTimeMs: ofPolicy(12_000) }, 'passed', 'The run took 12 s, the budget wallTime is 12 s'],
    [{ wallTimeMs: ofPolicy(11_000) }, 'failed', 'The run took 12 s, the budget wallTime is 11 s'],
  ])('judge what was spent: %j', (budgets, outcome, finding) => {
    const { verdict, assessments } = assessSuite(results, { policy: withBudgets(budgets) });
    expect(verdict.outcome).toBe(outcome);
    expect(assessments[1]?.finding).toBe(`${finding} (from policy.yaml:3)`);
  });

  it('leave the verdict open where nothing was measured', () => {
    const cases = [createCaseResults()];
    const policy = withBudgets({ p95IterationMs: ofPolicy(500) });
    expect(judgeSuite(createSuiteResults({ cases }), { policy })).toMatchObject({
      outcome: 'inconclusive',
      reasons: [{ code: 'requirement-unjudged' }],
    });
    const run = createRun({ completedAtMs: null });
    const wallTime = withBudgets({ wallTimeMs: ofPolicy(500) });
    expect(judgeSuite(createSuiteResults({ cases, run }), { policy: wallTime }).outcome).toBe('passed');
  });

  it('tolerate some iterations without a result, but none of a required case', () => {
    const cases = [createCaseResults({ id: 'a' }), createCaseResults({ id: 'b', unscored: 2 })];
    const judgeTolerating = (most: number, isRequired = false) =>
      judgeSuite(createSuiteResults({ cases: cases.map((member) => ({ ...member, isRequired })) }), {
        policy: withBudgets({ infrastructureErrors: ofPolicy(most) }),
      });
    expect(judgeTolerating(2).outcome).toBe('passed');
    expect(judgeTolerating(1)).toMatchObject({
      outcome: 'inconclusive',
      reasons: [
        {
          code: 'results-unknown',
          message: '2 iterations ended without a result, the budget is 1 (from policy.yaml:3).',
        },
      ],
    });
    expect(judgeTolerating(2, true)).toMatchObject({
      outcome: 'inconclusive',
      reasons: [{ code: 'requirement-unjudged' }],
    });
  });
});

describe('computePercentile', () => {
  it('takes the nearest rank', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(computePercentile(values, 0.95)).toBe(95);
    expect(computePercentile([7], 0.95)).toBe(7);
    expect(computePercentile([], 0.95)).toBeNull();
  });
});
