import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeTerminalText } from '../../../src/report/escape/terminal.ts';
import { hostileText } from '../../support/hostile-text.ts';
import { parseRunnerLine } from '../../support/runner-commands.ts';

describe('escapeTerminalText', () => {
  it.each([
    ['plain', 'plain'],
    ['\u001B]8;;https://evil.example\u0007click\u001B]8;;\u0007', 'click'],
    ['\u001B[2J\u001B[Hgone', 'gone'],
    ['\u001B\u001B[31m[2J', '[2J'],
    ['pass\b\b\b\bfail', 'passfail'],
    ['access\u202E txt.exe', 'access txt.exe'],
    ['one\r\ntwo\tthree', 'one two three'],
    ['half \uD800 a pair', 'half \uFFFD a pair'],
  ])('writes %j as %j', (text, expected) => {
    expect(escapeTerminalText(text)).toBe(expected);
  });

  it('yields one line without controls or commands of the runner', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const escaped = escapeTerminalText(text);
        expect(escaped).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
        expect(parseRunnerLine(escaped)).toBeNull();
      }),
      { numRuns: 5000 },
    );
  });

  it.each(['\u001B', '\u001B[', '\u001B]8;;', ';a', '\r', '::', '##['])('is done with a megabyte of %j', (piece) => {
    expect(escapeTerminalText(`\u001B[${piece.repeat(1_000_000 / piece.length)}`).length).toBeLessThan(3_000_000);
  });
});
