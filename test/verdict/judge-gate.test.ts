import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyPolicyLayer } from '../../src/model/policy.ts';
import type { Report } from '../../src/model/report.ts';
import { readResults } from '../../src/model/results.ts';
import { parseReport, renderReportJson } from '../../src/report/report-json.ts';
import { judgeGate } from '../../src/verdict/judge-gate.ts';
import { gateReports } from '../support/gate/damaged-report.ts';
import { atLeast, createPolicy, ofPolicy } from '../support/factories/policy-factory.ts';
import { createInconclusiveReport, createPolicyReport, createReport } from '../support/factories/report-factory.ts';
import { createCaseResults, createRun, createSuiteResults } from '../support/factories/results-factory.ts';
import { countDraws } from '../support/property-runs.ts';

const judgeAgain = (report: Report) => {
  const read = parseReport(JSON.parse(renderReportJson(report)));
  return judgeGate(readResults(read), read.policy);
};

describe('a gate that is judged again from its report', () => {
  it('comes to the same verdict with the same reasons, whatever its results and its policy', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(gateReports, (report) => {
        const { verdict, comparison, suites } = judgeAgain(report);
        seen.add(verdict.outcome);
        expect(verdict).toEqual(report.verdict);
        expect(comparison).toEqual(report.comparison);
        expect(suites.map(({ assessments }) => assessments)).toEqual(
          report.suites.map(({ requirements }) => requirements),
        );
      }),
      { numRuns: countDraws(1000) },
    );
    expect([...seen].toSorted()).toEqual(['failed', 'inconclusive', 'passed']);
  });

  it.each([
    ['a policy of every kind', createPolicyReport()],
    ['a server that was lost', createInconclusiveReport()],
  ])('comes to the same verdict for %s', (_, report) => {
    expect(judgeAgain(report).verdict).toEqual(report.verdict);
  });

  it('keeps what was spent, so that its budgets decide', () => {
    const cases = [createCaseResults({ durationsMs: [100, 200, 900], tokensUsed: 500 })];
    const judgeUnder = (budgets: Partial<typeof emptyPolicyLayer.budgets>) => {
      const policy = createPolicy({ budgets: { ...emptyPolicyLayer.budgets, ...budgets } });
      return judgeAgain(createReport({ suites: [createSuiteResults({ cases })], policy })).verdict.outcome;
    };
    expect(judgeUnder({ tokens: ofPolicy(500) })).toBe('passed');
    expect(judgeUnder({ tokens: ofPolicy(499) })).toBe('failed');
    expect(judgeUnder({ p95IterationMs: ofPolicy(900) })).toBe('passed');
    expect(judgeUnder({ p95IterationMs: ofPolicy(899) })).toBe('failed');
    expect(judgeUnder({ wallTimeMs: ofPolicy(12_000) })).toBe('passed');
    expect(judgeUnder({ wallTimeMs: ofPolicy(11_999) })).toBe('failed');
  });

  it('lets the job go on where its policy does', () => {
    const failing = createSuiteResults({ cases: [createCaseResults({ passed: 0, failed: 3 })] });
    const judgeUnder = (isReportOnly: boolean) =>
      judgeAgain(createReport({ suites: [failing], policy: createPolicy({ reportOnly: ofPolicy(isReportOnly) }) }))
        .exit;
    expect([judgeUnder(true).exitCode, judgeUnder(false).exitCode]).toEqual([0, 1]);
  });

  it('is settled as it was where it was stopped early, and open under another minimum', () => {
    const cases = [createCaseResults({ passed: 1, failed: 2, planned: 10, unscored: 7 })];
    const run = createRun({ status: 'cancelled' });
    const suites = [createSuiteResults({ cases, run, isStoppedEarly: true })];
    expect(judgeAgain(createReport({ suites })).verdict.outcome).toBe('failed');
    const half = createPolicy(atLeast(0.5));
    expect(judgeAgain(createReport({ suites, policy: half })).verdict.outcome).toBe('inconclusive');
  });

  it('stays inconclusive under any minimum where results are missing', () => {
    const suites = [createSuiteResults({ isComplete: false })];
    const outcomes = [0, 0.5, 1].map(
      (minimum) => judgeAgain(createReport({ suites, policy: createPolicy(atLeast(minimum)) })).verdict.outcome,
    );
    expect(outcomes).toEqual(['inconclusive', 'inconclusive', 'inconclusive']);
  });
});
