import { describe, expect, it } from 'vitest';
import { escapePointerToken, resolveLocalReference, unescapePointerToken } from '../../src/base/json-pointer.ts';

describe('a token of a JSON Pointer', () => {
  it.each(['a/b', 'm~n', '~1', '~01', ''])('comes back as %j', (name) => {
    expect(unescapePointerToken(escapePointerToken(name))).toBe(name);
  });
});

describe('resolveLocalReference', () => {
  const mode = { enum: ['fast'] };
  const document = { $defs: { Mode: mode, 'a/b': { type: 'null' }, 'per cent': { type: 'string' } }, anyOf: [mode] };

  it.each([
    ['the document', '#', document],
    ['a definition', '#/$defs/Mode', mode],
    ['an escaped name', '#/$defs/a~1b', { type: 'null' }],
    ['a name in percent encoding', '#/$defs/per%20cent', { type: 'string' }],
    ['an item', '#/anyOf/0', mode],
  ])('finds %s', (_, reference, found) => {
    expect(resolveLocalReference(reference, document)).toEqual(found);
  });

  it.each([
    ['a member of a prototype', '#/$defs/constructor'],
    ['a name that is missing', '#/$defs/Node'],
    ['an anchor', '#mode'],
    ['another document', 'https://example.org/schema.json#/$defs/Mode'],
    ['broken percent encoding', '#/$defs/%E0%A4%A'],
    ['a number', 1],
  ])('finds nothing for %s', (_, reference) => {
    expect(resolveLocalReference(reference, document)).toBeUndefined();
  });
});
