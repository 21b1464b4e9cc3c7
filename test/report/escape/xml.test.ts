import { DOMParser, onErrorStopParsing } from '@xmldom/xmldom';
import * as fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { escapeXmlAttribute, escapeXmlText } from '../../../src/report/escape/xml.ts';
import { hostileText } from '../../support/text/hostile-text.ts';

/** The text and the attribute that each of two strict parsers reads back. */
function parseBoth(xml: string): Array<{ text: string; attribute: string }> {
  const strict = { text: '', attribute: '' };
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ attributes }) => (strict.attribute = String(attributes['b'])));
  parser.on('text', (text) => (strict.text += text));
  parser.write(xml).close();
  const root = new DOMParser({ onError: onErrorStopParsing }).parseFromString(xml, 'text/xml').documentElement;
  return [strict, { text: root?.textContent ?? '', attribute: root?.getAttribute('b') ?? '' }];
}

describe('escapeXmlText and escapeXmlAttribute', () => {
  it.each([
    ['a < b & c > d', 'a &lt; b &amp; c &gt; d', 'a &lt; b &amp; c &gt; d'],
    [']]>', ']]&gt;', ']]&gt;'],
    ['"x"', '"x"', '&quot;x&quot;'],
    ['a\r\n\tb', 'a&#13;\n\tb', 'a&#13;&#10;&#9;b'],
    ['\u0000\u001B\uFFFE\uD800', '\uFFFD\uFFFD\uFFFD\uFFFD', '\uFFFD\uFFFD\uFFFD\uFFFD'],
    ['𝔘', '𝔘', '𝔘'],
  ])('write %j', (value, text, attribute) => {
    expect([escapeXmlText(value), escapeXmlAttribute(value)]).toEqual([text, attribute]);
  });

  it('are read back by strict parsers as they were, but for what XML cannot hold', () => {
    const illegal = /(?![\t\n\r])[\u0000-\u001F]|\uFFFE|\uFFFF|\p{Cs}/gu; // oxlint-disable-line no-control-regex
    fc.assert(
      fc.property(hostileText, (value) => {
        const expected = value.replaceAll(illegal, '\uFFFD');
        const xml = `<a b="${escapeXmlAttribute(value)}">${escapeXmlText(value)}</a>`;
        for (const read of parseBoth(xml)) expect(read).toEqual({ text: expected, attribute: expected });
      }),
      { numRuns: 5000 },
    );
  });
});
