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
  // As in timers/promises, which wraps the reason in an error of its own; callers want the original.
  sleep: (delayMs, { signal } = {}) =>
    new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      const timer = setTimeout(wake, Math.min(Math.max(delayMs, 0), longestTimerMs));
      if (signal?.aborted) stop();
      else signal?.addEventListener('abort', stop, { once: true });
    }),
};
