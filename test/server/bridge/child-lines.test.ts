import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createLineReader } from '../../../src/server/bridge/child.ts';

function readLines(chunks: readonly Buffer[], maxLineBytes = 1000) {
  const lines: string[] = [];
  let overflows = 0;
  const onOverflow = () => {
    overflows += 1;
  };
  const reader = createLineReader({ maxLineBytes, onLine: (line) => lines.push(line), onOverflow });
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
      expect(readLines(chunks)).toEqual({ lines: expected, overflows: 0 });
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('stops at a line that is too long, once, and reads no further', () => {
    const chunks = ['ok\n', 'x'.repeat(6), 'x'.repeat(6), 'x'.repeat(6), '\nlater\n'].map((text) => Buffer.from(text));
    expect(readLines(chunks, 10)).toEqual({ lines: ['ok'], overflows: 1 });
  });

  it('takes a line of exactly the limit', () => {
    expect(readLines([Buffer.from('0123456789\n')], 10)).toEqual({ lines: ['0123456789'], overflows: 0 });
  });
});
