import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeLogLine, splitLogLines } from '../../../src/report/escape/log.ts';
import { hostileText, hostileTexts } from '../../support/hostile-text.ts';
import { parseRunnerLine } from '../../support/runner-commands.ts';

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
      { numRuns: 10_000 },
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
