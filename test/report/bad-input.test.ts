import { expect, it } from 'vitest';
import { compareLines, compareValues, listTextLines, toDifference } from '../../src/base/difference.ts';
import type { Report } from '../../src/model/report.ts';
import { isInWorkspace, planAnnotations } from '../../src/report/annotations.ts';
import { renderComment } from '../../src/report/comment.ts';
import { renderHtml } from '../../src/report/html/page.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { createReport } from '../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../support/factories/results-factory.ts';
import { readPageText } from '../support/text/html-tree.ts';
import { listActiveNodes } from '../support/text/markdown-tree.ts';

const hostile = '\u202E<img src=x onerror=alert(1)> ![x](https://evil.example/x.png) ::error::x';
const forged = ['../../etc/passwd', '/etc/passwd', 'a/../../b.js', 'C:\\b.js', '..\\b.js', 'a\n::error::b'];

/** Two texts and two objects of 5 MB that differ at their ends. */
function compareHuge() {
  const lines = Array.from({ length: 50_000 }, (_, index) => `${index} ${'x'.repeat(95)}`);
  const texts = ['before', hostile].map((end) => listTextLines([...lines, end].join('\n')));
  const [before = [], after = []] = texts;
  const object = (end: string) => ({ rows: lines.map((text, id) => ({ id, text: id === 49_999 ? end : text })) });
  return [
    toDifference('the result of <b>search</b>', compareLines(before, after)),
    toDifference('the result of list', compareValues(object('before'), object(hostile))),
    toDifference('the result of one line', compareValues('y'.repeat(5e6), `${'y'.repeat(5e6)}${hostile}`)),
  ];
}

function createReportOn(cases: number): Report {
  const differences = compareHuge();
  const results = Array.from({ length: cases }, (_, index) =>
    createCaseResults({
      id: `case-${index}`,
      title: `${hostile} ${index}`,
      location: { file: forged[index % forged.length] ?? '', line: 1, column: 1 },
      passed: 0,
      failed: 1,
      failures: [
        createFailure({
          reasons: [`the result differs ${hostile} ${'z'.repeat(2000)}`],
          source: { file: forged[(index + 1) % forged.length] ?? '', line: 3, first: 1, code: [hostile] },
          ...(index < 3 && { differences }),
        }),
      ],
    }),
  );
  return createReport({ suites: [createSuiteResults({ cases: results })] });
}

it.each([3, 10_000])(
  'keeps all sizes, runs nothing and annotates no foreign file, for %i failures and 5 MB',
  (cases) => {
    const report = createReportOn(cases);
    const [comment, summary, page] = [renderComment(report), renderSummary(report), renderHtml(report)];
    expect(Buffer.byteLength(comment)).toBeLessThan(65_536);
    expect(Buffer.byteLength(summary)).toBeLessThan(1024 * 1024);
    expect(Buffer.byteLength(page)).toBeLessThan(20 * 1024 * 1024);
    expect(comment.split('<details>')[0]).toContain('0 of 1 passed');
    for (const markdown of [comment, summary]) {
      expect(listActiveNodes(markdown)).toEqual([]);
      expect(markdown).not.toContain('\u202E');
    }
    // A browser reads the data up to the first end tag, and nothing in it as markup.
    const [, data = '', rest = ''] = /id="data">([^]*?)<\/script>([^]*)$/.exec(page) ?? [];
    expect(JSON.parse(readPageText(data))).toHaveProperty('report');
    expect(page.replace(data, '').match(/<img/g)).toBeNull();
    expect(rest.match(/<script/g)).toHaveLength(1);
    const log = renderTerminal(report, { color: false, columns: 80 });
    expect(log.split('\n').length).toBeLessThan(2000);
    expect(log.split('\n').filter((line) => line.startsWith('::') || line.includes('\u202E'))).toEqual([]);
    expect(planAnnotations(report).flatMap(({ file }) => file ?? [])).toEqual([]);
    expect(forged.filter(isInWorkspace)).toEqual([]);
  },
);
