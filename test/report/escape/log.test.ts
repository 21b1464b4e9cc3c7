import * as fc from 'fast-check';
import { escapeLogLine, escapeTerminalText, splitLogLines } from '../../../src/report/escape/log.ts';
import { hostileText, hostileTexts } from '../../support/text/hostile-text.ts';
import { describe, expect, it } from 'vitest';
import { parseRunnerLine } from '../../support/runner/runner-commands.ts';
import { countDraws } from '../../support/property-runs.ts';

/** What the runner obeys in a piece of output; it ends a line at `\r\n`, `\n` or a bare `\r`. */
function listCommands(output: string): string[] {
  return output.split(/\r\n|\r|\n/).flatMap((line) => parseRunnerLine(line)?.command ?? []);
}

function escapeLog(text: string): string {
  return splitLogLines(text).map(escapeLogLine).join('\n');
}

describe('escapeLogLine', () => {
  it.each([
    ['::error::x', '\u200B::error::x'],
    ['  ::error::x', '  \u200B::error::x'],
    ['\u2028::error::x', ' \u200B::error::x'],
    ['a ##[error]x', 'a #\u200B#[error]x'],
    ['\u001B[31mred\u001B[0m', 'red'],
    ['C:\\temp\\a::b is fine', 'C:\\temp\\a::b is fine'],
    ['tests\t12', 'tests 12'],
    ['42 % done 👍', '42 % done 👍'],
  ])('writes %j as %j', (line, expected) => {
    expect(escapeLogLine(line)).toBe(expected);
  });

  it('leaves the runner nothing to obey, and the terminal nothing but text', () => {
    expect(hostileTexts.filter((text) => listCommands(text).length > 0).length).toBeGreaterThan(5);
    fc.assert(
      fc.property(hostileText, (text) => {
        const escaped = escapeLog(text);
        expect(listCommands(escaped)).toEqual([]);
        expect(escaped).not.toMatch(/(?!\n)[\p{Cc}\p{Cs}\p{Bidi_Control}]/u);
      }),
      { numRuns: countDraws(10_000) },
    );
  });

  it('stays inert when text follows it on the same line', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (first, second) => {
        expect(listCommands(`${escapeLogLine(first)}: ${escapeLogLine(second)}`)).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('splitLogLines', () => {
  it('ends lines where the runner does', () => {
    expect(splitLogLines('a\r\nb\rc\nd\u2028e')).toEqual(['a', 'b', 'c', 'd\u2028e']);
  });
});

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
