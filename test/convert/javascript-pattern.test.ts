import * as fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { translatePattern } from '../../src/convert/javascript-pattern.ts';

describe('translatePattern', () => {
  it.each([
    '(?=a)',
    '(?<!a)b',
    String.raw`(a)\1`,
    String.raw`\u0041`,
    '[]',
    '[^]',
    String.raw`[\S]`,
    '[a',
    '😀',
    String.raw`\cA`,
  ])('has no counterpart of %s', (source) => {
    expect(translatePattern(source)).toBeNull();
  });

  it('matches what JavaScript matches', () => {
    const part = fc.constantFrom(
      ...String.raw`a b . \s \S \d \w \b [a-c] [^a] [\s\d] [^\s] [[:a] (?:a|b) (a) (?<n>b) ^ $ \. \/ { } ] a{2} b{1,} a* b+? a?`.split(
        ' ',
      ),
      ' ',
    );
    const letter = fc.constantFrom(
      'a',
      'b',
      'c',
      '1',
      '.',
      '/',
      '{',
      '}',
      '[',
      ']',
      ':',
      ' ',
      '\n',
      '\r',
      '\u2028',
      '\u00A0',
      '\uFEFF',
      'é',
    );
    const outcomes = new Set<boolean>();
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 4 }),
        fc.array(letter, { maxLength: 6 }),
        (parts, letters) => {
          const source = parts.join('');
          const text = letters.join('');
          fc.pre(isPattern(source));
          const expected = new RegExp(source).test(text);
          outcomes.add(expected);
          const translated = translatePattern(source);
          expect(translated).not.toBeNull();
          expect([
            source,
            text,
            RE2JS.compile(translated ?? '')
              .matcher(text)
              .find(),
          ]).toEqual([source, text, expected]);
        },
      ),
      { numRuns: 3000 },
    );
    expect(outcomes).toEqual(new Set([true, false]));
  });
});

function isPattern(source: string): boolean {
  try {
    return new RegExp(source).source !== '';
  } catch {
    return false;
  }
}
