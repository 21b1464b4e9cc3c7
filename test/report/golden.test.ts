import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/model/report.ts';
import { planAnnotations } from '../../src/report/annotations.ts';
import { renderBadge } from '../../src/report/badge.ts';
import { renderComment } from '../../src/report/comment.ts';
import { renderCtrf } from '../../src/report/ctrf.ts';
import { pageScript, pageStyle } from '../../src/report/html/page-assets.ts';
import { renderHtml } from '../../src/report/html/page.ts';
import { renderReportJson } from '../../src/report/report-json.ts';
import { renderJunit } from '../../src/report/junit.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { createModelsReport } from '../support/factories/models-factory.ts';
import {
  createComparedReport,
  createFlakyReport,
  createGreenReport,
  createHostileReport,
  createInconclusiveReport,
  createPolicyReport,
  createRedReport,
  createStoppedReport,
} from '../support/factories/report-factory.ts';

const hostile = '::error::a\n@b #1 |`\\| </details><img src=x> [x](https://x.example) ##[error]]]> \u001B[31m\u202E';

const inWorkflow = {
  job: 'evals / test',
  run: { label: 'Run 12, attempt 1', url: 'https://github.com/your-org/your-server/actions/runs/41/attempts/1' },
  linkLine: ({ file, line }: { file: string; line: number }) =>
    `https://github.com/your-org/your-server/blob/1111111/${encodeURIComponent(file.toWellFormed())}#L${line}`,
};

/** Without what is the same in every page, and the hashes of that. */
function renderFrame(report: Report): string {
  return renderHtml(report)
    .replace(pageScript, '…')
    .replace(pageStyle, '…')
    .replaceAll(/sha256-[\w+/=]+/g, 'sha256-…');
}

/** Reports that have a page among the golden files; test/report/html/page.test.ts asserts what the others add to a page. */
const pages: ReadonlySet<string> = new Set(['green', 'compared', 'inconclusive', 'models']);

describe('every format, as a reader sees it', () => {
  it.each([
    ['green', createGreenReport()],
    ['red', createRedReport()],
    ['compared', createComparedReport()],
    ['inconclusive', createInconclusiveReport()],
    ['policy', createPolicyReport()],
    ['flaky-fail', createFlakyReport('fail')],
    ['flaky-pass', createFlakyReport('pass')],
    ['flaky-report', createFlakyReport('report')],
    ['stopped', createStoppedReport()],
    ['models', createModelsReport()],
    ['hostile', createHostileReport(hostile)],
  ])('renders the %s report', async (name, report) => {
    const golden = (extension: string) => `../golden/${name}.${extension}`;
    await expect(renderSummary(report)).toMatchFileSnapshot(golden('md'));
    await expect(renderComment(report, inWorkflow)).toMatchFileSnapshot(golden('comment.md'));
    await expect(renderJunit(report)).toMatchFileSnapshot(golden('xml'));
    await expect(renderTerminal(report, { color: false, columns: 100 })).toMatchFileSnapshot(golden('txt'));
    await expect(renderReportJson(report)).toMatchFileSnapshot(golden('json'));
    if (pages.has(name)) await expect(renderFrame(report)).toMatchFileSnapshot(golden('html'));
    await expect(renderCtrf(report)).toMatchFileSnapshot(golden('ctrf.json'));
    await expect(renderBadge(report)).toMatchFileSnapshot(golden('svg'));
    await expect(`${JSON.stringify(planAnnotations(report), null, 2)}\n`).toMatchFileSnapshot(
      golden('annotations.json'),
    );
  });
});
