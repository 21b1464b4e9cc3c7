import { assert, integer, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computePassRate,
  formatMinimumPassRate,
  formatPassRate,
  meetsMinimumPassRate,
  parsePassRate,
  toPercent,
} from '../../src/model/rate.ts';

describe('computePassRate', () => {
  it('is a fraction, and null if nothing was scored', () => {
    expect([computePassRate(0, 4), computePassRate(3, 4), computePassRate(4, 4)]).toEqual([0, 0.75, 1]);
    expect(computePassRate(0, 0)).toBeNull();
  });
});

describe('parsePassRate', () => {
  it.each([
    ['90%', 0.9],
    ['90', 0.9],
    [90, 0.9],
    [' 90 % ', 0.9],
    ['99.5%', 0.995],
    ['66.6667%', 0.666667],
    ['0', 0],
    ['0%', 0],
    ['0.5%', 0.005],
    ['1%', 0.01],
    ['1.5', 0.015],
    ['100', 1],
    ['100%', 1],
    ['100.0000%', 1],
  ])('reads %j', (text, passRate) => {
    expect(parsePassRate(text)).toEqual({ ok: true, passRate });
  });

  it.each([
    ['0.9', '0.9 could mean 0.9% or 90%; write the one you mean with its % sign'],
    [0.9, '0.9 could mean 0.9% or 90%; write the one you mean with its % sign'],
    ['1', '1 could mean 1% or 100%; write the one you mean with its % sign'],
    [1, '1 could mean 1% or 100%; write the one you mean with its % sign'],
    ['101%', '101% is more than 100%'],
    ['100.0001', '100.0001% is more than 100%'],
    ['-1', '"-1" is not a pass rate; write a percentage from 0% to 100%, such as 90%'],
    ['', '"" is not a pass rate; write a percentage from 0% to 100%, such as 90%'],
    ['90%%', '"90%%" is not a pass rate; write a percentage from 0% to 100%, such as 90%'],
    ['9e1', '"9e1" is not a pass rate; write a percentage from 0% to 100%, such as 90%'],
    [1e-7, '1e-7 is not a pass rate; write a percentage from 0% to 100%, such as 90%'],
    [Number.NaN, 'null is not a pass rate; write a percentage from 0% to 100%, such as 90%'],
  ])('refuses %j and says why', (text, message) => {
    expect(parsePassRate(text)).toEqual({ ok: false, message });
  });

  it('never throws and never leaves 0..1', () => {
    assert(
      property(string(), (text) => {
        const parsed = parsePassRate(text);
        if (parsed.ok) expect(parsed.passRate >= 0 && parsed.passRate <= 1).toBe(true);
      }),
    );
  });
});

describe('meetsMinimumPassRate', () => {
  it.each([
    [9, 10, 0.9, true],
    [8, 10, 0.9, false],
    [899_999, 1_000_000, 0.9, false],
    [2, 3, 0.6667, false],
    [2, 3, 0.6666, true],
    [7, 100, 0.07, true],
    [29, 100, 0.29, true],
    [0, 10, 0, true],
    [10, 10, 1, true],
    [99_999, 100_000, 1, false],
  ])('%i of %i against %d is %s', (passed, total, minimum, isMet) => {
    expect(meetsMinimumPassRate(passed, total, minimum)).toBe(isMet);
  });

  it('agrees with whole numbers for every minimum that can be written with four decimals', () => {
    const hundredThousandths = integer({ min: 0, max: 1_000_000 });
    const counts = integer({ min: 1, max: 200_000 });
    assert(
      property(hundredThousandths, counts, counts, (millionths, a, b) => {
        const [passed, total] = [Math.min(a, b), Math.max(a, b)];
        const parsed = parsePassRate(`${(millionths / 10_000).toFixed(4)}%`);
        const isMet = parsed.ok && meetsMinimumPassRate(passed, total, parsed.passRate);
        expect(isMet).toBe(BigInt(passed) * 1_000_000n >= BigInt(millionths) * BigInt(total));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('formatPassRate', () => {
  it.each([
    [null, 'n/a'],
    [0, '0%'],
    [1, '100%'],
    [0.9, '90%'],
    [2 / 3, '66.6%'],
    [0.995, '99.5%'],
    [0.29, '29%'],
    [0.57, '57%'],
    [0.999999, '99.9%'],
  ])('prints %d as %s', (passRate, text) => {
    expect(formatPassRate(passRate)).toBe(text);
  });

  it('never prints a rate as the minimum that it just missed', () => {
    const counts = integer({ min: 1, max: 200_000 });
    assert(
      property(integer({ min: 1, max: 1000 }), counts, counts, (tenths, a, b) => {
        const [passed, total] = [Math.min(a, b), Math.max(a, b)];
        const minimum = tenths / 1000;
        if (meetsMinimumPassRate(passed, total, minimum)) return;
        expect(formatPassRate(passed / total)).not.toBe(formatPassRate(minimum));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a minimum', () => {
  it.each([
    [0, 0],
    [0.07, 7],
    [0.9, 90],
    [0.995, 99.5],
    [0.666667, 66.6667],
    [1, 100],
  ])('of %d goes over the wire as %d percent and is printed in full', (fraction, percent) => {
    expect(toPercent(fraction)).toBe(percent);
    expect(formatMinimumPassRate(fraction)).toBe(`${percent}%`);
  });
});
