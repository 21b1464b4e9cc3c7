import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createRedactor, Secret } from '../../src/base/redaction.ts';
import { createOutputTail, createTimedOutput, keepLastLines } from '../../src/server/output-tail.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import { countDraws } from '../support/property-runs.ts';

describe('the last lines for a report', () => {
  it('have no mark of a column that is beyond every screen', () => {
    expect(keepLastLines(['at a.js:1', `${' '.repeat(900)}^`, '    ^', '', 'Error: x  '])).toEqual([
      'at a.js:1',
      '    ^',
      '',
      'Error: x',
    ]);
  });
});

describe('an output tail', () => {
  it('returns the last lines, oldest first', () => {
    const tail = createOutputTail();
    tail.append(Buffer.from('one\ntwo\r\nthr'));
    tail.append(Buffer.from('ee\n'));
    expect(tail.readLines(2)).toEqual(['two', 'three']);
    expect(tail.readLines(50)).toEqual(['one', 'two', 'three']);
  });

  it('is empty before anything was written', () => {
    expect(createOutputTail().readLines(50)).toEqual([]);
  });

  it('leaves out the line whose beginning it no longer has', () => {
    const tail = createOutputTail(8);
    tail.append(Buffer.from('abcdef\nghi\njk\n'));
    expect(tail.readLines(50)).toEqual(['ghi', 'jk']);
  });

  it('keeps exactly the end of the output, however it was split', () => {
    const property = fc.property(
      fc.array(fc.stringMatching(/^[a-z\n]{0,20}$/)),
      fc.integer({ min: 1, max: 40 }),
      (chunks, size) => {
        const tail = createOutputTail(size);
        for (const chunk of chunks) tail.append(Buffer.from(chunk));
        const whole = chunks.join('');
        const lines = whole.slice(-size).split('\n');
        if (whole.length > size) lines.shift();
        if (lines.at(-1) === '') lines.pop();
        expect(tail.readLines(1000)).toEqual(lines);
        const timed = createTimedOutput(new ManualClock(), size);
        for (const chunk of chunks) timed.append(Buffer.from(chunk));
        expect(timed.readLines(1000).map(({ text }) => text)).toEqual(lines);
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  it('knows when each line began', async () => {
    const clock = new ManualClock();
    const output = createTimedOutput(clock, 100);
    const startMs = clock.now();
    output.append(Buffer.from('one\ntw'));
    await clock.advance(5);
    output.append(Buffer.from('o\r\nthree'));
    expect(output.readLines(9).map(({ atMs, text }) => [atMs - startMs, text])).toEqual([
      [0, 'one'],
      [0, 'two'],
      [5, 'three'],
    ]);
  });

  it('keeps a secret in one piece for redaction, however it was split', () => {
    const written = Buffer.from(`first\nkey ${token} ${encodeURIComponent(token)}\r\n{"key":"${token}"}\nlast ü\n`);
    const redactor = createRedactor([new Secret(token)]);
    const readRedacted = (chunks: readonly Uint8Array[]) => {
      const tail = createOutputTail(written.length);
      for (const chunk of chunks) tail.append(chunk);
      return tail.readLines(50).map((line) => redactor.redact(line));
    };
    const whole = ['first', 'key *** ***', '{"key":"***"}', 'last ü'];
    expect(readRedacted([written])).toEqual(whole);
    const places = fc.uniqueArray(fc.nat(written.length), { maxLength: 8 });
    const property = fc.property(places, (cuts) => {
      const ends = [...cuts.toSorted((a, b) => a - b), written.length];
      const chunks = ends.map((end, index) => written.subarray(ends[index - 1] ?? 0, end));
      expect(readRedacted(chunks)).toEqual(whole);
    });
    fc.assert(property, { numRuns: countDraws(100_000) });
  });
});

const token = 'sk_live_9fK2mQ7xW4bT1zR8';
