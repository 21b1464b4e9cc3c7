import { describe, expect, it } from 'vitest';
import { scoreIteration } from '../../src/verdict/score.ts';

describe('scoreIteration', () => {
  it.each([
    ['completed', 'passed', 'passed'],
    ['completed', 'failed', 'failed'],
    ['failed', 'failed', 'failed'],
    ['timed_out', null, 'failed'],
    ['timed_out', 'failed', 'failed'],
    ['completed', 'timed_out', 'failed'],
    ['timed_out', 'passed', 'failed'],
    ['failed', null, 'unscored'],
    ['failed', 'passed', 'unscored'],
    ['cancelled', 'cancelled', 'unscored'],
    ['cancelled', 'failed', 'unscored'],
    ['running', 'passed', 'unscored'],
    ['pending', null, 'unscored'],
    ['completed', null, 'unscored'],
    ['completed', 'flaky', 'unscored'],
    ['done', 'passed', 'unscored'],
    ['__proto__', 'constructor', 'unscored'],
  ])('counts status %s with result %s as %s', (status, result, standing) => {
    expect(scoreIteration({ status, result })).toBe(standing);
  });
});
