import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { truncateText } from '../../src/report/truncate.ts';

describe('truncateText', () => {
  it('leaves a text that fits', () => {
    expect(truncateText('0123456789', 10)).toBe('0123456789');
  });

  it('says how much it left out', () => {
    expect(truncateText('x'.repeat(100), 40)).toBe(`${'x'.repeat(17)}… (83 more characters)`);
  });

  it('keeps to the limit, counts exactly and never halves a code point', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 30, max: 120 }), (text, limit) => {
        const cut = truncateText(text, limit);
        expect(cut.length).toBeLessThanOrEqual(limit);
        expect(cut.isWellFormed()).toBe(text.isWellFormed());
        const note = /… \((\d+) more characters\)$/.exec(cut);
        if (cut !== text) expect(cut.length - (note?.[0].length ?? 0) + Number(note?.[1])).toBe(text.length);
      }),
      { numRuns: 2000 },
    );
  });
});
