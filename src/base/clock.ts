import { setTimeout as setTimer } from 'node:timers/promises';

/** Time as the product sees it. Injected everywhere, so that tests run on a clock of their own. */
export interface Clock {
  /** Wall-clock time in epoch milliseconds; for records only, since it may jump. */
  now(): number;
  /** Milliseconds from an arbitrary origin that never go backwards; for durations and deadlines. */
  monotonicMs(): number;
  /** Resolves after `delayMs`; rejects with the signal's reason when it aborts first. */
  sleep(delayMs: number, options?: { signal?: AbortSignal | undefined }): Promise<void>;
}

/** Node's timers fire at once for a delay beyond a signed 32-bit integer, so longer waits are cut to it. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (delayMs, { signal } = {}) => {
    signal?.throwIfAborted();
    try {
      await setTimer(Math.min(Math.max(delayMs, 0), longestTimerMs), undefined, { signal });
    } catch (error) {
      // timers/promises wraps the reason in an AbortError of its own; callers want theirs.
      signal?.throwIfAborted();
      throw error;
    }
  },
};
