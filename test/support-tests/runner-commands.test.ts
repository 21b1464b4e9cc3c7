import { describe, expect, it } from 'vitest';
import { createCommandReader, parseRunnerLine } from '../support/runner/runner-commands.ts';

describe('parseRunnerLine', () => {
  it('reads name, properties and data, with their escapes undone', () => {
    expect(parseRunnerLine('::error file=a%2Cb.ts,line=3,title=One%3A two::first%0Asecond 100%25')).toEqual({
      command: 'error',
      properties: { file: 'a,b.ts', line: '3', title: 'One: two' },
      data: 'first\nsecond 100%',
    });
  });

  it('reads the bracket form anywhere in a line', () => {
    expect(parseRunnerLine('said: ##[warning file=x;line=2]look%5D')).toEqual({
      command: 'warning',
      properties: { file: 'x', line: '2' },
      data: 'look]',
    });
  });

  it.each(['  ::notice::x', '\u00a0::notice::x', '\u2028::notice::x', '\u0085::notice::x', '::NOTICE::x'])(
    'recognises %j',
    (line) => {
      expect(parseRunnerLine(line)).toEqual({ command: 'notice', properties: {}, data: 'x' });
    },
  );

  it('recognises a command whose second separator holds a zero-width space', () => {
    expect(parseRunnerLine('::notice:\u200b:x')?.command).toBe('notice');
  });

  it.each([
    'text ::notice::x',
    '::notice:x',
    '::unknown::x',
    ':: notice::x',
    '\u200b::notice::x',
    '#\u200b#[notice]x',
    '##[notice x',
    '',
  ])('leaves %j as output', (line) => {
    expect(parseRunnerLine(line)).toBeNull();
  });

  it('drops properties without a name or a value', () => {
    expect(parseRunnerLine('::notice file=,=b,line=4::x')?.properties).toEqual({ line: '4' });
  });
});

describe('createCommandReader', () => {
  it('ignores every command between stop-commands and its token', () => {
    const reader = createCommandReader();
    const lines = ['::stop-commands::a1b2c3d4', '::error::x', '##[error]x', '::wrong::', '::A1B2C3D4::', '::error::x'];
    expect(lines.map((line) => reader.readLine(line).kind)).toEqual([
      'stop',
      'output',
      'output',
      'output',
      'resume',
      'command',
    ]);
  });

  it.each(['', 'warning', 'Pause-Logging'])('refuses %j as a token', (token) => {
    expect(() => createCommandReader().readLine(`::stop-commands::${token}`)).toThrow('The runner refuses');
  });
});
