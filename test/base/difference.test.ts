import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareRequirements,
  compareLines,
  compareValues,
  type DifferenceLine,
  listJsonLines,
} from '../../src/base/difference.ts';

const signs = { both: ' ', expected: '-', actual: '+', folded: '…' };
const show = (lines: readonly DifferenceLine[]) => lines.map(({ side, text }) => `${signs[side]} ${text}`);
const toLines = (texts: readonly string[]) => texts.map((text) => ({ text }));
const marked = ({ text, marks = [] }: DifferenceLine) => marks.map(([start, end]) => text.slice(start, end));

describe('compareValues', () => {
  it('shows which member differs, with its pointer, whatever the order of keys', () => {
    const lines = compareValues({ b: [1, { c: 'x' }], a: 1 }, { a: 1, b: [1, { c: 'y' }] });
    expect(show(lines)).toContain('-       "c": "x"');
    expect(show(lines)).toContain('+       "c": "y"');
    expect(lines.find(({ side }) => side === 'expected')?.pointer).toBe('/b/1/c');
    expect(compareValues({ b: 1, a: 2 }, { a: 2, b: 1 })).toEqual([]);
  });

  it('takes no comma for a difference', () => {
    expect(show(compareValues({ a: 1 }, { a: 1, b: 2 }))).toEqual(['  {', '    "a": 1,', '+   "b": 2', '  }']);
  });

  it('shows text as text, and marks the words that differ', () => {
    const lines = compareValues('one "two"\nthree big cats', 'one "two"\nthree small cats');
    expect(show(lines)).toEqual(['  one "two"', '- three big cats', '+ three small cats']);
    expect(lines.map(marked)).toEqual([[], ['big'], ['small']]);
  });

  it('marks nothing in long texts that have few words in common', () => {
    const [old, now] = [
      "Cannot read properties of undefined (reading 'forEach')",
      'Invalid arguments for tool delete_notes: expected array, received undefined',
    ];
    const lines = compareValues(old, now);
    expect(lines.map(({ side, text }) => [side, text])).toEqual([
      ['expected', old],
      ['actual', now],
    ]);
    expect(lines.flatMap(marked)).toEqual([]);
    const other = now.replace('array', 'text');
    expect(compareValues(other, now).flatMap(marked)).toEqual(['text', 'array']);
    expect(compareValues('alpha', 'beta').flatMap(marked)).toEqual(['alpha', 'beta']);
  });

  it('folds what is alike, and cuts a long line to what differs', () => {
    const many = Array.from({ length: 50 }, (_, index) => `line ${index}`);
    const folded = compareValues(many.join('\n'), many.with(25, 'other').join('\n'));
    expect(show(folded)).toEqual([
      '… 23 lines alike',
      '  line 23',
      '  line 24',
      '- line 25',
      '+ other',
      '  line 26',
      '  line 27',
      '… 22 lines alike',
    ]);
    const [long] = compareValues(`${'a'.repeat(5000)}b`, `${'a'.repeat(5000)}c`);
    expect(long?.text.length).toBeLessThan(250);
    expect(long === undefined ? [] : marked(long)).toEqual(['b']);
  });

  it('masks what a name suggests to be a secret', () => {
    const shown = JSON.stringify(compareValues({ token: 'abc', a: 1 }, { token: 'xyz', a: 2 }));
    expect(shown).not.toMatch(/abc|xyz/);
    expect(compareValues('abc', 'xyz', '/auth/token')).toEqual([]);
  });

  it('bounds time and size for any server', () => {
    const random = (seed: number) => Array.from({ length: 200_000 }, (_, index) => ({ v: (index * seed) % 99_991 }));
    const big = compareValues(random(7), random(13));
    expect(big.length).toBeLessThan(50);
    expect(JSON.stringify(big).length).toBeLessThan(20_000);
    const text = compareValues('x y '.repeat(1_250_000), 'y z '.repeat(1_250_000));
    expect(JSON.stringify(text).length).toBeLessThan(5000);
    let deep: unknown = 1;
    for (let depth = 0; depth < 5000; depth += 1) deep = [deep];
    expect(listJsonLines(deep, '').length).toBeLessThan(200);
    expect(compareRequirements(['must be number'], 'x\n'.repeat(1000), '').length).toBeLessThan(50);
  });
});

describe('compareLines', () => {
  it('has every line that differs, on its own side', () => {
    const texts = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });
    fc.assert(
      fc.property(texts, texts, (expected, actual) => {
        const lines = compareLines(toLines(expected), toLines(actual));
        const count = (side: string) => lines.filter((line) => line.side === side).length;
        expect(count('expected') - count('actual')).toBe(expected.length - actual.length);
        expect(lines.length === 0).toBe(expected.join() === actual.join());
      }),
      { numRuns: 1000 },
    );
  });

  it('has marks within its text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), fc.string({ maxLength: 400 }), (expected, actual) => {
        for (const { text, marks = [] } of compareValues(expected, actual)) {
          for (const [start, end] of marks) {
            expect(start).toBeLessThan(end);
            expect(end).toBeLessThanOrEqual(text.length);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
