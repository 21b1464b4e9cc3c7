import { describe, expect, it } from 'vitest';
import { emptyPolicyLayer } from '../../src/model/policy.ts';
import type { CaseResults } from '../../src/model/results.ts';
import { type ModelUsage, noModelUsage } from '../../src/model/usage.ts';
import { assessSuite, judgeSuite } from '../../src/verdict/judge.ts';
import { summarizeModels } from '../../src/verdict/summarize-models.ts';
import { atLeast, createPolicy, createQuarantineEntry, ofPolicy } from '../support/factories/policy-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

const [small, large] = ['anthropic/small', 'openai/large'];
const usageOf = (usage: Partial<ModelUsage>): ModelUsage => ({ ...noModelUsage, ...usage });
const pricing = {
  prices: [{ name: small, ...ofPolicy({ input: 1, cachedInput: 0.1, output: 5 }) }],
  currency: { value: 'EUR', source: 'policy.yaml:9' },
};

const matrix: CaseResults[] = [
  createCaseResults({ id: 'asks-1', title: 'Asks', model: small, passed: 7, failed: 3 }),
  createCaseResults({ id: 'asks-2', title: 'Asks', model: large, passed: 10 }),
  createCaseResults({ id: 'adds', title: 'Adds', passed: 10 }),
];

describe('a suite with several models', () => {
  it('requires its minimum of each model, and leaves cases without one out of their rates', () => {
    const { verdict, assessments } = assessSuite(createSuiteResults({ cases: matrix }), {
      policy: createPolicy(atLeast(0.8)),
    });
    expect(verdict).toEqual({
      outcome: 'failed',
      reasons: [
        {
          code: 'model-below-minimum',
          message:
            'Of the model "anthropic/small", 7 of 10 iterations passed (70%), the minimum is 80% (from evals/math.evals.yaml:4)',
          suiteId: 'math',
        },
      ],
    });
    expect(assessments.map(({ scope, subject, state, source }) => [scope, subject, state, source])).toEqual([
      ['suite', null, 'met', 'evals/math.evals.yaml:4'],
      ['model', small, 'not-met', 'evals/math.evals.yaml:4'],
      ['model', large, 'met', 'evals/math.evals.yaml:4'],
    ]);
  });

  it('has one rate where the policy pools the models', () => {
    const policy = createPolicy({ ...atLeast(0.8), poolModels: ofPolicy(true) });
    expect(judgeSuite(createSuiteResults({ cases: matrix }), { policy }).outcome).toBe('passed');
  });

  it.each([
    [false, 0.7, 'passed'],
    [false, 0.75, 'failed'],
    [true, 0.75, 'failed'],
  ])('is judged by the minimum of a model, pooled: %s, minimum %d: %s', (isPooled, minimum, outcome) => {
    const models = [{ name: small, ...ofPolicy(minimum) }];
    const policy = createPolicy({ ...atLeast(0.8), models, poolModels: ofPolicy(isPooled) });
    expect(judgeSuite(createSuiteResults({ cases: matrix }), { policy }).outcome).toBe(outcome);
  });

  it('is not judged by the minimum of a model that none of its cases uses', () => {
    const policy = createPolicy({ models: [{ name: 'x/other', ...ofPolicy(1) }] });
    const [, ...one] = matrix;
    expect(assessSuite(createSuiteResults({ cases: one }), { policy }).assessments).toHaveLength(1);
  });

  it('is inconclusive where a model has no result', () => {
    const cases = matrix.map((testCase) =>
      testCase.model === small ? { ...testCase, passed: 0, failed: 0, unscored: 10 } : testCase,
    );
    const policy = createPolicy({ budgets: { ...emptyPolicyLayer.budgets, infrastructureErrors: ofPolicy(10) } });
    expect(judgeSuite(createSuiteResults({ cases }), { policy })).toMatchObject({
      outcome: 'inconclusive',
      reasons: [
        { code: 'requirement-unjudged', message: expect.stringMatching(/^The model "anthropic\/small" has no result/) },
      ],
    });
  });
});

/** Cases of two iterations each, of which so many were answered from recordings. */
const createReplayed = (passed: number, failed: number, replayed: { passed: number; failed: number }) =>
  Array.from({ length: passed + failed }, (_, index) => {
    const isPassed = index < passed;
    const isReplayed = isPassed ? index < replayed.passed : index - passed < replayed.failed;
    return createCaseResults({
      id: `c${index}`,
      passed: isPassed ? 2 : 0,
      failed: isPassed ? 0 : 2,
      replayed: { passed: isReplayed && isPassed ? 2 : 0, total: isReplayed ? 2 : 0 },
    });
  });

