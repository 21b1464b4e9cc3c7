import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeTableCell, renderCodeSpan, renderLink, renderProse } from '../../../src/report/escape/markdown.ts';
import { flattenText } from '../../../src/report/escape/plain.ts';
import { hostileText } from '../../support/text/hostile-text.ts';
import { listActiveNodes, listMarkdownNodes, readMarkdownText } from '../../support/text/markdown-tree.ts';
import { countDraws } from '../../support/property-runs.ts';

const numRuns = countDraws(2000);

describe('renderProse', () => {
  it.each([
    ['7 of 9 iterations passed (77.7%), the minimum is 90%', '7 of 9 iterations passed (77.7%), the minimum is 90%'],
    ['the minimum is 90% (from evals/x.evals.yaml:4)', 'the minimum is 90% (from `evals/x.evals.yaml:4`)'],
    ['The required case "Adds **two**" failed.', 'The required case "Adds `**two**`" failed.'],
    ['connect ECONNREFUSED 127.0.0.1:3000', 'connect ECONNREFUSED `127.0.0.1:3000`'],
    ['ping @octocat about #12, GH-7 or www.evil.example', 'ping `@octocat` about `#12, GH-7` or `www.evil.example`'],
    ['run `mcp-eval-ci surface --update`; see "`a b`".', 'run `mcp-eval-ci surface --update`; see "`a b`".'],
    [
      'in evals/surface.json: tool.a_b.added, tool.b_c.added',
      'in `evals/surface.json`: `tool.a_b.added, tool.b_c.added`',
    ],
    ['a lone ` and `` two', 'a lone `` ` `` and ``` `` ``` two'],
    ['`@octocat` and `<b>`', '`@octocat` and `<b>`'],
    ['fixed in deadbeef', 'fixed in `deadbeef`'],
    ['1. first <b>bold move</b>', '`1`. first `<b>bold move</b>`'],
    ['Größe ändern — naïve', 'Größe ändern — naïve'],
  ])('writes %j as %j', (text, expected) => {
    expect(renderProse(text)).toBe(expected);
  });

  it('has nothing active in it and loses no character but white space and marks of code', () => {
    const squash = (text: string) => text.replaceAll(/[\s`]+/gu, '');
    fc.assert(
      fc.property(hostileText, (text) => {
        const markdown = `Why: ${renderProse(text)}`;
        expect(listActiveNodes(markdown)).toEqual([]);
        expect(squash(readMarkdownText(markdown))).toBe(squash(`Why:${flattenText(text)}`));
      }),
      { numRuns },
    );
  });
});

describe('renderCodeSpan', () => {
  it.each([
    ['a', '`a`'],
    ['`', '`` ` ``'],
    ['a ``b`` c', '```a ``b`` c```'],
    [' padded ', '`  padded  `'],
    ['two\nlines', '`two lines`'],
    ['', '` `'],
  ])('writes %j as %j', (text, expected) => {
    expect(renderCodeSpan(text)).toBe(expected);
  });

  it('is one code span of just that text', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const nodes = listMarkdownNodes(renderCodeSpan(text));
        expect(nodes.map(({ type }) => type)).toEqual(['root', 'paragraph', 'inlineCode']);
        expect(nodes.at(-1)).toMatchObject({ value: flattenText(text) || ' ' });
      }),
      { numRuns },
    );
  });

  it('keeps the spaces around a blank that is no space', () => {
    expect(listMarkdownNodes(renderCodeSpan(' \u00A0 ')).at(-1)).toMatchObject({ value: ' \u00A0 ' });
  });
});

const renderTableCode = (text: string) => escapeTableCell(renderCodeSpan(text));

describe('escapeTableCell of a code span', () => {
  it.each([
    ['a | b', '`a \\| b`'],
    ['a \\| b', '`a \\\\\\| b`'],
    ['C:\\temp', '`C:\\temp`'],
  ])('writes %j as %j', (text, expected) => {
    expect(renderTableCode(text)).toBe(expected);
  });

  it('stays within its cell', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const table = `| a | b |\n|---|---|\n| ${renderTableCode(text)} | end |`;
        const types = listMarkdownNodes(table).map(({ type }) => type);
        expect(types.filter((type) => type === 'tableRow')).toHaveLength(2);
        expect(types.filter((type) => type === 'tableCell')).toHaveLength(4);
        expect(listActiveNodes(table)).toEqual([]);
        expect(readMarkdownText(table).endsWith('end')).toBe(true);
      }),
      { numRuns },
    );
  });

  it('hides no pipe from a parser that takes every backslash before one for an escape', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(renderTableCode(text).replaceAll('\\|', '')).not.toContain('|');
      }),
      { numRuns },
    );
  });
});

describe('renderLink', () => {
  it('links to an address over https', () => {
    expect(renderLink('Full report', 'https://github.com/o/r/actions/runs/1?a=(b)')).toBe(
      '[Full report](<https://github.com/o/r/actions/runs/1?a=(b)>)',
    );
  });

  it.each(['javascript:alert(1)', 'http://github.com', 'not a url'])('shows only the label for %j', (url) => {
    expect(renderLink('Full report', url)).toBe('Full report');
  });
});
