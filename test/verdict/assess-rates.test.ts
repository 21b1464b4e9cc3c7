import { describe, expect, it } from 'vitest';
import type { CaseResults } from '../../src/model/results.ts';
import { assessSuite, judgeSuite } from '../../src/verdict/judge.ts';
import { atLeast, createPolicy, createQuarantineEntry, ofPolicy } from '../support/factories/policy-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

const cases: CaseResults[] = [
  createCaseResults({ id: 'adds', title: 'Adds', tags: ['smoke'], passed: 4, failed: 1 }),
  createCaseResults({ id: 'asks', title: 'Asks', tags: ['model'], passed: 5 }),
  createCaseResults({ id: 'finds', title: 'Finds', tags: ['model', 'smoke'], passed: 10 }),
];
const results = createSuiteResults({ cases });
const named = <T>(name: string, value: T) => ({ name, ...ofPolicy(value) });

describe('requirements of tags and cases', () => {
  it('are judged independently', () => {
    const policy = createPolicy({
      tags: [named('smoke', 0.9), named('model', 1)],
      cases: [named('adds', 0.8), named('asks', 1)],
      required: [named('finds', true)],
    });
    const { verdict, assessments } = assessSuite(results, { policy });
    expect(verdict).toEqual({
      outcome: 'passed',
      reasons: [
        {
          code: 'minimum-met',
          message: '19 of 20 iterations passed (95%), the minimum is 90% (from evals/math.evals.yaml:4)',
          suiteId: 'math',
        },
      ],
    });
    expect(assessments.map(({ scope, subject, requirement, state }) => [scope, subject, requirement, state])).toEqual([
      ['suite', null, 'at least 90% pass', 'met'],
      ['tag', 'smoke', 'at least 90% pass', 'met'],
      ['tag', 'model', 'at least 100% pass', 'met'],
      ['case', 'Adds', 'at least 80% pass', 'met'],
      ['case', 'Asks', 'at least 100% pass', 'met'],
      ['case', 'Finds', 'every iteration passes', 'met'],
    ]);
  });

  it('fail the suite whatever its own rate, each with its reason and where it was made', () => {
    const policy = createPolicy({
      tags: [named('smoke', 0.95)],
      cases: [named('adds', 0.9)],
      required: [named('adds', true)],
    });
    expect(judgeSuite(results, { policy })).toEqual({
      outcome: 'failed',
      reasons: [
        {
          code: 'tag-below-minimum',
          message: 'Of the tag "smoke", 14 of 15 iterations passed (93.3%), the minimum is 95% (from policy.yaml:3)',
          suiteId: 'math',
        },
        {
          code: 'case-below-minimum',
          message: 'Of the case "Adds", 4 of 5 iterations passed (80%), the minimum is 90% (from policy.yaml:3)',
          caseId: 'adds',
          suiteId: 'math',
        },
        {
          code: 'required-failed',
          message: 'The required case "Adds" failed 1 of 5 iterations.',
          caseId: 'adds',
          suiteId: 'math',
        },
      ],
    });
  });

  it('make the verdict inconclusive if none of their cases ran', () => {
    const policy = createPolicy({ tags: [named('slow', 0.5)], required: [named('gone', true)] });
    expect(judgeSuite(results, { policy })).toEqual({
      outcome: 'inconclusive',
      reasons: [
        {
          code: 'requirement-unjudged',
          message:
            'The tag "slow" has no result, so that the requirement on it (from policy.yaml:3) could not be judged.',
          suiteId: 'math',
        },
        {
          code: 'requirement-unjudged',
          message:
            'The required case "gone" has no result, so that the requirement on it (from policy.yaml:3) could not be judged.',
          suiteId: 'math',
        },
      ],
    });
  });

  it('are not judged for a case in quarantine', () => {
    const policy = createPolicy({
      ...atLeast(1),
      cases: [named('adds', 1)],
      required: [named('adds', true)],
      quarantine: [createQuarantineEntry()],
    });
    const { verdict, assessments } = assessSuite(results, { policy });
    expect(verdict.outcome).toBe('passed');
    expect(assessments.map(({ state, isDecisive }) => [state, isDecisive])).toEqual([
      ['met', true],
      ['unknown', false],
      ['unknown', false],
      ['met', false],
    ]);
  });

  it('are not judged from incomplete results', () => {
    const policy = createPolicy({ required: [named('asks', true)] });
    const { verdict, assessments } = assessSuite({ ...results, isComplete: false }, { policy });
    expect(verdict.outcome).toBe('inconclusive');
    expect(new Set(assessments.map(({ state }) => state))).toEqual(new Set(['unknown']));
  });

  it('list their own reasons before those of other rules', () => {
    const regressed = { code: 'below-minimum', message: 'Regressed: "Asks".', caseId: 'asks' } as const;
    const policy = createPolicy({ cases: [named('adds', 0.9)] });
    const { outcome, reasons } = judgeSuite(results, { policy, findings: [regressed] });
    expect([outcome, reasons.map(({ code, caseId }) => [code, caseId])]).toEqual([
      'failed',
      [
        ['case-below-minimum', 'adds'],
        ['below-minimum', 'asks'],
      ],
    ]);
    const gap = { ...results, isComplete: false };
    expect(judgeSuite(gap, { policy: createPolicy(), findings: [regressed] }).outcome).toBe('inconclusive');
    const lowered = { code: 'suite-removed', message: 'The suite is gone.' } as const;
    expect(judgeSuite(gap, { policy: createPolicy(), findings: [regressed, lowered] })).toMatchObject({
      outcome: 'failed',
      reasons: [{ code: 'suite-removed' }, { code: 'iterations-missing' }],
    });
  });
});
