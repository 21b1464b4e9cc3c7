import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonEqual, isRecord, isTooDeep, maxJsonDepth, tryParseJson } from '../../src/base/json.ts';

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

describe('tryParseJson', () => {
  it.each(['null', '{"a":[1]}', '"text"', ' 0 '])('reads %s', (text) => {
    expect(tryParseJson(text)).toEqual(JSON.parse(text));
  });

  it.each(['', '{', 'undefined', '{"a":1}}', "{'a':1}"])('gives nothing for %j', (text) => {
    expect(tryParseJson(text)).toBeUndefined();
  });
});

describe('isRecord', () => {
  it.each([[{}], [{ a: 1 }], [Object.create(null)]])('takes %j for an object of JSON', (value) => {
    expect(isRecord(value)).toBe(true);
  });

  it.each([[null], [[]], ['{}'], [1], [undefined]])('does not take %j for one', (value) => {
    expect(isRecord(value)).toBe(false);
  });
});

describe('isTooDeep', () => {
  const nest = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;

  it('allows the deepest level and refuses the next one', () => {
    expect([isTooDeep(nest(maxJsonDepth)), isTooDeep(nest(maxJsonDepth + 1)), isTooDeep({ a: 'x' })]).toEqual([
      false,
      true,
      false,
    ]);
  });
});
