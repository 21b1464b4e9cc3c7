import { describe, expect, it } from 'vitest';
import { removeResult, findRefusal, type SeenRefusal } from '../../../src/gate/run/refusals.ts';
import type { Iteration } from '../../../src/model/run.ts';
import { scoreIteration } from '../../../src/verdict/tally.ts';

const at = (atMs: number): SeenRefusal => ({ status: 401, wwwAuthenticate: null, atMs });
const launch = { askedAtMs: 10_000, answeredAtMs: 10_400 };
/** A service with a clock that is an hour ahead. */
const aheadMs = 3_600_000;
const run = { createdAtMs: 10_200 + aheadMs };
const iteration = { startedAtMs: 20_000 + aheadMs, durationMs: 5000 };

describe('findRefusal', () => {
  it.each([
    ['while the iteration ran', 22_000, true],
    ['at its start', 20_000, true],
    ['at its end', 25_000, true],
    ['within what the clocks leave open', 26_000, true],
    ['before it', 18_000, false],
    ['after it', 27_000, false],
  ])('decides by the clock of the service whether it came %s', (_when, atMs, isFound) => {
    const refusal = at(atMs);
    expect(findRefusal(iteration, [refusal], { run, launch })).toBe(isFound ? refusal : null);
  });

  it.each([
    ['the run', iteration, { createdAtMs: null }],
    ['the iteration', { startedAtMs: null, durationMs: null }, run],
  ])('takes any of the run where the service says no time of %s', (_what, asked, ofRun) => {
    const late = at(99_000);
    expect(findRefusal(asked, [at(9000), late], { run: ofRun, launch })).toBe(late);
    expect(findRefusal(asked, [at(9000)], { run: ofRun, launch })).toBeNull();
  });
});

describe('removeResult', () => {
  const read: Iteration = {
    id: 'i',
    testCaseId: 'c',
    title: 'One',
    iterationNumber: 1,
    status: 'completed',
    result: 'failed',
    startedAtMs: 1,
    durationMs: 1,
    error: 'the tool greet failed',
    model: null,
    tokensUsed: null,
    usage: null,
    judges: [],
    actualToolCalls: [],
    expectedToolCalls: [],
  };

  it.each([
    ['failed', 'completed', 'unscored'],
    ['timed_out', 'timed_out', 'unscored'],
    ['passed', 'completed', 'passed'],
  ])('takes a result that is %s (%s) for %s', (result, status, expected) => {
    const excused = removeResult({ ...read, result, status }, 'The server asks for authorization.');
    expect(scoreIteration(excused)).toBe(expected);
    if (expected === 'unscored') expect(excused.error).toBe('The server asks for authorization.');
  });
});
