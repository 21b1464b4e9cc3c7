import type { Clock } from '../../../src/base/time.ts';

/** The longest sleep that waits for a time of day. Longer sleeps are time limits and stay unchanged. */
const longestShortenedMs = 15_000;

/**
 * A clock on which a day passes `factor` times as fast, starting at `originMs` (epoch milliseconds), equally in every process. Only the time
 * of day is fast: a server has the usual time to answer.
 */
export function createFastClock(clock: Clock, { originMs, factor }: { originMs: number; factor: number }): Clock {
  return {
    now: () => Math.trunc(originMs + (clock.now() - originMs) * factor),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (delayMs, options) =>
      clock.sleep(delayMs <= longestShortenedMs ? Math.max(1, delayMs / factor) : delayMs, options),
  };
}
