import { describe, expect, it } from 'vitest';
import { findByPointer } from '../../src/checks/json-documents.ts';

/** The document and the evaluations of RFC 6901 §5. */
const document = {
  foo: ['bar', 'baz'],
  '': 0,
  'a/b': 1,
  'c%d': 2,
  'e^f': 3,
  'g|h': 4,
  'i\\j': 5,
  'k"l': 6,
  ' ': 7,
  'm~n': 8,
};

describe('findByPointer', () => {
  it.each([
    ['', document],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ])('finds %j as in the RFC', (pointer, value) => {
    expect(findByPointer(document, pointer)).toEqual({ kind: 'found', value });
  });

  it('reads ~01 as ~1', () => {
    expect(findByPointer({ '~1': true }, '/~01')).toEqual({ kind: 'found', value: true });
  });

  it.each(['/nope', '/foo/2', '/foo/-', '/foo/00', '/foo/1e0', '/foo/length', '/foo/0/0', '/toString', '/__proto__'])(
    'finds nothing at %j',
    (pointer) => {
      expect(findByPointer(document, pointer)).toEqual({ kind: 'absent' });
    },
  );

  it.each(['foo', '#/foo', '/a~b', '/a~2', '~'])('refuses %j, which is no pointer', (pointer) => {
    expect(findByPointer(document, pointer)).toEqual({ kind: 'malformed' });
  });

  it('finds a member that is null', () => {
    expect(findByPointer({ a: null }, '/a')).toEqual({ kind: 'found', value: null });
  });
});
