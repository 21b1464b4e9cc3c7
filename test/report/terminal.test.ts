import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderTerminal } from '../../src/report/terminal.ts';
import { hostileText, hostileTexts } from '../support/text/hostile-text.ts';
import { createPageReport } from '../support/factories/page-factory.ts';
import { createHostileReport, createRedReport, createReport } from '../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../support/factories/results-factory.ts';
import { parseRunnerLine } from '../support/runner/runner-commands.ts';

describe('renderTerminal', () => {
  it('colours the same text', () => {
    const colored = renderTerminal(createRedReport(), { color: true });
    expect(colored).toContain('\u001B[1m\u001B[31m✗ Failed');
    expect(stripVTControlCharacters(colored)).toBe(renderTerminal(createRedReport(), { color: false }));
  });

  it('shows three reasons with the verdict, and the others below it', () => {
    const text = renderTerminal(createPageReport(), { color: false, columns: 1000 });
    const [verdict = '', rest = ''] = text.split('and 2 more reasons, below.\n');
    expect(verdict.trim().split('\n')).toHaveLength(3);
    expect(rest.split('More reasons\n')[1]?.split('\n\n')[0]?.split('\n')).toHaveLength(2);
    expect(renderTerminal(createRedReport(), { color: false })).not.toContain('more reason');
  });

  it('renders the verdict with the totals apart from the rest, for a log that ends with them', () => {
    const [verdict = '', rest = ''] = (['verdict', 'rest'] as const).map((part) =>
      renderTerminal(createRedReport(), { color: false, part }),
    );
    expect(verdict).toMatch(/^✗ Failed: 7 of 11 iterations passed[^]*11 iterations of 3 cases, in/);
    expect(verdict).not.toContain('Iteration 1');
    expect(rest).toContain('Iteration 1');
    expect(rest).not.toContain('Failed: ');
  });

  it('wraps reasons at the terminal’s width', () => {
    const failures = [createFailure({ reasons: [Array(40).fill('word').join(' ')] })];
    const suite = createSuiteResults({ cases: [createCaseResults({ failed: 1, failures })] });
    const lines = renderTerminal(createReport({ suites: [suite] }), { color: false, columns: 60 }).split('\n');
    const words = lines.filter((line) => line.includes('word'));
    expect(words.map((line) => line.length)).toEqual([57, 59, 59, 59]);
  });

  it('keeps every line within 80 columns, but for the command that a person copies', () => {
    const failures = [createFailure({ reasons: [Array(40).fill('word').join(' ')] })];
    const words = (count: number) => Array(count).fill('title').join(' ');
    const cases = [5, 12, 30].map((count) =>
      createCaseResults({ id: `case-${count}`, title: words(count), failed: 1, failures }),
    );
    const suite = createSuiteResults({ name: words(20), cases });
    const lines = renderTerminal(createReport({ suites: [suite] }), { color: false, columns: 80 }).split('\n');
    expect(lines.filter((line) => line.length > 80 && !line.includes('Run it again'))).toEqual([]);
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}✗ title title title title title {2}3 of 4 passed /));
  });

  it('breaks the lines of a difference at the width, with the marks under the words that differ', () => {
    const text = `${'same '.repeat(20)}other 😀 ${'same '.repeat(20)}`;
    const pointer = `/${'deep/'.repeat(30)}`;
    const lines = [
      { side: 'expected' as const, text, pointer, marks: [[100, 108]] as Array<[number, number]> },
      { side: 'actual' as const, text: '😀'.repeat(60) },
    ];
    const failures = [createFailure({ differences: [{ what: 'the text', lines }] })];
    const suite = createSuiteResults({ cases: [createCaseResults({ failed: 1, failures })] });
    const draw = (color: boolean) =>
      renderTerminal(createReport({ suites: [suite] }), { color, columns: 80 }).split('\n');
    const drawn = draw(false);
    expect(drawn.filter((line) => line.length > 80 && !line.includes('Run it again'))).toEqual([]);
    const start = drawn.findIndex((line) => line.startsWith('        - same'));
    const join = (rows: readonly string[]) => rows.map((row) => row.slice(10).padEnd(70)).join('');
    const rows = drawn.slice(start, start + 6);
    expect(join(rows.filter((row) => !row.includes('^'))).startsWith(text.trimEnd())).toBe(true);
    // The rows of carets stand under the words.
    const [above = '', carets = ''] = rows.filter((row, index) => row.includes('^') || rows[index + 1]?.includes('^'));
    expect(above.slice(carets.indexOf('^'), carets.length)).toBe('other 😀');
    const at = drawn.findIndex((line) => line.startsWith('        @ /deep'));
    expect(
      drawn
        .slice(at, at + 3)
        .map((line) => line.slice(10))
        .join(''),
    ).toBe(pointer);
    // No character is cut in two.
    expect(drawn.join('\n')).toContain(`+ ${'😀'.repeat(35)}\n          ${'😀'.repeat(25)}`);
    expect(stripVTControlCharacters(draw(true).join('\n'))).toContain(`+ ${'😀'.repeat(35)}\n`);
  });

  it('counts passing cases when they are many, and failing ones beyond a screenful', () => {
    const cases = Array.from({ length: 200 }, (_, index) =>
      createCaseResults({ id: `case-${index}`, title: `Case ${index}`, failed: index % 2 }),
    );
    const lines = renderTerminal(createReport({ suites: [createSuiteResults({ cases })] }), { color: false }).split(
      '\n',
    );
    expect(lines.slice(-6, -1)).toEqual([
      '  75 more cases did not pass; the report lists them.',
      '  100 cases passed.',
      '',
      '700 iterations of 200 cases, in 12.3 s',
      'math 2.0.0 over stdio, MCP 2025-11-25, process per iteration',
    ]);
  });

  it('prints nothing that the terminal or the runner would obey', () => {
    const check = (text: string) => {
      const output = renderTerminal(createHostileReport(text), { color: false, columns: 80 });
      expect(output).not.toMatch(/(?!\n)[\p{Cc}\p{Cs}\p{Bidi_Control}]/u);
      expect(output.split('\n').filter((line) => parseRunnerLine(line) !== null)).toEqual([]);
    };
    for (const text of hostileTexts) check(text);
    fc.assert(fc.property(hostileText, check), { numRuns: 500 });
  });
});
