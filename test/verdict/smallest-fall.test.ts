import { describe, expect, it } from 'vitest';
import { computeSmallestFall } from '../../src/verdict/smallest-fall.ts';

const limit = { maximumRateDrop: 0.05, isOverTasks: false };

/** So many cases that passed alike earlier, and run so often now. */
const repeat = (count: number, [passed, total]: [passed: number, total: number], iterations = total) =>
  Array.from({ length: count }, () => ({ baseline: { passed, total }, iterations }));

const uneven = [10, 9, 8, 7, 5, 10, 10, 3].map((passed) => ({ baseline: { passed, total: 10 }, iterations: 10 }));

describe('computeSmallestFall', () => {
  // Python 3.11. Where all passed: the power by enumeration of all outcomes; else 4,000 simulated gates with the exact test.
  it.each([
    ['20 cases with one iteration', repeat(20, [1, 1]), limit, 0.3607],
    ['50 cases with one iteration', repeat(50, [1, 1]), limit, 0.1535],
    ['100 cases with one iteration', repeat(100, [1, 1]), { ...limit, maximumRateDrop: 0 }, 0.0783],
    ['5 cases with one iteration', repeat(5, [1, 1]), limit, 0.9791],
    ['20 cases with three iterations', repeat(20, [3, 3]), limit, 0.1256],
    ['6 cases with five iterations', repeat(6, [5, 5]), limit, 0.2457],
    ['20 cases with five iterations', repeat(20, [5, 5]), { ...limit, maximumRateDrop: 0 }, 0.0783],
    ['a baseline of unequal cases', uneven, limit, 0.1847],
    ['fewer iterations than the baseline has', uneven.map((each) => ({ ...each, iterations: 3 })), limit, 0.2982],
    ['30 cases of which four fifths passed', repeat(30, [8, 10]), { ...limit, maximumRateDrop: 0.02 }, 0.0953],
    ['a limit beyond what chance explains', repeat(20, [5, 5]), { ...limit, maximumRateDrop: 0.3 }, 0.3691],
    ['20 cases over tasks', repeat(20, [5, 5]), { ...limit, isOverTasks: true }, 0.0938],
    ['6 cases over tasks', repeat(6, [5, 5]), { ...limit, isOverTasks: true }, 0.3809],
  ])('agrees with another program on %s', (_, cases, rule, expected) => {
    expect(Math.abs((computeSmallestFall(cases, rule) ?? 1) - expected)).toBeLessThan(0.025);
  });

  it('finds none where too few iterations can ever show a fall, or nothing passed before', () => {
    expect(computeSmallestFall(repeat(4, [1, 1]), limit)).toBeNull();
    expect(computeSmallestFall(repeat(5, [1, 1]), limit)).not.toBeNull();
    expect(computeSmallestFall(repeat(20, [0, 5]), limit)).toBeNull();
    expect(computeSmallestFall([], limit)).toBeNull();
    expect(computeSmallestFall(repeat(20, [5, 5], 0), limit)).toBeNull();
  });

  it('is smaller with more iterations, and the same every time', () => {
    const [few, many] = [5, 10].map((runs) => computeSmallestFall(repeat(20, [10, 10], runs), limit));
    expect(many).toBeLessThan(few ?? 0);
    expect(computeSmallestFall(uneven, limit)).toBe(computeSmallestFall(uneven, limit));
  });
});
