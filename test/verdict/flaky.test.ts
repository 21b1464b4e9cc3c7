import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyPolicyLayer, type FlakyEffect } from '../../src/model/policy.ts';
import type { CaseResults } from '../../src/model/results.ts';
import { compareWithBaseline, listRegressions, applyFlakyEffect } from '../../src/verdict/compare-baseline.ts';
import { addRetryRound, classifyCase, listStillFailing } from '../../src/verdict/flaky.ts';
import { assessSuite, judgeSuite } from '../../src/verdict/judge.ts';
import { createBaseline, createBaselineCase } from '../support/factories/baseline-factory.ts';
import { atLeast, createPolicy, createQuarantineEntry, ofPolicy } from '../support/factories/policy-factory.ts';
import { suiteResults } from '../support/factories/results-arbitrary.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

const effects: readonly FlakyEffect[] = ['fail', 'pass', 'report'];
const underEffect = (effect: FlakyEffect, minimum = 0.9) => ({
  policy: createPolicy({ ...atLeast(minimum), flaky: ofPolicy(effect) }),
});

const missed = { passed: 0, total: 1 };
const held = { passed: 1, total: 1 };
const sound = createCaseResults({ id: 'asks', title: 'Asks', passed: 1 });
const flaky = createCaseResults({ id: 'adds', title: 'Adds', passed: 0, failed: 1, retries: [missed, held] });
const broken = createCaseResults({ id: 'divides', title: 'Divides', passed: 0, failed: 1, retries: [missed, missed] });

describe('classifyCase', () => {
  it.each<[Partial<CaseResults>, ReturnType<typeof classifyCase>]>([
    [{ passed: 3 }, 'passed'],
    [{ passed: 2, failed: 1 }, 'failed'],
    [{ passed: 2, failed: 1, retries: [{ passed: 2, total: 3 }] }, 'failed'],
    [{ passed: 2, failed: 1, retries: [{ passed: 3, total: 3 }] }, 'flaky'],
    [{ passed: 0, failed: 1, retries: [missed, missed] }, 'failed'],
    [{ passed: 0, failed: 1, retries: [missed, held] }, 'flaky'],
    [{ passed: 0, failed: 1, retries: [{ passed: 0, total: 0 }] }, 'failed'],
    [{ passed: 2, unscored: 1 }, null],
    [{ passed: 0, planned: 3 }, null],
    [{ passed: 0, failed: 1, unscored: 1, planned: 2 }, 'failed'],
  ])('of %j says %s', (overrides, expected) => {
    expect(classifyCase(createCaseResults(overrides))).toBe(expected);
  });
});

describe('a flaky case', () => {
  const results = createSuiteResults({ cases: [sound, flaky] });

  it.each<[FlakyEffect, string, string, object]>([
    ['fail', 'failed', '1 of 2 iterations passed', { cases: 2, passed: 1, failed: 1 }],
    ['pass', 'passed', '2 of 2 iterations passed', { cases: 2, passed: 2, failed: 0 }],
    ['report', 'passed', '1 of 1 iteration passed', { cases: 1, passed: 1, failed: 0 }],
  ])('counts by policy: %s', (effect, outcome, rate, counted) => {
    const judged = assessSuite(results, underEffect(effect, 1));
    expect(judged.verdict.outcome).toBe(outcome);
    expect(judged.verdict.reasons[0]?.message).toContain(rate);
    expect(judged.counted).toEqual(counted);
    expect(judged.analyses.map(({ classification }) => classification)).toEqual(['passed', 'flaky']);
  });

  it('counts by its first round by default', () => {
    expect(judgeSuite(results, { policy: createPolicy() })).toEqual(judgeSuite(results, underEffect('fail')));
  });

  it.each<[FlakyEffect, string]>([
    ['fail', 'failed'],
    ['pass', 'passed'],
    ['report', 'passed'],
  ])('counts the same way where it is required: %s', (effect, outcome) => {
    const cases = [sound, { ...flaky, isRequired: true }];
    const judged = assessSuite(createSuiteResults({ cases }), underEffect(effect, 0));
    expect(judged.verdict.outcome).toBe(outcome);
    expect(judged.assessments.find(({ kind }) => kind === 'required-case')?.finding).toBe(
      {
        fail: 'The required case "Adds" failed 1 of 1 iteration.',
        pass: 'The required case "Adds" passed its iteration.',
        report:
          'The required case "Adds" is flaky, which is only reported, so that the requirement on it (from evals/math.evals.yaml:7) could not be judged.',
      }[effect],
    );
  });

  it('counts by its last round, with the iterations of that round', () => {
    const repeated = createCaseResults({ passed: 1, failed: 2, unscored: 1, retries: [{ passed: 4, total: 4 }] });
    const policy = createPolicy({ ...atLeast(1), flaky: ofPolicy('pass'), budgets: budgetOfOne });
    const { verdict } = assessSuite(createSuiteResults({ cases: [repeated] }), { policy });
    expect([verdict.outcome, verdict.reasons[0]?.message]).toEqual([
      'passed',
      '4 of 4 iterations passed (100%), the minimum is 100% (from evals/math.evals.yaml:4)',
    ]);
  });

  it('does not make up for a result that is missing from the first round', () => {
    const cases = [sound, createCaseResults({ ...flaky, planned: 2, unscored: 1 })];
    const outcomes = effects.map((effect) => judgeSuite(createSuiteResults({ cases }), underEffect(effect)).outcome);
    expect(outcomes).toEqual(['failed', 'inconclusive', 'inconclusive']);
  });

  it('makes a suite inconclusive if it is its only case and does not count', () => {
    const alone = createSuiteResults({ cases: [flaky] });
    expect(judgeSuite(alone, underEffect('report', 0))).toEqual({
      outcome: 'inconclusive',
      reasons: [
        {
          code: 'no-iterations',
          message: 'Every case that was scored is flaky, which is only reported, so nothing was shown.',
          suiteId: 'math',
        },
      ],
    });
    expect(judgeSuite(alone, underEffect('pass', 0)).outcome).toBe('passed');
  });

  it('leaves the requirement of its tag without a result if it does not count', () => {
    const cases = [sound, { ...flaky, tags: ['smoke'] }];
    const judge = (effect: FlakyEffect) =>
      assessSuite(createSuiteResults({ cases }), {
        policy: createPolicy({ ...atLeast(0), flaky: ofPolicy(effect), tags: [{ name: 'smoke', ...ofPolicy(1) }] }),
      });
    expect(judge('report').assessments[1]).toMatchObject({ state: 'unknown', isDecisive: false });
    expect(effects.map((effect) => judge(effect).verdict.outcome)).toEqual(['failed', 'passed', 'passed']);
  });
});

