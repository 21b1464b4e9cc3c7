import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createOutputRing } from '../../src/server/ring.ts';

describe('an output ring', () => {
  it('gives back the last lines, oldest first', () => {
    const ring = createOutputRing();
    ring.append(Buffer.from('one\ntwo\r\nthr'));
    ring.append(Buffer.from('ee\n'));
    expect(ring.readLines(2)).toEqual(['two', 'three']);
    expect(ring.readLines(50)).toEqual(['one', 'two', 'three']);
  });

  it('is empty before anything was written', () => {
    expect(createOutputRing().readLines(50)).toEqual([]);
  });

  it('leaves out the line whose beginning it no longer has', () => {
    const ring = createOutputRing(8);
    ring.append(Buffer.from('abcdef\nghi\njk\n'));
    expect(ring.readLines(50)).toEqual(['ghi', 'jk']);
  });

  it('keeps exactly the end of what was written, however it was cut', () => {
    const property = fc.property(
      fc.array(fc.stringMatching(/^[a-z\n]{0,20}$/)),
      fc.integer({ min: 1, max: 40 }),
      (chunks, size) => {
        const ring = createOutputRing(size);
        for (const chunk of chunks) ring.append(Buffer.from(chunk));
        const whole = chunks.join('');
        const lines = whole.slice(-size).split('\n');
        if (whole.length > size) lines.shift();
        if (lines.at(-1) === '') lines.pop();
        expect(ring.readLines(1000)).toEqual(lines);
      },
    );
    fc.assert(property, { numRuns: 300 });
  });
});
