import { describe, expect, it } from 'vitest';
import {
  computeLogEvidenceAbove,
  computeLogEvidenceBelow,
  computeLogEvidenceWorse,
  computeRemainingMinimum,
  decideRate,
  isWorse,
  listWorse,
} from '../../../src/verdict/statistics/sequential.ts';

describe('the evidence about a rate', () => {
  // mpmath 1.3, the logarithm of the integral of (q/m)^s ((1-q)/(1-m))^f by quadrature with 40 digits, over its width.
  it.each([
    [20, 0, 0.8, 3.0185203302935, -3.0445224377234],
    [60, 0, 0.9, 4.5117235497639, -4.1108738641733],
    [450, 50, 0.8, 16.561793768764, -5.5402627955499],
    [0, 5, 0.9, -1.7917594692281, 9.8265255113995],
    [500, 119, 0.8, -1.8987440316153, -3.9994873497997],
  ])('of %d passed and %d failed, against %d', (passed, failed, minimum, above, below) => {
    expect(computeLogEvidenceAbove({ passed, failed }, minimum, 1)).toBeCloseTo(above, 10);
    expect(computeLogEvidenceBelow({ passed, failed }, minimum, 1)).toBeCloseTo(below, 10);
  });

  // The same, with each rate q weighted by (1-q)^(w-1) above the minimum and q^(w-1) below it.
  it.each([
    [20, 0, 0.8, 4, 1.3232255825015, -1.7917594692281],
    [0, 5, 0.9, 4, -0.81093021621633, 7.098021384587],
    [350, 150, 0.8, 4, -2.8338223724411, 12.321705783437],
    [450, 50, 0.8, 2, 16.577604373784, -4.8509801126402],
  ])('of %d passed and %d failed, against %d, by the weight %d', (passed, failed, minimum, weight, above, below) => {
    expect(computeLogEvidenceAbove({ passed, failed }, minimum, weight)).toBeCloseTo(above, 10);
    expect(computeLogEvidenceBelow({ passed, failed }, minimum, weight)).toBeCloseTo(below, 10);
  });
});

describe('decideRate', () => {
  const rule = { minimum: 0.8, confidence: 0.95 };

  it.each([
    [{ passed: 20, failed: 0 }, 'passed'],
    [{ passed: 19, failed: 0 }, 'open'],
    [{ passed: 16, failed: 4 }, 'open'],
    [{ passed: 5, failed: 7 }, 'failed'],
    [{ passed: 0, failed: 0 }, 'open'],
  ] as const)('says of %o', (counts, expected) => {
    expect(decideRate(counts, rule)).toBe(expected);
  });

  it('needs more for a higher confidence', () => {
    expect(decideRate({ passed: 20, failed: 0 }, { ...rule, confidence: 0.99 })).toBe('open');
    expect(decideRate({ passed: 29, failed: 0 }, { ...rule, confidence: 0.99 })).toBe('passed');
  });

  it('never establishes a minimum of 1, and refutes it by one failure', () => {
    expect(decideRate({ passed: 10_000, failed: 0 }, { minimum: 1, confidence: 0.95 })).toBe('open');
    expect(decideRate({ passed: 10_000, failed: 1 }, { minimum: 1, confidence: 0.95 })).toBe('failed');
  });

  it('takes a minimum of 0 as met', () => {
    expect(decideRate({ passed: 0, failed: 9 }, { minimum: 0, confidence: 0.95 })).toBe('passed');
  });
});

describe('computeRemainingMinimum', () => {
  it('asks of the other cases what the known ones leave', () => {
    expect(computeRemainingMinimum(0.9, { cases: 20, known: 10, passed: 10 })).toBeCloseTo(0.8, 12);
    expect(computeRemainingMinimum(0.9, { cases: 20, known: 10, passed: 8 })).toBeCloseTo(1, 12);
    expect(computeRemainingMinimum(0.9, { cases: 20, known: 10, passed: 7 })).toBeGreaterThan(1);
  });
});

describe('the comparison of pairs', () => {
  // mpmath 1.3, the logarithm of the integral of (1+l)^b (1-l)^c over l from 0 to 1 by quadrature with 40 digits.
  it.each([
    [12, 0, 6.4458419120541],
    [9, 1, 2.918262011878],
    [30, 10, 4.1467460347769],
    [0, 10, -2.3978952727984],
    [200, 150, 1.5574507557959],
  ])('weighs %d broken against %d fixed', (broken, fixed, expected) => {
    expect(computeLogEvidenceWorse({ broken, fixed })).toBeCloseTo(expected, 10);
  });

  it('finds a suite worse once the evidence reaches the confidence', () => {
    expect(isWorse({ broken: 7, fixed: 0 }, 0.95)).toBe(true);
    expect(isWorse({ broken: 6, fixed: 0 }, 0.95)).toBe(false);
  });

  it('names one case of twenty that is broken altogether after twelve rounds and not before', () => {
    const cases = (broken: number) =>
      Array.from({ length: 20 }, (_, index) => ({ id: index, broken: index === 3 ? broken : 0, fixed: 0 }));
    expect(listWorse(cases(11), 0.95)).toEqual([]);
    expect(listWorse(cases(12), 0.95)).toEqual([{ id: 3, broken: 12, fixed: 0 }]);
  });

  it('needs less of each where several are broken, and names none where none is', () => {
    const both = [
      { id: 'a', broken: 7, fixed: 0 },
      { id: 'b', broken: 7, fixed: 0 },
      { id: 'c', broken: 1, fixed: 1 },
    ];
    // Alone among three, (2^8 - 1)/8 = 31.9 is below 60; of two it is at least 30.
    expect(listWorse(both, 0.95).map(({ id }) => id)).toEqual(['a', 'b']);
    expect(listWorse(both.slice(1), 0.95)).toEqual([]);
    expect(listWorse([], 0.95)).toEqual([]);
  });
});
