import { describe, expect, it } from 'vitest';
import { describeSince, parseRecord, renderRecord } from '../../../src/gate/publish/case-record.ts';
import type { Report } from '../../../src/model/report.ts';
import { createReport } from '../../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../../support/factories/results-factory.ts';
import { hostileTexts } from '../../support/text/hostile-text.ts';

const commit = 'abcdef1234567890abcdef1234567890abcdef12';

/** A report in which these cases fail and these pass. */
function reportOn(failed: readonly string[], passed: readonly string[], ofCommit: string | null = commit): Report {
  const cases = [
    ...failed.map((id) => createCaseResults({ id, passed: 0, failed: 1, failures: [createFailure()] })),
    ...passed.map((id) => createCaseResults({ id })),
  ];
  const report = createReport({ suites: [createSuiteResults({ cases })] });
  return { ...report, revision: { commit: ofCommit, branch: 'main' } };
}

const post = (report: Report) => `<!-- the marker -->\n${renderRecord(report)}\n### Failed`;

/** What the comment on the second report says of the first. */
function compare(first: Report, second: Report): string | null {
  const record = parseRecord(post(first));
  if (record === null) throw new Error('No record.');
  return describeSince(record, second);
}

describe('the record of a comment', () => {
  it('counts the cases that are fixed, new and still failing', () => {
    const next = '1'.repeat(40);
    expect(compare(reportOn(['a', 'b', 'c'], ['d']), reportOn(['c', 'd'], ['a', 'b'], next))).toBe(
      'Since commit abcdef1: 2 fixed, 1 new, 1 case still fails.',
    );
    expect(compare(reportOn(['a'], []), reportOn([], ['a'], next))).toBe('Since commit abcdef1: 1 fixed.');
  });

  it('calls a case that is gone neither fixed nor failing, and says nothing where nothing failed', () => {
    expect(compare(reportOn(['a'], ['b']), reportOn([], ['b']))).toBeNull();
    expect(compare(reportOn([], ['b']), reportOn([], ['b']))).toBeNull();
  });

  it('names a repeated run and an unknown commit', () => {
    expect(compare(reportOn(['a'], []), reportOn(['a'], []))).toBe('Since the last run: 1 case still fails.');
    expect(compare(reportOn(['a'], [], null), reportOn([], ['a']))).toBe('Since the last comment: 1 fixed.');
  });

  it('does not call a case new that had no result before', () => {
    const unscored = createCaseResults({ id: 'a', passed: 0, unscored: 1 });
    const before = createReport({ suites: [createSuiteResults({ cases: [unscored] })] });
    expect(compare(before, reportOn(['a'], []))).toBeNull();
  });

  it('is bounded, and absent where it would lack cases', () => {
    const ids = Array.from({ length: 501 }, (_, index) => `case-${index}`);
    expect(renderRecord(reportOn(ids.slice(1), []))?.length).toBeLessThan(6000);
    expect(parseRecord(post(reportOn(ids.slice(1), [])))?.failed).toHaveLength(500);
    expect(renderRecord(reportOn(ids, []))).toBeNull();
  });

  it('holds no foreign text, and is read only in the second line and in its own form', () => {
    for (const text of hostileTexts) expect(renderRecord(reportOn([text], []))).toMatch(/^<!-- [\w ,=-]+ -->$/);
    const line = renderRecord(reportOn(['a'], []));
    for (const body of [`${line}`, `x\ny\n${line}`, `x\n${line} y`, `x\n> ${line}`, 'x', '']) {
      expect(parseRecord(body)).toBeNull();
    }
  });
});
