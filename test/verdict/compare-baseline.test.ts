import { describe, expect, it } from 'vitest';
import type { BaselineCase } from '../../src/model/comparison.ts';
import type { SuiteResults } from '../../src/model/results.ts';
import type { VerdictReason } from '../../src/model/verdict.ts';
import {
  classifyCounts,
  compareWithBaseline,
  limitConfirmingIterations,
  listRegressions,
  listUnconfirmed,
} from '../../src/verdict/compare-baseline.ts';
import { judgeSuite } from '../../src/verdict/judge.ts';
import { describeRates } from '../../src/report/document/baseline.ts';
import { createBaseline, createBaselineCase } from '../support/factories/baseline-factory.ts';
import { atLeast, createPolicy } from '../support/factories/policy-factory.ts';
import { createCaseResults, createSuiteResults } from '../support/factories/results-factory.ts';

const compare = (baseline: BaselineCase[], suites: SuiteResults[], maximumRegressions = 0) =>
  compareWithBaseline(createBaseline(baseline), suites, { maximumRegressions, maximumRateDrop: null });

const suiteOf = (...cases: Array<Parameters<typeof createCaseResults>[0]>) =>
  createSuiteResults({ cases: cases.map((each) => createCaseResults(each)) });

const listChanges = (comparison: ReturnType<typeof compare>) =>
  comparison.cases.map(({ suiteId, id, change }) => `${suiteId}/${id} ${change}`);

describe('classifyCounts', () => {
  it.each([
    ['1/1', '0/1', 'regressed'],
    ['3/3', '0/3', 'regressed'],
    ['3/3', '1/3', 'regressed'],
    ['10/10', '5/10', 'regressed'],
    ['9/10', '0/10', 'regressed'],
    ['3/3', '2/3', 'unsteady'],
    ['10/10', '6/10', 'unsteady'],
    ['2/3', '1/3', 'unsteady'],
    ['1/2', '0/2', 'unsteady'],
    ['2/3', '2/3', 'unsteady'],
    ['0/1', '1/1', 'fixed'],
    ['1/3', '3/3', 'fixed'],
    ['0/10', '9/10', 'fixed'],
    ['2/3', '3/3', 'unsteady'],
    ['3/3', '1/1', 'unchanged'],
    ['0/3', '0/1', 'unchanged'],
    ['0/0', '3/3', 'unscored'],
    ['3/3', '0/0', 'unscored'],
  ])('calls %s then and %s now %s', (baseline, current, change) => {
    const read = (text: string) => {
      const [passed = 0, total = 0] = text.split('/').map(Number);
      return { passed, total };
    };
    expect(classifyCounts(read(baseline), read(current))).toBe(change);
  });
});

describe('compareWithBaseline', () => {
  it('finds nothing where nothing changed', () => {
    expect(compare([createBaselineCase()], [createSuiteResults()])).toEqual({
      baseline: {
        source: 'branch:main',
        startedAt: '2026-09-20T03:00:00.000Z',
        commit: '0123456789abcdef0123456789abcdef01234567',
        branch: 'main',
      },
      maximumRegressions: 0,
      maximumRateDrop: null,
      rates: [expect.objectContaining({ suiteId: 'math', difference: 0, worse: 0, better: 0, pValue: 1 })],
      counts: { regressed: 0, unsteady: 0, changed: 0, unscored: 0, new: 0, removed: 0, fixed: 0, unchanged: 1 },
      comparable: { baseline: { passed: 3, total: 3 }, current: { passed: 3, total: 3 } },
      notRun: 0,
      mixed: 0,
      cases: [],
    });
  });

  it('counts the cases in which a model answered live on one side and from a recording on the other', () => {
    const recorded = { replayed: { passed: 3, total: 3 } };
    const suites = [suiteOf({ ...recorded, id: 'a' }, { ...recorded, id: 'b' }, { id: 'c' }, { id: 'd' })];
    const comparison = compare(
      [
        createBaselineCase({ id: 'a' }),
        createBaselineCase({ id: 'b', replayed: 3 }),
        createBaselineCase({ id: 'c', replayed: 1 }),
        createBaselineCase({ id: 'd' }),
      ],
      suites,
    );
    expect(comparison.mixed).toBe(2);
    expect(comparison.counts.unchanged).toBe(4);
    expect(describeRates(comparison)).toMatch(/ 2 cases had recorded answers of a model on one side and live ones on/);
    expect(describeRates(compare([createBaselineCase()], [createSuiteResults()]))).not.toContain('recorded');
  });

  it('keeps a case whose definition changed, or is not known, out of every comparison', () => {
    const suites = [suiteOf({ passed: 0, failed: 3 }, { id: 'b', definitionHash: null, passed: 0, failed: 3 })];
    const comparison = compare(
      [createBaselineCase({ definitionHash: 'another' }), createBaselineCase({ id: 'b', definitionHash: null })],
      suites,
    );
    expect(listChanges(comparison)).toEqual(['math/adds changed', 'math/b changed']);
    expect(comparison.comparable.current.total).toBe(0);
    expect(listRegressions(comparison)).toEqual([]);
  });

  it('distinguishes new from removed, and both from what was not to be run', () => {
    const suites = [{ ...suiteOf({ id: 'b' }), leftOut: ['c'] }];
    const baseline = ['a', 'c'].map((id) => createBaselineCase({ id }));
    const comparison = compare([...baseline, createBaselineCase({ suiteId: 'other' })], suites);
    expect(listChanges(comparison)).toEqual(['math/b new', 'math/a removed']);
    expect(comparison.notRun).toBe(2);
  });

  it('does not match a case of the same name in another suite', () => {
    const suites = [suiteOf({}), { ...suiteOf({ passed: 0, failed: 3 }), suiteId: 'other' }];
    expect(listChanges(compare([createBaselineCase()], suites))).toEqual(['other/adds new']);
  });

  it('compares rates over what can be compared, and nothing else', () => {
    const suites = [suiteOf({ passed: 2, failed: 1 }, { id: 'new', passed: 0, failed: 9 })];
    const { comparable } = compare([createBaselineCase(), createBaselineCase({ id: 'gone', passed: 0 })], suites);
    expect(comparable).toEqual({ baseline: { passed: 3, total: 3 }, current: { passed: 2, total: 3 } });
  });
});

