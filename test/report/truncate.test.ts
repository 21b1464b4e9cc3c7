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

const truncateReason = (text: string, maxLength: number) => truncateText(text, maxLength, { keepsEnd: true });

describe('truncateText of a sentence', () => {
  it('leaves a text that fits, and cuts others in the middle, at a word', () => {
    expect(truncateReason('It is stale. Re-record it.', 30)).toBe('It is stale. Re-record it.');
    const text = `It is stale. ${'The prompt changed. '.repeat(20)}Re-record it.`;
    const cut = truncateReason(text, 120);
    expect(cut).toMatch(/^It is stale\. The prompt .+… \(\d+ more characters\) .*Re-record it\.$/);
    expect(cut.length).toBeLessThanOrEqual(120);
  });

  it('cuts a text without words at its end', () => {
    expect(truncateReason('x'.repeat(100), 40)).toBe(truncateText('x'.repeat(100), 40));
  });

  it('keeps to the limit and never halves a code point', () => {
    const texts = fc.string({
      unit: fc.oneof(fc.constant(' '), fc.string({ unit: 'grapheme', maxLength: 3 })),
      maxLength: 200,
    });
    fc.assert(
      fc.property(texts, fc.integer({ min: 60, max: 120 }), (text, limit) => {
        const cut = truncateReason(text, limit);
        expect(cut.length).toBeLessThanOrEqual(limit);
        expect(cut.isWellFormed()).toBe(text.isWellFormed());
      }),
      { numRuns: 1000 },
    );
  });
});
