import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonEqual } from '../../src/base/json.ts';

describe('isJsonEqual', () => {
  it.each([
    [
      { a: 1, b: [1, { c: null }] },
      { b: [1, { c: null }], a: 1 },
    ],
    [0, -0],
    ['', ''],
  ])('takes %j and %j for the same document', (left, right) => {
    expect(isJsonEqual(left, right)).toBe(true);
  });

  it.each([
    [1, '1'],
    [null, {}],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ toString: 1 }, { a: 1 }],
    [JSON.parse('{"__proto__":{}}'), {}],
  ])('distinguishes %j from %j', (left, right) => {
    expect(isJsonEqual(left, right)).toBe(false);
    expect(isJsonEqual(right, left)).toBe(false);
  });

  it('finds every JSON value equal to a copy of itself, whatever the order of its keys', () => {
    const reversed = (_: string, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toReversed())
        : value;
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        expect(isJsonEqual(value, JSON.parse(JSON.stringify(value, reversed)))).toBe(true);
      }),
    );
  });
});
