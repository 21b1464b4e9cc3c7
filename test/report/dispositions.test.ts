import { describe, expect, it } from 'vitest';
import { decideDisposition, type Disposition } from '../../src/model/disposition.ts';
import type { CaseReport } from '../../src/model/case-report.ts';
import type { Report } from '../../src/model/report.ts';
import { planAnnotations } from '../../src/report/annotations.ts';
import { renderCtrf } from '../../src/report/ctrf.ts';
import { renderJunit } from '../../src/report/junit.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { listCases } from '../../page/filter.ts';
import { createRedReport } from '../support/factories/report-factory.ts';
import { createQuarantineEntry } from '../support/factories/policy-factory.ts';

const title = 'The case in question';

/** How every format shows a disposition. */
const expectations: Record<Disposition, { ctrf: string; junit: string; mark: string; group: string; level: boolean }> =
  {
    passed: { ctrf: 'passed', junit: 'none or flakyFailure', mark: '✓ or !', group: 'passed', level: false },
    failed: { ctrf: 'failed', junit: 'failure', mark: '✗', group: 'failed', level: true },
    tolerated: { ctrf: 'passed', junit: 'system-out', mark: '!', group: 'tolerated', level: false },
    excluded: { ctrf: 'skipped', junit: 'skipped', mark: '!', group: 'set-aside', level: false },
    unscored: { ctrf: 'other', junit: 'error', mark: '!', group: 'inconclusive', level: false },
  };

type Counts = Pick<CaseReport, 'outcome' | 'passed' | 'failed' | 'total'>;

const counts: Record<'passed' | 'failed' | 'unscored', Counts> = {
  passed: { outcome: 'passed', passed: 2, failed: 0, total: 2 },
  failed: { outcome: 'failed', passed: 1, failed: 1, total: 2 },
  unscored: { outcome: 'inconclusive', passed: 0, failed: 0, total: 0 },
};

interface Combination {
  required: boolean;
  isQuarantined: boolean;
  isOnProbation: boolean;
  flaky: 'fail' | 'pass' | 'report' | null;
  result: keyof typeof counts;
  suite: 'passed' | 'failed';
}

const both = [false, true];
const combinations: Combination[] = both.flatMap((required) =>
  both.flatMap((isQuarantined) =>
    both.flatMap((isOnProbation) =>
      ([null, 'fail', 'pass', 'report'] as const).flatMap((flaky) =>
        (['passed', 'failed', 'unscored'] as const).flatMap((result) =>
          (['passed', 'failed'] as const).flatMap((suite) =>
            // A case is flaky when it failed at first, and a failing case that is required fails its suite.
            flaky !== null && result !== 'failed'
              ? []
              : [{ required, isQuarantined, isOnProbation, flaky, result, suite }],
          ),
        ),
      ),
    ),
  ),
);

/** A report with that case alone. */
function buildReportOf(combination: Combination): Report {
  const report = createRedReport();
  const template = report.cases.find(({ failures }) => failures.length > 0);
  const [suite] = report.suites;
  if (template === undefined || suite === undefined) throw new Error('The red report has no failing case.');
  const { case: _, ...quarantine } = createQuarantineEntry();
  const { flaky, required, isQuarantined, isOnProbation, result } = combination;
  const own: Omit<CaseReport, 'disposition'> = {
    ...template,
    ...counts[result],
    failures: result === 'passed' ? [] : template.failures,
    id: 'case',
    title,
    planned: 2,
    required,
    quarantine: isQuarantined ? quarantine : null,
    probation: isOnProbation ? { passedGates: 1, neededGates: 3 } : null,
    flaky: flaky === null ? null : { effect: flaky, source: 'policy.yaml:1' },
  };
  const verdict = { ...suite.verdict, outcome: combination.suite };
  const disposition = decideDisposition(own, combination.suite);
  return {
    ...report,
    verdict,
    suites: [{ ...suite, id: own.suiteId, verdict }],
    cases: [{ ...own, disposition }],
  };
}

function readJunit(report: Report): string {
  const xml = renderJunit(report);
  const start = xml.indexOf(`<testcase name="${title}"`);
  const element = /^<testcase [^>]*?(?:\/>|>\s*<([\w-]+))/.exec(xml.slice(start));
  return element?.[1] ?? 'none';
}

function readCtrf(report: Report): string {
  const { results } = JSON.parse(renderCtrf(report)) as { results: { tests: Array<{ name: string; status: string }> } };
  return results.tests.find(({ name }) => name === title)?.status ?? 'absent';
}

const readMark = (text: string) => new RegExp(`(\\S+) [|#\`\\s]*${title}`).exec(text)?.[1];
const summaryMarks: Record<string, string> = { '✅': '✓', '❌': '✗', '⚠️': '!' };

describe.each(combinations)(
  'a case ($result, required: $required, quarantine: $isQuarantined, probation: $isOnProbation, flaky: $flaky, suite: $suite)',
  (combination) => {
    const report = buildReportOf(combination);
    const [{ disposition } = { disposition: 'failed' as const }] = report.cases;
    const expected = expectations[disposition];

    it('counts in one way in every format', () => {
      expect(readCtrf(report)).toBe(expected.ctrf);
      expect(expected.junit).toContain(readJunit(report));
      const mark = readMark(renderTerminal(report, { color: false }));
      expect(expected.mark).toContain(mark);
      const inSummary = readMark(renderSummary(report, { iterations: [] }));
      if (inSummary !== undefined) expect(summaryMarks[inSummary]).toBe(mark);
      expect(listCases(report).map(({ group }) => group)).toEqual([expected.group]);
      const annotations = planAnnotations(report, { fileExists: () => true });
      expect(annotations.some((annotation) => annotation.title.startsWith(title))).toBe(expected.level);
    });
  },
);

describe('decideDisposition', () => {
  it.each([
    [{ result: 'passed', isQuarantined: true }, 'passed'],
    [{ result: 'passed', isOnProbation: true }, 'passed'],
    [{ result: 'failed' }, 'failed'],
    [{ result: 'failed', required: true }, 'failed'],
    [{ result: 'failed', suite: 'passed' }, 'tolerated'],
    [{ result: 'failed', flaky: 'fail' }, 'failed'],
    [{ result: 'failed', flaky: 'pass' }, 'passed'],
    [{ result: 'failed', flaky: 'report' }, 'excluded'],
    [{ result: 'failed', isOnProbation: true }, 'excluded'],
    [{ result: 'failed', isQuarantined: true, required: true }, 'excluded'],
    [{ result: 'failed', isQuarantined: true, flaky: 'pass' }, 'excluded'],
    [{ result: 'unscored' }, 'unscored'],
    [{ result: 'unscored', isQuarantined: true }, 'excluded'],
  ] as const)('of %j is %s', (fields, disposition) => {
    const plain: Combination = {
      required: false,
      isQuarantined: false,
      isOnProbation: false,
      flaky: null,
      result: 'failed',
      suite: 'failed',
    };
    expect(buildReportOf({ ...plain, ...fields }).cases[0]?.disposition).toBe(disposition);
  });
});
