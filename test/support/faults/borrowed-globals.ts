import type { QuietClock } from './quiet-clock.ts';

/**
 * Puts what the platform gives everybody on a clock and a seed until it is disposed: `AbortSignal.timeout`, by which sockets
 * are bounded, and `Math.random`, from which all jitter comes.
 */
export function borrowGlobals(clock: QuietClock, seed: number): Disposable {
  const platform = { timeout: AbortSignal.timeout.bind(AbortSignal), random: Math.random };
  AbortSignal.timeout = (delayMs) => clock.timeout(delayMs);
  Math.random = createRandom(seed);
  return {
    [Symbol.dispose]: () => {
      AbortSignal.timeout = platform.timeout;
      Math.random = platform.random;
    },
  };
}

/** Draws in [0, 1): mulberry32, which is small and good enough for jitter. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