describe('a confidence over replayed iterations', () => {
  const policy = createPolicy({ ...atLeast(0.8), confidence: ofPolicy(0.95) });
  const judge = (cases: CaseResults[]) => judgeSuite(createSuiteResults({ cases }), { policy });

  it.each([
    [9, 1, 'passed', '18 of 20 iterations passed (90%)'],
    [7, 3, 'failed', '14 of 20 iterations passed (70%)'],
  ])('is judged by count where all are replayed: %i passed, %i failed', (passed, failed, outcome, counts) => {
    expect(judge(createReplayed(passed, failed, { passed, failed }))).toEqual({
      outcome,
      reasons: [
        {
          code: outcome === 'passed' ? 'minimum-met' : 'below-minimum',
          message: `${counts}, the minimum is 80% (from evals/math.evals.yaml:4); recordings answered in all of them, so that the count decides`,
          suiteId: 'math',
        },
      ],
    });
  });

  it('has the interval of the live iterations alone in a mixture', () => {
    expect(judge(createReplayed(60, 0, { passed: 0, failed: 0 })).outcome).toBe('passed');
    const { outcome, reasons } = judge(createReplayed(60, 0, { passed: 50, failed: 0 }));
    expect(outcome).toBe('inconclusive');
    expect(reasons[0]?.message).toContain(
      '120 of 120 iterations passed (100%), the minimum is 80% (from evals/math.evals.yaml:4); with 95% confidence the rate of the 20 live iterations is from 69.1% to 100%, which leaves it open',
    );
  });

  it('stays open where live and recorded iterations are on different sides of the minimum', () => {
    const { outcome, reasons } = judge(createReplayed(40, 20, { passed: 0, failed: 20 }));
    expect(outcome).toBe('inconclusive');
    expect(reasons[0]?.message).toMatch(/which leaves it open; the recorded iterations say otherwise$/);
    expect(judge(createReplayed(90, 10, { passed: 90, failed: 0 })).reasons[0]?.message).toMatch(/say otherwise$/);
    expect(judge(createReplayed(40, 20, { passed: 40, failed: 0 })).outcome).toBe('failed');
  });

  it('fails with results missing only where no live iteration could change that', () => {
    const judgeWithGap = (cases: CaseResults[]) =>
      judge(cases.map((testCase, index) => (index === 0 ? { ...testCase, planned: 3, unscored: 1 } : testCase)))
        .outcome;
    expect(judgeWithGap(createReplayed(1, 60, { passed: 1, failed: 1 }))).toBe('failed');
    expect(judgeWithGap(createReplayed(1, 60, { passed: 1, failed: 60 }))).toBe('inconclusive');
    expect(judgeWithGap(createReplayed(60, 10, { passed: 60, failed: 0 }))).toBe('inconclusive');
  });
});

