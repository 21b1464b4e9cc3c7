import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareValues, toDifference } from '../../src/base/difference.ts';
import { compareSurfaceTexts } from '../../src/report/differences.ts';
import { renderComment } from '../../src/report/comment.ts';
import { renderHtml } from '../../src/report/html/page.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { renderTerminal } from '../../src/report/terminal.ts';
import { hostileText } from '../support/text/hostile-text.ts';
import { createReport } from '../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../support/factories/results-factory.ts';
import { parseRunnerLine } from '../support/runner/runner-commands.ts';

const difference = (expected: unknown, actual: unknown) =>
  toDifference('the result of add', compareValues(expected, actual));

function createDiffering(differences: Array<ReturnType<typeof difference>>, count = 1) {
  const cases = Array.from({ length: count }, (_, index) =>
    createCaseResults({
      id: `c${index}`,
      title: `Adds ${index}`,
      failed: 1,
      failures: [createFailure({ reasons: ['It differs.'], differences, expectedToolCalls: [], actualToolCalls: [] })],
    }),
  );
  return createReport({ suites: [createSuiteResults({ cases })] });
}

const where = { job: 'x', run: null, linkLine: () => null };

describe('compareSurfaceTexts', () => {
  it('has old and new in full, with the words that differ, where a result would be cut', () => {
    const before = `${'Lists the notes of a user. '.repeat(60)}Asks no one.`;
    const after = before.replace('Asks no one', 'Asks the user');
    const change = { message: 'The description changed', before, after };
    expect(compareSurfaceTexts(change)?.lines.map(({ text }) => text)).toEqual([before, after]);
    expect(difference(before, after).lines.every(({ text }) => text.length < 220)).toBe(true);
    const lines = Array.from({ length: 300 }, (_, index) => `Line ${index}`).join('\n');
    expect(compareSurfaceTexts({ ...change, before: null, after: lines })?.lines).toHaveLength(300);
    const endless = 'x\n'.repeat(100_000);
    expect(compareSurfaceTexts({ ...change, before: null, after: endless })?.lines.length).toBeLessThan(500);
  });
});

describe('a difference in reports', () => {
  const report = createDiffering([difference({ sum: { a: 1, total: 5 } }, { sum: { a: 1, total: 6 } })]);

  it('has a line for each side in the terminal, coloured where colours work', () => {
    const lines = renderTerminal(report, { color: false, columns: 80 }).split('\n');
    const start = lines.findIndex((line) => line.includes('the result of add (- expected, + actual):'));
    expect(lines.slice(start + 1, start + 7)).toEqual([
      '          {',
      '            "sum": {',
      '              "a": 1,',
      '        @ /sum/total',
      '        -     "total": 5',
      '        +     "total": 6',
    ]);
    const colored = renderTerminal(report, { color: true, columns: 80 });
    expect(colored).toContain('\u001B[31m-');
    expect(colored).toContain('\u001B[31m\u001B[7m5');
  });

  it('underlines the words that differ in a long line without colours', () => {
    const text = createDiffering([difference('The sum of both numbers is five.', 'The sum of both numbers is six.')]);
    const lines = renderTerminal(text, { color: false, columns: 80 }).split('\n');
    const at = lines.findIndex((line) => line.includes('- The sum'));
    expect(lines[at + 1]?.indexOf('^')).toBe(lines[at]?.indexOf('five'));
    expect(lines.slice(at, at + 4).filter((line) => line.length > 80)).toEqual([]);
  });

  it('is a block of the language diff in the job summary, and short in the comment', () => {
    expect(renderSummary(report)).toContain(
      [
        '```diff',
        '  {',
        '    "sum": {',
        '      "a": 1,',
        '@@ /sum/total @@',
        '-     "total": 5',
        '+     "total": 6',
      ].join('\n'),
    );
    expect(renderComment(report, where)).toContain('`- "total": 5`<br>\n  `+ "total": 6`');
  });

  it('lets no value out of its block, and prints nothing that a terminal or the runner obeys', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (expected, actual) => {
        const hostile = createDiffering([difference(`${expected}\n\`\`\`\n`, actual)]);
        for (const color of [false, true]) {
          const output = renderTerminal(hostile, { color, columns: 80 });
          expect(stripVTControlCharacters(output)).not.toMatch(/(?!\n)[\p{Cc}\p{Cs}\p{Bidi_Control}]/u);
          expect(output.split('\n').filter((line) => parseRunnerLine(line) !== null)).toEqual([]);
        }
        const summary = renderSummary(hostile);
        const fence = /^(`{4,})diff$/m.exec(summary)?.[1] ?? '';
        expect(summary.split('\n').filter((line) => line === fence)).toHaveLength(fence === '' ? 0 : 1);
      }),
      { numRuns: 200 },
    );
    expect(renderHtml(createDiffering([difference('<img src=x onerror=alert(1)>', '</script><b>')]))).not.toMatch(
      /<img|<\/script><b>/,
    );
  });

  it('keeps sizes where everything fails', () => {
    const lines = Array.from({ length: 400 }, (_, index) => `${index} ${'x'.repeat(100)}`);
    const big = difference(lines.join('\n'), lines.map((line) => `${line}!`).join('\n'));
    const many = createDiffering([big, big], 1000);
    expect(Buffer.byteLength(renderSummary(many))).toBeLessThan(1_000_000);
    expect(Buffer.byteLength(renderComment(many, where))).toBeLessThan(65_536);
    expect(renderTerminal(many, { color: false }).length).toBeLessThan(500_000);
  });
});
