import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitConfidence } from '../../../src/verdict/statistics/errors.ts';
import {
  computeExactInterval,
  computeTail,
  isSurelyAtLeast,
  isSurelyBelow,
} from '../../../src/verdict/statistics/exact.ts';

const error = fc.double({ min: 1e-4, max: 0.25, noNaN: true });
const fraction = fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000);

describe('computeExactInterval', () => {
  // scipy 1.17.1, beta.ppf of each bound.
  it.each([
    [9, 10, 0.025, 0.5549838829718047, 0.9974714214555382],
    [36, 36, 0.025, 0.902606244085508, 1],
    [81, 263, 0.025, 0.25273674558527126, 0.36762192260135135],
    [15, 148, 0.025, 0.05784401008344857, 0.161650490349479],
    [0, 20, 0.025, 0, 0.1684334709830853],
    [1, 29, 0.025, 0.000872646883579922, 0.1776442954887229],
    [95, 100, 0.005, 0.8648553174643765, 0.9890596664152099],
    [1, 1, 0.05, 0.05, 1],
    [990, 1000, 0.00125, 0.9763967684450119, 0.9969390191597401],
    [4.5, 7.25, 0.025, 0.224438412807895, 0.9219763012093156],
    [0.3, 5.1, 0.025, 5.837865381190746e-7, 0.581186982459002],
    [5.9, 6.2, 0.1, 0.6284175270570125, 0.9999506211151288],
    [19.6, 20, 0.025, 0.7972188891569127, 0.999996390301008],
  ])('agrees with other software on %d of %d at an error of %d', (passed, total, each, lower, upper) => {
    const interval = computeExactInterval({ passed, total }, { passing: each, failing: each });
    expect(interval.lower).toBeCloseTo(lower, 10);
    expect(interval.upper).toBeCloseTo(upper, 10);
  });

  it('keeps either error at every rate, where the interval of Wilson has an error of 8 to 14 % near 100 %', () => {
    const errors = splitConfidence(0.95);
    for (const total of [5, 20, 40, 100]) {
      const intervals = Array.from({ length: total + 1 }, (_, passed) =>
        computeExactInterval({ passed, total }, errors),
      );
      for (let rate = 0.005; rate < 1; rate += 0.01) {
        // The most passes with which the interval ends below the rate, and the fewest with which it starts above.
        const most = intervals.findLastIndex(({ upper }) => upper < rate);
        const fewest = intervals.findIndex(({ lower }) => lower > rate);
        expect(most < 0 ? 0 : 1 - computeTail(most + 1, total, rate)).toBeLessThanOrEqual(errors.failing);
        expect(fewest < 0 ? 0 : computeTail(fewest, total, rate)).toBeLessThanOrEqual(errors.passing);
      }
    }
  });

  it('contains the rate, and agrees with what decides without it', () => {
    fc.assert(
      fc.property(
        fraction,
        fc.double({ min: 1, max: 5000, noNaN: true }),
        error,
        error,
        fraction,
        (rate, total, passing, failing, minimum) => {
          const counts = { passed: rate * total, total };
          const { lower, upper } = computeExactInterval(counts, { passing, failing });
          expect(0 <= lower && lower <= rate + 1e-15 && rate - 1e-15 <= upper && upper <= 1).toBe(true);
          // Apart from a minimum that equals the bound but for rounding.
          fc.pre(Math.min(Math.abs(lower - minimum), Math.abs(upper - minimum)) > 1e-9);
          expect(isSurelyAtLeast(minimum, counts, passing)).toBe(lower >= minimum);
          expect(isSurelyBelow(minimum, counts, failing)).toBe(upper < minimum);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('has an upper bound that rises with the rate and falls with the number of iterations', () => {
    const bound = (rate: number, total: number, failing: number) =>
      computeExactInterval({ passed: rate * total, total }, { passing: 0.025, failing }).upper;
    fc.assert(
      fc.property(
        fraction,
        fraction,
        fc.double({ min: 1, max: 2000, noNaN: true }),
        fc.double({ min: 1, max: 10, noNaN: true }),
        error,
        (one, other, total, more, failing) => {
          const [less, greater] = [Math.min(one, other), Math.max(one, other)];
          expect(bound(less, total, failing)).toBeLessThanOrEqual(bound(greater, total, failing) + 1e-9);
          expect(bound(one, total * more, failing)).toBeLessThanOrEqual(bound(one, total, failing) + 1e-9);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('crosses below the median for two numbers of iterations at the same rate', () => {
    // The chance that a beta variable with rn + 1 and (1−r)n stays below r, which grows to a half with n.
    const below = (rate: number, total: number) => computeTail(rate * total + 1, total, rate);
    fc.assert(
      fc.property(
        fc.double({ min: 0.001, max: 0.999, noNaN: true }),
        fc.double({ min: 1, max: 2000, noNaN: true }),
        fc.double({ min: 1, max: 10, noNaN: true }),
        (rate, total, more) => {
          expect(below(rate, total)).toBeLessThanOrEqual(below(rate, total * more) + 1e-9);
          expect(below(rate, total * more)).toBeLessThan(0.5);
        },
      ),
      { numRuns: 500 },
    );
  });
});
