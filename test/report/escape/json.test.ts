import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeJson } from '../../../src/report/escape/json.ts';
import { hostileText } from '../../support/text/hostile-text.ts';
import { parseRunnerLine } from '../../support/runner/runner-commands.ts';

describe('escapeJson', () => {
  it('writes what a terminal or the runner would obey as escapes', () => {
    expect(escapeJson(JSON.stringify({ a: '\u009B31m ##[error]x \u202E' }))).toBe(
      '{"a":"\\u009b31m #\\u0023[error]x \\u202e"}',
    );
  });

  it('keeps the value and leaves nothing to obey', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const value = { [text]: [text, { text }] };
        const json = escapeJson(JSON.stringify(value, null, 2));
        expect(JSON.stringify(JSON.parse(json))).toBe(JSON.stringify(value));
        expect(json.split('\n').filter((line) => parseRunnerLine(line) !== null)).toEqual([]);
        expect(json).not.toMatch(/(?!\n)[\p{Cc}\p{Cs}\p{Bidi_Control}]/u);
      }),
      { numRuns: 3000 },
    );
  });
});
