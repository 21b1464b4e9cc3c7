import { type Clock, systemClock } from '../../src/base/clock.ts';

/** Real time, but for sleeps of this length, which take a moment: such as the wait for room in a queue. */
export function createHurriedClock({
  fromMs,
  toMs,
  instead,
}: {
  fromMs: number;
  toMs: number;
  instead: number;
}): Clock {
  return {
    ...systemClock,
    sleep: (delayMs, options) => systemClock.sleep(delayMs > fromMs && delayMs < toMs ? instead : delayMs, options),
  };
}
