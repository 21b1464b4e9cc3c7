import { describe, expect, it } from 'vitest';
import { splitConfidence } from '../../../src/verdict/statistics/errors.ts';
import {
  computeLogEvidenceAbove,
  computeLogEvidenceBelow,
  computeLogEvidenceWorse,
  computeRemainingMinimum,
  decideRate,
  decideRateByRounds,
  computeLogEvidenceOfMeans,
  computeLogEvidenceOfRounds,
  countPairsToWorse,
  isWorse,
  isWorseByRounds,
  turnOver,
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
  const rule = { minimum: 0.8, errors: splitConfidence(0.95) };

  it.each([
    [{ passed: 24, failed: 0 }, 'passed'],
    [{ passed: 23, failed: 0 }, 'open'],
    [{ passed: 16, failed: 4 }, 'open'],
    [{ passed: 5, failed: 8 }, 'failed'],
    [{ passed: 0, failed: 0 }, 'open'],
  ] as const)('says of %o', (counts, expected) => {
    expect(decideRate(counts, rule)).toBe(expected);
  });

  it('needs more for a higher confidence', () => {
    expect(decideRate({ passed: 32, failed: 0 }, { ...rule, errors: splitConfidence(0.99) })).toBe('open');
    expect(decideRate({ passed: 33, failed: 0 }, { ...rule, errors: splitConfidence(0.99) })).toBe('passed');
  });

  it('never establishes a minimum of 1, and refutes it by one failure', () => {
    expect(decideRate({ passed: 10_000, failed: 0 }, { minimum: 1, errors: splitConfidence(0.95) })).toBe('open');
    expect(decideRate({ passed: 10_000, failed: 1 }, { minimum: 1, errors: splitConfidence(0.95) })).toBe('failed');
  });

  it('takes a minimum of 0 as met', () => {
    expect(decideRate({ passed: 0, failed: 9 }, { minimum: 0, errors: splitConfidence(0.95) })).toBe('passed');
  });
});

describe('decideRateByRounds', () => {
  const round = (passed: number, failed: number, rounds = 1) => ({ passed, failed, rounds });

  // Python 3.11, the mean over the same bets of the product over all rounds.
  it.each([
    [[], 0.9, 0, 0],
    [[round(20, 0, 44)], 0.9, 3.7636839322437727, -4.521091760154997],
    [[round(19, 1, 10), round(17, 3, 5), round(20, 0, 3)], 0.9, 0.3995242590691385, -2.4964314189652983],
    [[round(3, 1, 2), round(0, 4)], 0.8, -1.1489957525901249, 1.6514093033754944],
  ])('weighs the means of rounds %j against %d', (rounds, minimum, above, below) => {
    expect(computeLogEvidenceOfRounds(rounds, minimum)).toBeCloseTo(above, 10);
    expect(computeLogEvidenceOfRounds(rounds.map(turnOver), 1 - minimum)).toBeCloseTo(below, 10);
  });

  it('is wrong no more often than promised by rounds of which each is all good or all bad', () => {
    // Every course of 12 rounds with its chance: each round passes as a whole with the chance of the minimum.
    const minimum = 0.6;
    const wrong = { passed: 0, failed: 0 };
    const walk = (results: string, chance: number): void => {
      const passed = results.replaceAll('f', '').length;
      const tally = [round(20, 0, passed), round(0, 20, results.length - passed)].filter(({ rounds }) => rounds > 0);
      const decision = decideRateByRounds(tally, { minimum, errors: splitConfidence(0.8) });
      if (decision !== 'open') wrong[decision] += chance;
      else if (results.length < 12) {
        walk(`${results}p`, chance * minimum);
        walk(`${results}f`, chance * (1 - minimum));
      }
    };
    walk('', 1);
    expect(wrong.passed).toBeGreaterThan(0);
    expect(wrong.failed).toBeGreaterThan(0);
    expect(wrong.passed).toBeLessThanOrEqual(0.1);
    expect(wrong.failed).toBeLessThanOrEqual(0.1);
  });

  it('takes minimums of 0 and 1 as the decision by iterations does', () => {
    expect(decideRateByRounds([round(0, 5)], { minimum: 0, errors: splitConfidence(0.95) })).toBe('passed');
    expect(decideRateByRounds([round(5, 0, 100)], { minimum: 1, errors: splitConfidence(0.95) })).toBe('open');
    expect(decideRateByRounds([round(4, 1)], { minimum: 1, errors: splitConfidence(0.95) })).toBe('failed');
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
    const alone = { tests: 1, error: 0.05 };
    expect(isWorse({ broken: 7, fixed: 0 }, alone)).toBe(true);
    expect(isWorse({ broken: 6, fixed: 0 }, alone)).toBe(false);
  });

  it('needs more evidence for each of several tests', () => {
    const ofTwenty = { tests: 20, error: 0.025 };
    // (2^14 - 1)/14 = 1170 is the first above 800.
    expect(isWorse({ broken: 13, fixed: 0 }, ofTwenty)).toBe(true);
    expect(isWorse({ broken: 12, fixed: 0 }, ofTwenty)).toBe(false);
  });

  it('counts the pairs that are still needed', () => {
    const ofTwenty = { tests: 20, error: 0.025 };
    expect(countPairsToWorse({ broken: 1, fixed: 0 }, ofTwenty, 25)).toBe(12);
    expect(countPairsToWorse({ broken: 13, fixed: 0 }, ofTwenty, 25)).toBe(0);
    expect(countPairsToWorse({ broken: 1, fixed: 0 }, ofTwenty, 11)).toBeNull();
  });

  // Python 3.11, the mean over the same bets of the product.
  it.each([
    [[], 0],
    [[1, 1, 1], 1.321745839932319],
    [[0.2, -0.1, 0.3, 0.25], 0.3078455307799972],
  ])('weighs the mean differences of rounds %j', (differences, expected) => {
    expect(computeLogEvidenceOfMeans(differences)).toBeCloseTo(expected, 12);
  });

  it('shows nothing by one round in which all cases share a state', () => {
    expect(isWorseByRounds([1], { tests: 1, error: 0.05 })).toBe(false);
    expect(isWorseByRounds([1, 1, 1, 1, 1, 1, 1], { tests: 1, error: 0.05 })).toBe(true);
  });
});
