import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createLineReader } from '../../../src/server/bridge/child.ts';

function readLines(chunks: readonly Buffer[], maxLineBytes = 1000, limits = { values: 1000, structures: 1000 }) {
  const lines: string[] = [];
  const overflows: string[] = [];
  const onOverflow = (why: string) => overflows.push(why);
  const reader = createLineReader({ maxLineBytes, limits, onLine: (line) => lines.push(line), onOverflow });
  for (const chunk of chunks) reader.push(chunk);
  return { lines, overflows };
}

describe('a line reader', () => {
  it('finds the same lines wherever the stream is cut, inside a character too', () => {
    const cuts = fc.array(fc.nat(200), { maxLength: 20 });
    const property = fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 20 })), cuts, (texts, positions) => {
      const expected = texts.map((text) => text.replaceAll('\n', '')).filter((text) => text !== '');
      const bytes = Buffer.from(expected.map((text) => `${text}\n`).join(''));
      const borders = [0, ...positions.toSorted((a, b) => a - b), bytes.length];
      const chunks = borders.slice(1).map((end, index) => bytes.subarray(borders[index], end));
      expect(readLines(chunks)).toEqual({ lines: expected, overflows: [] });
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('stops at a line that is too long, once, and reads no further', () => {
    const chunks = ['ok\n', 'x'.repeat(6), 'x'.repeat(6), 'x'.repeat(6), '\nlater\n'].map((text) => Buffer.from(text));
    expect(readLines(chunks, 10)).toEqual({ lines: ['ok'], overflows: ['is longer than 10 bytes'] });
  });

  it('takes a line of exactly the limit', () => {
    expect(readLines([Buffer.from('0123456789\n')], 10)).toEqual({ lines: ['0123456789'], overflows: [] });
  });

  it('stops at a line of too many values or arrays and objects before it is parsed, and takes one of exactly the limit', () => {
    const chunks = ['[1,2]\n', '["1,2,3"]\n', '[{},', '{}]\n[1]\n'].map((text) => Buffer.from(text));
    const lines = ['[1,2]', '["1,2,3"]'];
    const overflows = ['has more than 2 arrays and objects'];
    expect(readLines(chunks, 100, { values: 4, structures: 2 })).toEqual({ lines, overflows });
    const values = ['is JSON of more than 2 values'];
    expect(readLines(chunks, 100, { values: 2, structures: 3 })).toEqual({ lines, overflows: values });
    const all = [...lines, '[{},{}]', '[1]'];
    expect(readLines(chunks, 100, { values: 4, structures: 3 })).toEqual({ lines: all, overflows: [] });
  });
});
