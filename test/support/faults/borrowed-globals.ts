import { systemClock } from '../../../src/base/time.ts';
import type { QuietClock } from './quiet-clock.ts';

/**
 * Replaces global state by a clock and a seed until it is disposed: the sleeps of the system's clock, which limit sockets, and `Math.random`,
 * the source of all jitter.
 */
export function borrowGlobals(clock: QuietClock, seed: number): Disposable {
  const own = { ...systemClock };
  const { random } = Math;
  systemClock.sleep = async (delayMs, options) => await clock.sleep(delayMs, options);
  Math.random = createRandom(seed);
  return {
    [Symbol.dispose]: () => {
      Object.assign(systemClock, own);
      Math.random = random;
    },
  };
}

/** Draws in [0, 1): mulberry32, which is small and sufficient for jitter. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
