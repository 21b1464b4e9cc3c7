import type { Clock } from '../../../src/base/time.ts';

/** The longest sleep of what waits for a time of the day; longer ones are limits of time, which stay as they are. */
const longestShortenedMs = 15_000;

/**
 * A clock on which a day passes `factor` times as fast, from `originMs` on (milliseconds of the epoch), in every process alike. Only the
 * time of day is fast: a server has as much time to answer as ever.
 */
export function createFastClock(clock: Clock, { originMs, factor }: { originMs: number; factor: number }): Clock {
  return {
    now: () => Math.trunc(originMs + (clock.now() - originMs) * factor),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (delayMs, options) =>
      clock.sleep(delayMs <= longestShortenedMs ? Math.max(1, delayMs / factor) : delayMs, options),
  };
}
