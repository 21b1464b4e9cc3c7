import { describe, expect, it } from 'vitest';
import { describeProgress, type GateProgress, throttleProgress } from '../../../src/gate/run/progress.ts';
import { createCaseResults } from '../../support/factories/results-factory.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';

const count = (finished: number): GateProgress => ({ kind: 'run-progress', suite: 'S', finished, iterations: 9 });

describe('throttleProgress', () => {
  it('passes a count or a wait on only when nothing was logged for 30 seconds, and no result of a case', async () => {
    const clock = new ManualClock();
    const reported: string[] = [];
    const listener = throttleProgress(clock, (progress) => reported.push(describeProgress(progress)));
    listener({ kind: 'run-started', suite: 'S', runId: 'r', iterations: 9, url: null });
    listener(count(1));
    listener({ kind: 'case-read', suite: 'S', result: createCaseResults() });
    await clock.advance(29_999);
    listener({ kind: 'run-queued', suite: 'S', waitedMs: 1 });
    listener(count(2));
    await clock.advance(1);
    listener(count(3));
    listener(count(4));
    listener({ kind: 'run-finished', suite: 'S', status: 'completed' });
    expect(reported).toEqual(['S: running 9 iterations (run r).', 'S: 3 of 9 iterations …', 'S: run completed.']);
  });
});
