import { describe, expect, it } from 'vitest';
import type { IterationMark } from '../../src/model/evidence.ts';
import { createIterationMarks } from '../../src/report/iteration-marks.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { atLeast, createPolicy } from '../support/factories/policy-factory.ts';
import { createReport } from '../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../support/factories/results-factory.ts';

const report = createReport({
  policy: createPolicy(atLeast(1)),
  suites: [
    createSuiteResults({
      cases: [createCaseResults({ passed: 1, failed: 2, failures: [createFailure()] }), createCaseResults({ id: 'b' })],
    }),
  ],
});
const [member] = report.cases;

function mark(outcomes: ReadonlyArray<IterationMark['outcome']>, fields: Partial<IterationMark> = {}) {
  return outcomes.map((outcome, index) => ({
    suiteId: 'math',
    caseId: 'adds',
    iterationId: `it_${index}`,
    iterationNumber: outcomes.length - index,
    outcome,
    durationMs: null,
    isReplayed: null,
    ...fields,
  }));
}

const draw = (iterations: IterationMark[]) =>
  member === undefined ? undefined : createIterationMarks(iterations)(member);

describe('the marks of iterations', () => {
  it('are in the order of their numbers', () => {
    expect(draw(mark(['failed', 'failed', 'passed']))).toBe('✓✗✗');
    expect(draw(mark(['unscored', 'failed', 'passed']))).toBe('✓✗·');
  });

  it('are left out where some are not known, or are another case’s', () => {
    expect(draw(mark(['failed', 'passed']))).toBeNull();
    expect(draw(mark(['failed', 'failed', 'passed'], { caseId: 'b' }))).toBeNull();
    expect(draw([])).toBeNull();
  });

  it('are left out where there would be too many of them', () => {
    const results = createSuiteResults({ cases: [createCaseResults({ passed: 21 })] });
    const [many] = createReport({ suites: [results] }).cases;
    const iterations = mark(Array.from({ length: 21 }, () => 'passed' as const));
    expect(many === undefined ? undefined : createIterationMarks(iterations)(many)).toBeNull();
  });
});

describe('the job summary', () => {
  it('shows them next to the counts, and links the location of what failed', () => {
    const linkLine = ({ file, line }: { file: string; line: number }) => `https://example.test/${file}#L${line}`;
    const summary = renderSummary(report, { iterations: mark(['failed', 'failed', 'passed']), linkLine });
    expect(summary).toContain('| ❌ | `Adds two numbers` | 1 of 3 ✓✗✗ |');
    expect(summary).toContain('[`evals/math.evals.yaml:7`](<https://example.test/evals/math.evals.yaml#L7>)');
  });

  it('shows counts and locations without marks and links', () => {
    const summary = renderSummary(report);
    expect(summary).toContain('| ❌ | `Adds two numbers` | 1 of 3 |');
    expect(summary).toContain('`evals/math.evals.yaml:7` · 1 of 3 passed');
  });
});
