import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FlakyEffect } from '../../src/model/policy.ts';
import type { Report } from '../../src/model/report.ts';
import { renderReportJson } from '../../src/report/json.ts';
import { parseReport } from '../../src/report/schema.ts';
import { rejudgeSuite, restoreSuites } from '../../src/verdict/restore.ts';
import { atLeast, createPolicy, demanded } from '../support/policy-factory.ts';
import { createPolicyReport, createReport } from '../support/report-factory.ts';
import { suiteResults } from '../support/results-arbitrary.ts';
import { createCaseResults, createSuiteResults } from '../support/results-factory.ts';
import type { CaseReport } from '../../src/model/report.ts';

const effect = fc.constantFrom<FlakyEffect>('fail', 'pass', 'report');

const readBack = (report: Report) => parseReport(JSON.parse(renderReportJson(report)));

describe('a suite restored from its report', () => {
  it('is judged as it was, whatever its results', () => {
    fc.assert(
      fc.property(suiteResults, effect, (results, effect) => {
        // A report has the worst first, and only lines tell the order of the file.
        const cases = results.cases.map((member, line) => ({ ...member, location: { file: 'x', line, column: 1 } }));
        const policy = createPolicy({ flaky: demanded(effect) });
        const report = createReport({ suites: [{ ...results, cases }], policy });
        const [restored] = restoreSuites(readBack(report));
        expect(restored && rejudgeSuite(restored).verdict).toEqual(report.suites[0]?.verdict);
      }),
      { numRuns: 3000 },
    );
  });

  it('becomes the same cases in the report again', () => {
    fc.assert(
      fc.property(suiteResults, (results) => {
        const report = createReport({ suites: [results] });
        const again = createReport({ suites: restoreSuites(readBack(report)).map((restored) => restored.results) });
        // How a case counts depends on the verdict of its suite, which is judged again without the policy.
        const omitDisposition = (testCase: CaseReport) => ({ ...testCase, disposition: null });
        expect(again.cases.map(omitDisposition)).toEqual(report.cases.map(omitDisposition));
        expect(again.totals).toEqual(report.totals);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps what a policy made of its demands, which the report does not hold', () => {
    const report = createPolicyReport();
    const [restored] = restoreSuites(readBack(report));
    if (restored === undefined) throw new Error('The report has no suite.');
    const { verdict, quarantined } = rejudgeSuite(restored);
    expect(verdict.outcome).toBe(report.verdict.outcome);
    expect(verdict.reasons.map(({ code }) => code).toSorted()).toEqual(
      report.verdict.reasons.map(({ code }) => code).toSorted(),
    );
    expect(quarantined.map(({ caseId }) => caseId)).toEqual(['adds']);
  });

  it('of a run that was stopped early is settled as it was, and open under another minimum', () => {
    const cases = [createCaseResults({ passed: 1, failed: 2, planned: 10, unscored: 7 })];
    const suite = createSuiteResults({ cases, isStoppedEarly: true });
    const run = suite.run && { ...suite.run, status: 'cancelled' };
    const report = createReport({ suites: [{ ...suite, run }] });
    expect([report.verdict.outcome, report.suites[0]?.stoppedEarly]).toEqual(['failed', { planned: 10, ran: 3 }]);
    const [restored] = restoreSuites(readBack(report));
    if (restored === undefined) throw new Error('The report has no suite.');
    expect(rejudgeSuite(restored).verdict).toEqual(report.suites[0]?.verdict);
    const under = { ...restored, policy: createPolicy(atLeast(0.5)) };
    expect(rejudgeSuite(under).verdict.outcome).toBe('inconclusive');
  });

  it('obeys another minimum, and stays inconclusive under any', () => {
    const judgeUnder = (minimumPassRate: number, overrides: object) => {
      const suite = createSuiteResults({ cases: [createCaseResults({ passed: 1, failed: 1 })], ...overrides });
      const [restored] = restoreSuites(createReport({ suites: [suite] }));
      if (restored === undefined) throw new Error('The report has no suite.');
      return rejudgeSuite({ ...restored, policy: createPolicy(atLeast(minimumPassRate)) }).verdict.outcome;
    };
    expect(judgeUnder(0.5, {})).toBe('passed');
    expect(judgeUnder(0.6, {})).toBe('failed');
    expect(judgeUnder(0, { isComplete: false })).toBe('inconclusive');
  });
});
