import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/base/redaction.ts';
import { createEvidenceCollector } from '../../src/gate/run/evidence-log.ts';
import { type Evidence, maxTraces } from '../../src/model/evidence.ts';
import { maxFailuresPerSuite } from '../../src/model/case-report.ts';
import { planAnnotations } from '../../src/report/annotations.ts';
import { buildReport } from '../../src/report/build.ts';
import { renderComment } from '../../src/report/comment.ts';
import { renderHtml } from '../../src/report/html/page.ts';
import { parseReport, renderReportJson } from '../../src/report/report-json.ts';
import { renderJunit } from '../../src/report/junit.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { outlineSuite } from '../../src/suite/manifest.ts';
import { assessSuite } from '../../src/verdict/judge.ts';
import { createTally } from '../../src/verdict/tally.ts';
import { readPage } from '../support/text/html-tree.ts';
import { createIterationTrace } from '../support/factories/page-factory.ts';
import { atLeast, createPolicy } from '../support/factories/policy-factory.ts';
import { createReport } from '../support/factories/report-factory.ts';
import { createRun } from '../support/factories/results-factory.ts';
import { createIteration, createSuite, createSuiteCase } from '../support/factories/suite-factory.ts';

/** A thousand cases of a hundred iterations each, all failed. */
function failEverything() {
  const suite = createSuite(
    Array.from({ length: 1000 }, (_, index) =>
      createSuiteCase({ id: `case-${index}`, title: `Case number ${index}`, runs: 100 }),
    ),
  );
  const tally = createTally(outlineSuite(suite, suite), {
    caseIds: new Map(suite.cases.map(({ id }) => [`svc-${id}`, id])),
  });
  for (let index = 0; index < 100_000; index += 1) {
    tally.addIteration(
      createIteration({
        id: `it_${index}`,
        testCaseId: `svc-case-${index % 1000}`,
        iterationNumber: Math.floor(index / 1000) + 1,
        result: 'failed',
        error: `Iteration ${index}: ${'because '.repeat(30)}`,
      }),
    );
  }
  const run = createRun({ summary: { total: 100_000, passed: 0, failed: 100_000 } });
  return tally.finish({ run, runUrl: null, isComplete: true, tunnelBreaks: 0, interruption: null });
}

/** As much as a gate keeps. */
function createEvidence(): Evidence {
  const collector = createEvidenceCollector(createRedactor(), { traces: 'whole' });
  for (let index = 0; index < 100_000; index += 1) {
    const counted = { caseId: `case-${index % 1000}`, outcome: 'failed' } as const;
    collector.addIteration('math', createIteration({ id: `it_${index}`, iterationNumber: index }), counted);
  }
  const texts = [{ kind: 'text', toolName: null, text: 'Because. '.repeat(10_000) }] as const;
  const messages = [{ role: 'assistant', parts: [...texts] }];
  const traces = Array.from({ length: maxTraces }, (_, index) =>
    createIterationTrace({ iterationId: `it_${index}`, messages }),
  );
  return { ...collector.collect(), traces };
}

describe('a report on 100,000 failures', () => {
  const results = failEverything();
  const judged = assessSuite(results, { policy: createPolicy(atLeast(0.9, 'default')) });
  const { verdict } = judged;
  const report = buildReport({ ...createReport(), suites: [{ results, ...judged }], verdict });

  it('has exact counts and a few failures of each case', () => {
    expect(report.totals).toEqual({ cases: 1000, iterations: 100_000, passed: 0, failed: 100_000, passRate: 0 });
    expect(report.verdict.reasons[0]?.message).toBe(
      '0 of 100000 iterations passed (0%), the minimum is 90% (the default)',
    );
    expect(report.cases.flatMap(({ failures }) => failures)).toHaveLength(maxFailuresPerSuite);
  });

  it('keeps every sink within its bounds', () => {
    const summary = renderSummary(report);
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(900 * 1024);
    const short = renderSummary(report, { maxBytes: 60_000 });
    expect(Buffer.byteLength(short)).toBeLessThanOrEqual(60_000);
    expect(short).toMatch(/\n\d+ more cases did not pass; the report lists them\.\n/);
    const comment = renderComment(report);
    expect(Buffer.byteLength(comment)).toBeLessThanOrEqual(60_000);
    expect(comment).toMatch(/\n950 more cases did not pass; the report lists them\.\n/);
    const annotations = planAnnotations(report);
    expect(annotations).toHaveLength(10);
    expect(annotations.at(-1)?.title).toBe('+992 more failed cases');
    const page = renderHtml(report, { evidence: createEvidence() });
    expect(Buffer.byteLength(page)).toBeLessThan(20 * 1024 * 1024);
    expect(readPage(page).report.totals).toEqual(report.totals);
    expect(readPage(page).report.cases.flatMap(({ failures }) => failures)).toHaveLength(maxFailuresPerSuite);
    expect(renderTerminal(report, { color: false }).split('\n').length).toBeLessThan(1000);
    expect(renderJunit(report)).toContain('tests="1000" failures="1000" errors="0"');
    expect(parseReport(JSON.parse(renderReportJson(report))).totals.failed).toBe(100_000);
  });

  it.each([20_000_000, 5_000_000, 1_000_000, 200_000])(
    'keeps a page within %i bytes and says what it left out',
    (maxBytes) => {
      const page = renderHtml(report, { evidence: createEvidence(), maxBytes });
      expect(Buffer.byteLength(page)).toBeLessThanOrEqual(maxBytes);
      const { report: shown, traces, leftOut } = readPage(page);
      expect(shown.totals).toEqual(report.totals);
      expect(shown.cases.length + leftOut.cases).toBe(1000);
      expect(shown.cases.flatMap(({ failures }) => failures).length + leftOut.failures).toBe(maxFailuresPerSuite);
      expect(traces.length + leftOut.traces).toBe(maxTraces);
    },
  );
});
