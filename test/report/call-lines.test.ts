import { describe, expect, it } from 'vitest';
import { compareCalls, listCallLines } from '../../src/report/call-lines.ts';

const show = (lines: ReturnType<typeof compareCalls>) =>
  lines.map(({ side, text }) => `${{ both: ' ', expected: '-', actual: '+', folded: '…' }[side]} ${text}`);

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
      '… 3 lines alike',
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