describe('listRegressions', () => {
  const judge = (results: SuiteResults, regressions: readonly VerdictReason[]) =>
    judgeSuite(results, {
      policy: createPolicy(atLeast(0)),
      findings: regressions.filter(({ suiteId }) => suiteId === results.suiteId),
    });
  const suites = [suiteOf({ passed: 0, failed: 3 }, { id: 'b', passed: 1, failed: 2 }, { id: 'c' })];
  const baseline = ['adds', 'b', 'c'].map((id) => createBaselineCase({ id }));

  it('fails the suite with a reason for every case that regressed', () => {
    expect(judge(suites[0] ?? suiteOf(), listRegressions(compare(baseline, suites)))).toEqual({
      outcome: 'failed',
      reasons: [
        {
          code: 'regressed',
          message:
            '"Adds two numbers" regressed: 3 of 3 passed in the baseline (branch:main), 0 of 3 now; 2 regressed, at most 0 may. 5 further iterations would confirm it and did not run, so the results so far decide.',
          suiteId: 'math',
          caseId: 'adds',
        },
        expect.objectContaining({ caseId: 'b' }),
      ],
    });
  });

  it('allows as many as the maximum says, over all suites', () => {
    expect(listRegressions(compare(baseline, suites, 1))).toHaveLength(2);
    expect(listRegressions(compare(baseline, suites, 2))).toEqual([]);
  });

  it('does not change a suite without regressions or an inconclusive suite', () => {
    const regressions = listRegressions(compare(baseline, suites));
    expect(judge({ ...suiteOf({}), suiteId: 'other' }, regressions).outcome).toBe('passed');
    expect(judge({ ...suiteOf({}), isComplete: false }, regressions).outcome).toBe('inconclusive');
  });
});

describe('a case that seems to have regressed', () => {
  const read = (text: string) => {
    const [passed = 0, total = 0] = text.split('/').map(Number);
    return { passed, total };
  };

  it.each([
    ['1/1', '0/1', null, 'regressed', 7],
    ['1/1', '0/1', '0/3', 'regressed', 4],
    ['1/1', '0/1', '0/7', 'regressed', undefined],
    ['1/1', '0/1', '1/1', 'unsteady', undefined],
    ['3/3', '0/3', '0/5', 'regressed', undefined],
    ['2/2', '1/2', null, 'regressed', 6],
    ['2/2', '1/2', '3/6', 'regressed', undefined],
    ['2/2', '1/2', '4/6', 'unsteady', undefined],
    ['10/10', '5/10', null, 'regressed', undefined],
  ])('of %s then, %s now and %s further is %s', (then, now, further, change, unconfirmed) => {
    const { passed, total } = read(now);
    const confirming = further === null ? {} : { confirming: read(further) };
    const suite = suiteOf({ id: 'adds', passed, failed: total - passed, ...confirming });
    const [found] = compare([createBaselineCase(read(then))], [suite]).cases;
    expect(found?.change).toBe(change);
    expect(found?.unconfirmed).toBe(unconfirmed);
  });

  it('repeats once where it is deterministic', () => {
    const of = (confirming: object) =>
      compare(
        [createBaselineCase({ passed: 1, total: 1 })],
        [suiteOf({ passed: 0, failed: 1, isDeterministic: true, ...confirming })],
      ).cases;
    expect(of({})).toMatchObject([{ change: 'regressed', unconfirmed: 1 }]);
    expect(of({ confirming: { passed: 0, total: 1 } })[0]).not.toHaveProperty('unconfirmed');
    expect(of({ confirming: { passed: 1, total: 1 } })).toMatchObject([{ change: 'unsteady' }]);
  });

  it('runs further where the policy does not allow it, and at most twice as often as the suite or to find one too many', () => {
    const comparison = compare([createBaselineCase()], [suiteOf({ passed: 0, failed: 3 })]);
    expect(listUnconfirmed(comparison, { suiteId: 'math', maximumRegressions: 0 })).toEqual([
      { id: 'adds', rounds: 5 },
    ]);
    expect(listUnconfirmed(comparison, { suiteId: 'math', maximumRegressions: 1 })).toEqual([]);
    expect(listUnconfirmed(comparison, { suiteId: 'other', maximumRegressions: 0 })).toEqual([]);
    expect(limitConfirmingIterations(suiteOf({ planned: 3 }), 0)).toBe(7);
    expect(limitConfirmingIterations(suiteOf({ planned: 30 }), 1)).toBe(60);
  });
});
