import { DeadlineError } from './errors.ts';

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

/** A point on the monotonic clock by which something must be over, and what to call it when it is not. */
export interface Deadline {
  /** Milliseconds left; 0 once it has passed. */
  remainingMs(): number;
  /** @throws {DeadlineError} naming what ran out, once the deadline has passed. */
  throwIfPassed(): void;
}

/** Starts a deadline `timeoutMs` from now. `what` completes the sentence "… took longer than 30 s". */
export function startDeadline(clock: Clock, timeoutMs: number, what: string): Deadline {
  const endsAtMs = clock.monotonicMs() + timeoutMs;
  const remainingMs = () => Math.max(0, endsAtMs - clock.monotonicMs());
  return {
    remainingMs,
    throwIfPassed: () => {
      if (remainingMs() === 0) throw new DeadlineError(`${what} took longer than ${formatDuration(timeoutMs)}.`);
    },
  };
}

const unitsMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 };

/**
 * Reads `500ms`, `60s`, `30m`, `30min` or `2h` into milliseconds; undefined for anything else. A bare number is not a
 * duration: half the tools that take one mean seconds and half milliseconds.
 */
export function parseDuration(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)\s*$/.exec(text);
  const unitMs = unitsMs[match?.[2] ?? ''];
  return unitMs === undefined ? undefined : Math.round(Number(match?.[1]) * unitMs);
}

/** Prints a duration for people: `250 ms`, `3.2 s`, `4 min 10 s`. */
export function formatDuration(durationMs: number): string {
  // Each unit ends where rounding would print the next one: never "1000 ms" or "60 s".
  if (durationMs < 999.5) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${Number((durationMs / 1000).toFixed(1))} s`;
  const totalSeconds = Math.round(durationMs / 1000);
  const seconds = totalSeconds % 60;
  const minutes = Math.floor(totalSeconds / 60);
  const parts = minutes < 60 ? [`${minutes} min`] : [`${Math.floor(minutes / 60)} h`, `${minutes % 60} min`];
  return seconds === 0 || minutes >= 60 ? parts.join(' ') : `${parts.join(' ')} ${seconds} s`;
}

/** Settles like the promise, or rejects with the signal's reason when that aborts first. */
export async function endOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
