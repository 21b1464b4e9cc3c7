import * as fc from 'fast-check';
import { parseFragment } from 'parse5';
import { describe, expect, it } from 'vitest';
import { escapeHtml, escapeScriptJson } from '../../../src/report/escape/html.ts';
import { hostileText } from '../../support/text/hostile-text.ts';
import { countDraws } from '../../support/property-runs.ts';

/** What HTML cannot hold as text, or takes for something else. */
const illegal = /\p{Noncharacter_Code_Point}|(?![\t\n])\p{Cc}|\p{Cs}/gu;

describe('escapeHtml', () => {
  it.each([
    ['<b>&amp;</b>', '&lt;b&gt;&amp;amp;&lt;/b&gt;'],
    [`"x" 'y'`, '&quot;x&quot; &#39;y&#39;'],
    ['a\u0000\u001B\uFFFE\uD800\r', 'a\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD'],
    ['a\n\tb 𝔘', 'a\n\tb 𝔘'],
  ])('writes %j', (text, html) => {
    expect(escapeHtml(text)).toBe(html);
  });

  it('is read back as one element with that text, of thousands of hostile ones', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const expected = text.replaceAll(illegal, '\uFFFD');
        const { childNodes } = parseFragment(`<p title="${escapeHtml(text)}">${escapeHtml(text)}</p>`);
        expect(childNodes).toHaveLength(1);
        const [p] = childNodes;
        if (p === undefined || !('tagName' in p)) throw new Error('There is no element.');
        expect([p.tagName, p.attrs]).toEqual(['p', [{ name: 'title', value: expected }]]);
        expect(p.childNodes.map((node) => ('value' in node ? node.value : node.nodeName)).join('')).toBe(expected);
      }),
      { numRuns: countDraws(10_000) },
    );
  });
});

describe('escapeScriptJson', () => {
  it('leaves nothing that ends or begins an element, nor a line of old scripts', () => {
    const json = escapeScriptJson(JSON.stringify(['</script><!--<script>', 'a & b', '\u2028\u2029']));
    expect(json).toBe('["\\u003c/script\\u003e\\u003c!--\\u003cscript\\u003e","a \\u0026 b","\\u2028\\u2029"]');
  });

  it('means the same and stays inside its element, of thousands of hostile texts', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const value = { [text]: text };
        const json = escapeScriptJson(JSON.stringify(value));
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
        const { childNodes } = parseFragment(`<script type="application/json">${json}</script>`);
        expect(childNodes).toHaveLength(1);
        const [script] = childNodes;
        if (script === undefined || !('childNodes' in script)) throw new Error('There is no element.');
        expect(script.childNodes.map((node) => ('value' in node ? node.value : ''))).toEqual([json.toWellFormed()]);
      }),
      { numRuns: countDraws(10_000) },
    );
  });
});
