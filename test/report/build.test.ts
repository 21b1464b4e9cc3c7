import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReport } from '../support/factories/report-factory.ts';
import {
  createCaseResults,
  createFailure,
  createRun,
  createSuiteResults,
} from '../support/factories/results-factory.ts';

describe('buildReport', () => {
  it('puts the worst cases of a suite first and keeps the order of the file among equals', () => {
    const cases = [
      createCaseResults({ id: 'ok-1' }),
      createCaseResults({ id: 'unsure', passed: 0, planned: 3 }),
      createCaseResults({ id: 'bad-1', failed: 1 }),
      createCaseResults({ id: 'ok-2' }),
      createCaseResults({ id: 'bad-required', failed: 1, isRequired: true }),
      createCaseResults({ id: 'bad-2', failed: 3 }),
    ];
    const report = createReport({ suites: [createSuiteResults({ cases }), createSuiteResults({ suiteId: 'next' })] });
    expect(report.cases.map(({ suiteId, id }) => `${suiteId}/${id}`)).toEqual([
      'math/bad-required',
      'math/bad-1',
      'math/bad-2',
      'math/unsure',
      'math/ok-1',
      'math/ok-2',
      'next/adds',
    ]);
  });

  it.each([
    [{ passed: 3 }, 'passed'],
    [{ passed: 2, failed: 1 }, 'failed'],
    [{ passed: 0, failed: 1, unscored: 2 }, 'failed'],
    [{ passed: 2, unscored: 1 }, 'inconclusive'],
    [{ passed: 2, planned: 3 }, 'inconclusive'],
    [{ passed: 0, planned: 3 }, 'inconclusive'],
    [{ passed: 0, planned: 0 }, 'inconclusive'],
  ] as const)('calls a case of %j %s', (counts, outcome) => {
    const report = createReport({ suites: [createSuiteResults({ cases: [createCaseResults(counts)] })] });
    expect(report.cases[0]?.outcome).toBe(outcome);
  });

  it('adds up the scored iterations of all suites', () => {
    const report = createReport({
      suites: [
        createSuiteResults({ cases: [createCaseResults({ passed: 2, failed: 1, unscored: 4 })] }),
        createSuiteResults({ suiteId: 'next' }),
      ],
    });
    expect(report.totals).toEqual({ cases: 2, iterations: 6, passed: 5, failed: 1, passRate: 5 / 6 });
    expect(report.suites.map(({ totals }) => totals.iterations)).toEqual([3, 3]);
  });

  it('has no rate where nothing was scored, and no run where none was created', () => {
    const report = createReport({ suites: [createSuiteResults({ cases: [], run: null })] });
    expect(report).toMatchObject({ totals: { passRate: null }, run: null, verdict: { outcome: 'inconclusive' } });
  });

  it('names the first run there is', () => {
    const run = createRun({ id: 'run_2' });
    const report = createReport({
      suites: [createSuiteResults({ run: null }), createSuiteResults({ suiteId: 'next', run })],
    });
    expect(report.run).toEqual({ id: 'run_2', suiteId: 'suite_1', status: 'completed', url: null });
  });

  it.each([
    [[], null],
    [[7], 7],
    [[9, 1, 5], 5],
    [[1, 2, 3, 10], 2.5],
  ])('takes the median of %j', (durationsMs, expected) => {
    const report = createReport({ suites: [createSuiteResults({ cases: [createCaseResults({ durationsMs })] })] });
    expect(report.cases[0]?.durationMs).toBe(expected);
  });

  it('is frozen to the last leaf and leaves its input alone', () => {
    const failure = createFailure();
    const results = createSuiteResults({ cases: [createCaseResults({ failed: 1, failures: [failure] })] });
    const report = createReport({ suites: [results] });
    expect(() => Object.assign(report.cases[0]?.failures[0]?.actualToolCalls[0]?.arguments ?? {}, { a: 0 })).toThrow(
      TypeError,
    );
    expect(Object.isFrozen(failure)).toBe(false);
    expect(Object.isFrozen(results.cases)).toBe(false);
  });

  it('never counts more iterations than it was given, nor fewer', () => {
    const counts = fc.record({ passed: fc.nat(9), failed: fc.nat(9), unscored: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(counts, { maxLength: 5 }), (list) => {
        const suite = createSuiteResults({ cases: list.map((each) => createCaseResults(each)) });
        const { totals, cases } = createReport({ suites: [suite] });
        const sum = (key: 'passed' | 'failed') => list.reduce((total, each) => total + each[key], 0);
        expect([totals.passed, totals.failed]).toEqual([sum('passed'), sum('failed')]);
        expect(cases.map(({ passed, failed, total }) => total - passed - failed)).toEqual(list.map(() => 0));
      }),
      { numRuns: 500 },
    );
  });
});
