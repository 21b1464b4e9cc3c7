import { describe, expect, it } from 'vitest';
import { parseKeyValues } from '../support/runner/file-commands.ts';

describe('parseKeyValues', () => {
  it('reads lines and blocks, the later value of a name winning', () => {
    const text = ['a=1', '', 'b<<END', 'two', '', 'lines=x', 'END', 'c=x<<y', 'a=3', 'empty<<END', 'END', ''].join(
      '\n',
    );
    expect(parseKeyValues(text)).toEqual({ a: '3', b: 'two\n\nlines=x', c: 'x<<y', empty: '' });
  });

  it.each(['no separator\n', '<<END\nx\nEND\n', 'a<<\nx\n', 'a<<END\nx\n'])('refuses %j', (text) => {
    expect(() => parseKeyValues(text)).toThrow(/Invalid/);
  });
});
