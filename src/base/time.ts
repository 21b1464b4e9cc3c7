import { DeadlineError } from './errors.ts';

/** Time as the product sees it. It is injected everywhere, so that tests control it. */
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

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  // Unlike timers/promises, which wraps the reason in another error, this rejects with the original reason.
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

/** A point on the monotonic clock by which some work must be over, with the name of that work for messages. */
export interface Deadline {
  /** Milliseconds left; 0 once it has passed. */
  remainingMs(): number;
  /** @throws {DeadlineError} with the name of the work, once the deadline has passed */
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

/**
 * Makes a signal that aborts with the first of `sources`, and with its reason. After disposal, no listener is left at sources that live
 * on. It costs a fraction of `AbortSignal.any`.
 */
export function joinSignals(sources: readonly AbortSignal[]): Disposable & { signal: AbortSignal } {
  const joined = new AbortController();
  const watched = sources.map((source) => ({ source, follow: () => joined.abort(source.reason) }));
  for (const { source, follow } of watched) {
    if (source.aborted) follow();
    else source.addEventListener('abort', follow);
  }
  return {
    signal: joined.signal,
    [Symbol.dispose]: () => {
      for (const { source, follow } of watched) source.removeEventListener('abort', follow);
    },
  };
}

/**
 * Starts a signal that aborts with a DeadlineError after `afterMs`, or with the reason of `signal` if that aborts first. Disposing stops
 * the timer. `what` completes the sentence "… took longer than 30 s".
 */
export function startTimeLimit(
  clock: Clock,
  { afterMs, what, signal }: { afterMs: number; what: string; signal?: AbortSignal | undefined },
): Disposable & { signal: AbortSignal } {
  const over = new AbortController();
  const timer = new AbortController();
  const error = () => new DeadlineError(`${what} took longer than ${formatDuration(afterMs)}.`);
  void clock.sleep(afterMs, { signal: timer.signal }).then(
    () => over.abort(error()),
    () => {},
  );
  return {
    signal: signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]),
    [Symbol.dispose]: () => timer.abort('over'),
  };
}

const unitsMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 };

/**
 * Reads `500ms`, `60s`, `30m`, `30min` or `2h` into milliseconds; undefined for any other text. A bare number is no duration, because
 * half the tools that take one mean seconds and half milliseconds.
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

const dayMs = 24 * 3_600_000;

/** Reads whole days, `30d`, into milliseconds; undefined for any other text. */
export function parseDays(text: string): number | undefined {
  const days = /^\s*(\d+)\s*d\s*$/.exec(text)?.[1];
  return days === undefined ? undefined : Number(days) * dayMs;
}

/** Prints milliseconds as days: `30d`. */
export function formatDays(durationMs: number): string {
  return `${Number((durationMs / dayMs).toFixed(1))}d`;
}

/** The events that end a wait before its promise settles. */
export interface RaceLimits<U> {
  /** The first signal that aborts ends the wait with its own reason. */
  signals?: readonly AbortSignal[];
  /** After `afterMs` the wait ends with the result or the error of `onTimeout`. */
  timeout?: { clock: Clock; afterMs: number; onTimeout: () => U };
}

/**
 * Waits for a promise within limits, and leaves neither a listener nor a timer behind. The promise itself continues; the caller has to
 * stop the work behind it. An abort takes precedence over an error of the promise, which may report the same abort.
 *
 * @throws the error of the promise, the reason of a signal, or the error of `onTimeout`
 */
export async function race<T, U = never>(
  promise: Promise<T>,
  { signals = [], timeout }: RaceLimits<U>,
): Promise<T | U> {
  const aborted = Promise.withResolvers<never>();
  const watched = signals.map((signal) => ({ signal, listener: () => aborted.reject(signal.reason) }));
  const timer = timeout === undefined ? null : new AbortController();
  const contenders: Array<Promise<T | U>> = [promise, aborted.promise];
  for (const { signal, listener } of watched) {
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener);
  }
  if (timeout !== undefined) {
    const { clock, afterMs, onTimeout } = timeout;
    contenders.push(clock.sleep(afterMs, { signal: timer?.signal }).then(onTimeout));
  }
  try {
    return await Promise.race(contenders);
  } catch (error) {
    for (const signal of signals) signal.throwIfAborted();
    throw error;
  } finally {
    for (const { signal, listener } of watched) signal.removeEventListener('abort', listener);
    // A custom reason costs no stack trace.
    timer?.abort('over');
  }
}
