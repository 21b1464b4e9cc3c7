import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareCalls, compareLines, listCallLines } from '../../page/diff.ts';

const show = (lines: ReturnType<typeof compareLines>) =>
  lines.map(({ side, text }) => `${{ both: ' ', expected: '-', called: '+' }[side]} ${text}`);

describe('compareCalls', () => {
  it('shows which argument differs, whatever their order', () => {
    const expected = [
      { toolName: 'find', arguments: { name: 'Paris', country: 'FR' } },
      { toolName: 'forecast', arguments: { city: 'Paris', unit: 'celsius' } },
    ];
    const called = [
      { toolName: 'find', arguments: { country: 'FR', name: 'Paris' } },
      { toolName: 'forecast', arguments: { unit: 'C', city: 'Paris' } },
    ];
    expect(show(compareCalls(expected, called))).toEqual([
      '  find',
      '    country: "FR"',
      '    name: "Paris"',
      '  forecast',
      '    city: "Paris"',
      '-   unit: "celsius"',
      '+   unit: "C"',
    ]);
  });

  it('shows a call that is missing, and one too many', () => {
    const [a, b] = [
      { toolName: 'a', arguments: { x: 1 } },
      { toolName: 'b', arguments: {} },
    ];
    expect(show(compareCalls([a], []))).toEqual(['- a', '-   x: 1']);
    expect(show(compareCalls([a], [a, b]))).toEqual(['  a', '    x: 1', '+ b']);
  });
});

describe('listCallLines', () => {
  it('has a line with its path for every value', () => {
    const args = { list: [1, { deep: null }], empty: {}, none: [], 'odd key': true, __proto__: 1 };
    expect(listCallLines({ toolName: 'a', arguments: { ...args, ['__proto__']: { b: 'c' } } })).toEqual([
      'a',
      '  __proto__.b: "c"',
      '  empty: {}',
      '  list[0]: 1',
      '  list[1].deep: null',
      '  none: []',
      '  "odd key": true',
    ]);
  });

  it('stops at a limit of depth', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 100; depth += 1) value = [value];
    expect(listCallLines({ toolName: 'a', arguments: { value } })).toHaveLength(2);
  });
});

describe('compareLines', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });

  it('contains both sides whole and in order, and as few lines as possible', () => {
    fc.assert(
      fc.property(lines, lines, (expected, called) => {
        const diff = compareLines(expected, called);
        const read = (other: string) => diff.filter(({ side }) => side !== other).map(({ text }) => text);
        expect(read('called')).toEqual(expected);
        expect(read('expected')).toEqual(called);
        expect(diff.filter(({ side }) => side === 'both')).toHaveLength(measureCommon(expected, called));
      }),
      { numRuns: 2000 },
    );
  });

  it('shows one list after the other where comparing them would take too long', () => {
    const many = Array.from({ length: 1001 }, () => 'a');
    expect(compareLines(many, ['a']).map(({ side }) => side)).toEqual([...many.map(() => 'expected'), 'called']);
  });
});

/** The length of the longest common subsequence, by trying everything. */
function measureCommon([a, ...as]: string[], b: string[]): number {
  if (a === undefined) return 0;
  const place = b.indexOf(a);
  const without = measureCommon(as, b);
  return place === -1 ? without : Math.max(without, 1 + measureCommon(as, b.slice(place + 1)));
}