describe('budgets of models', () => {
  const cases = [
    createCaseResults({
      model: small,
      usage: usageOf({ modelCalls: 40, replayedCalls: 7, inputTokens: 900_000, outputTokens: 20_000 }),
    }),
    createCaseResults({ id: 'adds', usage: null }),
  ];
  const judge = (budgets: object, used = cases) => {
    const policy = createPolicy({ budgets: { ...emptyPolicyLayer.budgets, ...budgets } });
    return assessSuite(createSuiteResults({ cases: used }), { policy, pricing });
  };

  it.each([
    [{ cost: ofPolicy(1) }, 'passed', 'The model calls cost 1.00 EUR, the budget cost is 1.00 EUR'],
    [{ cost: ofPolicy(0.99) }, 'failed', 'The model calls cost 1.00 EUR, the budget cost is 0.99 EUR'],
    [
      { modelCalls: ofPolicy(40) },
      'passed',
      'The iterations made 40 model calls, the budget modelCalls is 40 model calls',
    ],
    [
      { modelCalls: ofPolicy(39) },
      'failed',
      'The iterations made 40 model calls, the budget modelCalls is 39 model calls',
    ],
  ])('judge what was spent: %j', (budgets, outcome, finding) => {
    const { verdict, assessments } = judge(budgets);
    expect(verdict.outcome).toBe(outcome);
    expect(assessments[1]?.finding).toBe(`${finding} (from policy.yaml:3)`);
  });

  it('leave the verdict open where a model that was called has no price, and say what to do', () => {
    const used = cases.map((testCase) => ({ ...testCase, model: large }));
    expect(judge({ cost: ofPolicy(1) }, used).verdict).toEqual({
      outcome: 'inconclusive',
      reasons: [
        {
          code: 'requirement-unjudged',
          message:
            'What the model calls cost is not known: no price for "openai/large"; add it to `prices`; the budget cost is 1.00 EUR (from policy.yaml:3)',
          suiteId: 'math',
        },
      ],
    });
  });

  it('leave the verdict open where a provider did not report the tokens, unless those that are known are too many', () => {
    const used = [
      createCaseResults({
        model: small,
        tokensUsed: 900,
        usage: usageOf({ modelCalls: 3, inputTokens: 800, outputTokens: 100, unmeasuredCalls: 2 }),
      }),
    ];
    const { verdict } = judge({ tokens: ofPolicy(1000) }, used);
    expect(verdict.outcome).toBe('inconclusive');
    expect(verdict.reasons[0]?.message).toBe(
      `How many tokens the model calls used is not known: the provider of "${small}" did not report the tokens of 2 calls; the budget tokens is 1000 tokens (from policy.yaml:3)`,
    );
    expect(judge({ tokens: ofPolicy(800) }, used).verdict.outcome).toBe('failed');
  });

  it('need no price of a model that only recordings answered for', () => {
    const used = [createCaseResults({ model: large, usage: usageOf({ replayedCalls: 7 }) })];
    expect(judge({ cost: ofPolicy(0) }, used).verdict.outcome).toBe('passed');
  });

  it('list the default number of model calls only where it was exceeded', () => {
    expect(judge({}).assessments).toHaveLength(1);
    const used = [createCaseResults({ model: small, usage: usageOf({ modelCalls: 301 }) })];
    expect(judge({}, used).verdict).toMatchObject({
      outcome: 'failed',
      reasons: [
        {
          code: 'budget-exceeded',
          message: 'The iterations made 301 model calls, the budget modelCalls is 300 model calls (the default)',
        },
      ],
    });
  });
});

describe('summarizeModels', () => {
  const summarize = (cases: CaseResults[], layer = {}) => {
    const { requirements, today } = createPolicy(layer);
    return summarizeModels([{ results: createSuiteResults({ cases }), requirements }], { today, ...pricing });
  };

  it('sums up models over the cases that count, and what they cost over all', () => {
    const cases = [
      createCaseResults({
        model: large,
        passed: 9,
        failed: 1,
        replayed: { passed: 4, total: 4 },
        usage: usageOf({ modelCalls: 6, replayedCalls: 4, inputTokens: 600, outputTokens: 60 }),
      }),
      createCaseResults({
        id: 'aside',
        model: small,
        passed: 0,
        failed: 5,
        usage: usageOf({ modelCalls: 5, inputTokens: 1_000_000 }),
      }),
      createCaseResults({
        id: 'adds',
        judges: [{ model: small, usage: usageOf({ modelCalls: 3, inputTokens: 2_000_000 }) }],
      }),
    ];
    const models = summarize(cases, { quarantine: [createQuarantineEntry({ case: 'aside' })] });
    expect(models).toEqual({
      models: [
        {
          model: large,
          passed: 9,
          total: 10,
          replayed: 4,
          range: { lower: expect.closeTo(0.3588, 3), upper: expect.closeTo(0.9958, 3) },
          usage: cases[0]?.usage,
          cost: null,
        },
        { model: small, passed: 0, total: 0, replayed: 0, range: null, usage: cases[1]?.usage, cost: 1 },
      ],
      usage: usageOf({ modelCalls: 11, replayedCalls: 4, inputTokens: 1_000_600, outputTokens: 60 }),
      cost: null,
      judges: [{ model: small, usage: usageOf({ modelCalls: 3, inputTokens: 2_000_000 }), cost: 2 }],
      currency: 'EUR',
      costGaps: ['no price for "openai/large"; add it to `prices`'],
    });
  });

  it('says nothing where no model took part', () => {
    expect(summarize([createCaseResults()])).toBeNull();
    expect(summarize([createCaseResults({ usage: usageOf({ inputTokens: 1 }) })])).toMatchObject({
      models: [],
      cost: null,
    });
  });
});
