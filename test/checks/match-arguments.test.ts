import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesArguments } from '../../src/checks/match-arguments.ts';

describe('matchesArguments', () => {
  it.each([
    ['an empty expectation', {}, { a: 1 }],
    ['extra keys', { a: 1 }, { a: 1, b: 2 }],
    ['nested objects in any key order', { a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } }],
    ['a type instead of a value', { a: 'string', b: 'number', c: 'boolean' }, { a: 'x', b: 0, c: false }],
    ['structured types', { a: 'object', b: 'array', c: 'null' }, { a: {}, b: [], c: null }],
    ['a type in other case and with spaces', { a: ' Number ' }, { a: 1 }],
    ['any value, null included', { a: 'any', b: 'ANY' }, { a: null, b: 0 }],
  ])('accepts %s when matching partially', (_, expected, actual) => {
    expect(matchesArguments(expected, actual, 'partial')).toBe(true);
  });

  it.each([
    ['a missing key', { a: 1 }, {}],
    ['a missing key that may have any value', { a: 'any' }, {}],
    ['an inherited key', { toString: 'any' }, {}],
    ['another type', { a: 1 }, { a: '1' }],
    ['null for an object', { a: 'object' }, { a: null }],
    ['an array for an object', { a: 'object' }, { a: [] }],
    ['an object for an array', { a: 'array' }, { a: {} }],
    ['an extra key in a nested object', { a: { x: 1 } }, { a: { x: 1, y: 2 } }],
    ['a type in a nested place, where it is a plain text', { a: { x: 'number' } }, { a: { x: 1 } }],
    ['a type inside an array', { a: ['any'] }, { a: [1] }],
  ])('refuses %s when matching partially', (_, expected, actual) => {
    expect(matchesArguments(expected, actual, 'partial')).toBe(false);
  });

  it('cannot mean the word "string" literally, which is a type', () => {
    expect(matchesArguments({ a: 'string' }, { a: 'anything else' }, 'partial')).toBe(true);
  });

  it('compares whole documents without types when matching exactly', () => {
    expect(matchesArguments({ a: 'string' }, { a: 'string' }, 'exact')).toBe(true);
    expect(matchesArguments({ a: 'string' }, { a: 'x' }, 'exact')).toBe(false);
    expect(matchesArguments({ a: 1 }, { a: 1, b: 2 }, 'exact')).toBe(false);
  });

  it('accepts anything when ignoring arguments', () => {
    expect(matchesArguments({ a: 1 }, { b: 2 }, 'ignore')).toBe(true);
  });

  it('accepts every document for itself exactly, and partially whatever is added to it', () => {
    const documents = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(documents, documents, (expected, extra) => {
        expect(matchesArguments(expected, structuredClone(expected), 'exact')).toBe(true);
        const isPlaceholder = (value: unknown) =>
          typeof value === 'string' && /^\s*(?:any|string|number|boolean|object|array|null)\s*$/i.test(value);
        fc.pre(!Object.values(expected).some(isPlaceholder));
        expect(matchesArguments(expected, { ...extra, ...expected }, 'partial')).toBe(true);
      }),
    );
  });
});