const budgetOfOne = {
  ...emptyPolicyLayer.budgets,
  tokens: null,
  wallTimeMs: null,
  p95IterationMs: null,
  infrastructureErrors: ofPolicy(1),
};

describe('a case that failed in every round', () => {
  it('counts the same under every policy, whatever the other results', () => {
    const judged = new Set<string>();
    fc.assert(
      fc.property(suiteResults, (results) => {
        const cases = results.cases.map((member) => ({
          ...member,
          retries: member.retries.filter(({ passed, total }) => passed < total),
        }));
        const [fail, pass, report] = effects.map((effect) => judgeSuite({ ...results, cases }, underEffect(effect)));
        judged.add(String(fail?.outcome));
        expect(pass).toEqual(fail);
        expect(report).toEqual(fail);
      }),
      { numRuns: 2000 },
    );
    expect([...judged].toSorted()).toEqual(['failed', 'inconclusive', 'passed']);
  });

  it('fails the suite even next to a flaky case that counts as passed', () => {
    const results = createSuiteResults({ cases: [sound, flaky, broken] });
    expect(effects.map((effect) => judgeSuite(results, underEffect(effect)).outcome)).toEqual([
      'failed',
      'failed',
      'failed',
    ]);
  });
});

describe('further rounds', () => {
  it('only classify cases by default and do not change the verdict', () => {
    fc.assert(
      fc.property(suiteResults, (results) => {
        const without = { ...results, cases: results.cases.map((member) => ({ ...member, retries: [] })) };
        expect(judgeSuite(results, { policy: createPolicy() })).toEqual(
          judgeSuite(without, { policy: createPolicy() }),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('are for what failed in every round so far, and not for what is in quarantine', () => {
    const results = createSuiteResults({ cases: [sound, flaky, broken] });
    const { requirements, today } = createPolicy();
    const list = (quarantine: typeof requirements.quarantine) =>
      listStillFailing(results, { probation: [], quarantine }, today).map(({ id }) => id);
    expect(list([])).toEqual(['divides']);
    expect(list([createQuarantineEntry({ case: 'divides' })])).toEqual([]);
    expect(list([createQuarantineEntry({ case: 'divides', expires: '2026-09-20' })])).toEqual(['divides']);
  });

  it('add up per case, and count only for their cost if one was not completed', () => {
    const first = createSuiteResults({ cases: [sound, { ...broken, retries: [], tokensUsed: 10 }] });
    const again = [createCaseResults({ ...broken, retries: [], passed: 1, failed: 0, tokensUsed: 5 })];
    const round = { round: 1, cases: 1, run: null, shortfall: null };
    const whole = addRetryRound(first, round, again);
    expect(whole.retries).toEqual([round]);
    expect(whole.cases).toEqual([sound, { ...broken, retries: [held], tokensUsed: 15 }]);
    const short = addRetryRound(first, { ...round, shortfall: 'The server is gone.' }, again);
    expect(short.cases).toEqual([sound, { ...broken, retries: [], tokensUsed: 15 }]);
    expect(judgeSuite(short, { policy: createPolicy() })).toEqual(judgeSuite(first, { policy: createPolicy() }));
  });
});

describe('a comparison with a baseline', () => {
  const results = createSuiteResults({ cases: [sound, flaky] });
  const baseline = createBaseline(['asks', 'adds'].map((id) => createBaselineCase({ id })));

  it.each<[FlakyEffect, number, object]>([
    ['fail', 1, { regressed: 1, unchanged: 1 }],
    ['pass', 0, { regressed: 0, unchanged: 2 }],
    ['report', 0, { regressed: 0, unchanged: 1, removed: 0 }],
  ])('takes a flaky case as it counts: %s', (effect, regressions, counts) => {
    const settled = applyFlakyEffect(baseline, [{ results, effect }]);
    const comparison = compareWithBaseline(settled.baseline, settled.results, {
      maximumRegressions: 0,
      maximumRateDrop: null,
    });
    expect(comparison.counts).toMatchObject(counts);
    expect(comparison.notRun).toBe(0);
    expect(listRegressions(comparison)).toHaveLength(regressions);
  });

  it('still reports a removed case as missing', () => {
    const settled = applyFlakyEffect(createBaseline([...baseline.cases, createBaselineCase({ id: 'gone' })]), [
      { results, effect: 'report' },
    ]);
    expect(
      compareWithBaseline(settled.baseline, settled.results, { maximumRegressions: 0, maximumRateDrop: null }).counts
        .removed,
    ).toBe(1);
  });
});
