import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonEqual } from '../../src/base/json.ts';
import { findByPointer, listDifferences } from '../../src/checks/json-documents.ts';

describe('listDifferences', () => {
  it('escapes keys in pointers', () => {
    expect(listDifferences({ expected: { 'a/b': { 'c~d': 1 } }, actual: { 'a/b': { 'c~d': 2 } } }, '/at')).toEqual([
      { pointer: '/at/a~1b/c~0d', description: 'is 2, expected 1' },
    ]);
  });

  it('does not mistake what an object inherits for its members', () => {
    const actual = JSON.parse('{"__proto__": 1}') as unknown;
    expect(listDifferences({ expected: { toString: 1 }, actual }, '')).toEqual([
      { pointer: '/toString', description: 'is missing, expected 1' },
      { pointer: '/__proto__', description: 'is 1, expected nothing' },
    ]);
  });

  it('compares documents that are nested deeper than the call stack', () => {
    const nest = (leaf: unknown) => {
      let value = leaf;
      for (let level = 0; level < 20_000; level += 1) value = [value];
      return value;
    };
    const [difference] = listDifferences({ expected: nest(1), actual: nest(2) }, '');
    expect(difference).toEqual({ pointer: expect.stringMatching(/^[/0]+…$/), description: 'is 2, expected 1' });
  });

  it('finds a difference exactly where two documents are not equal, and points at it', () => {
    const document = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(document, document, (expected, actual) => {
        const differences = listDifferences({ expected, actual }, '');
        expect(differences.length === 0).toBe(isJsonEqual(expected, actual));
        for (const { pointer } of differences.filter(({ pointer }) => !pointer.endsWith('…'))) {
          const [wanted, found] = [expected, actual].map((value) => findByPointer(value, pointer));
          expect(wanted).not.toEqual(found);
        }
      }),
    );
  });
});
