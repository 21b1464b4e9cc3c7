import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { shareTime } from '../../src/explore/time-shares.ts';

describe('shareTime', () => {
  it('shares the time that is left after a slow start', () => {
    let nowMs = 1000;
    const time = shareTime({ ...systemClock, monotonicMs: () => nowMs }, 100);
    const exploring = time.limitTo(0.5);
    nowMs += 60;
    exploring.begin(0.5);
    expect(exploring.isOver()).toBe(true);
    exploring.restart();
    exploring.begin(0.5);
    nowMs += 9;
    expect(exploring.isOver()).toBe(false);
    nowMs += 2;
    expect(exploring.isOver()).toBe(true);
    time.begin(1);
    nowMs += 28;
    expect(time.isOver()).toBe(false);
    nowMs += 2;
    expect(time.isOver()).toBe(true);
  });
});
