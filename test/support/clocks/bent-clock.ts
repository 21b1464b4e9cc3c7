import { type Clock, race, systemClock } from '../../../src/base/time.ts';

/** Sleeps longer than `fromMs` and shorter than `toMs` take `instead`, all in milliseconds. */
interface ShortenedSleeps {
  fromMs: number;
  toMs: number;
  instead: number;
  /** Sleeps of exactly these lengths are time limits and stay unchanged. */
  limitsMs?: readonly number[];
}

const isShortened = (delayMs: number, { fromMs, toMs, limitsMs = [] }: ShortenedSleeps) =>
  delayMs > fromMs && delayMs < toMs && !limitsMs.includes(delayMs);

/** Real time, except that sleeps of these lengths are short, such as the wait for room in a queue. */
export function createHurriedClock(shortened: ShortenedSleeps): Clock {
  return {
    ...systemClock,
    sleep: (delayMs, options) =>
      systemClock.sleep(isShortened(delayMs, shortened) ? shortened.instead : delayMs, options),
  };
}

/**
 * A clock that can jump forward, as after a machine has slept. It jumps over sleeps within these bounds, which take a moment; otherwise it runs
 * at its usual pace.
 */
export function createJumpingClock(shortened: ShortenedSleeps): Clock & { jump(byMs: number): void } {
  let aheadMs = 0;
  const jump = (byMs: number) => {
    aheadMs += byMs;
  };
  return {
    now: () => systemClock.now() + aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    sleep: async (delayMs, options) => {
      const sleptMs = isShortened(delayMs, shortened) ? shortened.instead : delayMs;
      await systemClock.sleep(sleptMs, options);
      jump(delayMs - sleptMs);
    },
    jump,
  };
}

/** A clock on which time passes only in sleeps within these bounds, however slow the machine is. */
export function createSteppedClock(shortened: ShortenedSleeps): Clock {
  let nowMs = 0;
  return {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async (delayMs, options) => {
      const isStep = isShortened(delayMs, shortened);
      await systemClock.sleep(isStep ? shortened.instead : delayMs, options);
      if (isStep) nowMs += delayMs;
    },
  };
}

/**
 * Real time, except for sleeps for which `findEvent` returns an event: these end when it happens, however fast the machine is. `findEvent`
 * gets their length in milliseconds.
 */
export function createEventClock(findEvent: (delayMs: number) => Promise<unknown> | undefined): Clock {
  return {
    ...systemClock,
    sleep: async (delayMs, { signal } = {}) => {
      const event = findEvent(delayMs);
      if (event === undefined) await systemClock.sleep(delayMs, { signal });
      else await race(event, { signals: signal === undefined ? [] : [signal] });
    },
  };
}
