import type { Clock } from '../base/clock.ts';

/** What bounds an iteration: its own time, and whoever asked for it. Disposing stops the timer. */
export interface IterationLimit extends Disposable {
  /** Aborts when the time is up or the caller's signal does. */
  signal: AbortSignal;
  /** Which of the two came first; null while the signal has not aborted. */
  stoppedBy(): 'timeout' | 'caller' | null;
}

/** Starts the time of an iteration, in milliseconds. */
export function startIterationLimit(clock: Clock, timeoutMs: number, caller: AbortSignal | undefined): IterationLimit {
  const timeout = new AbortController();
  const timer = new AbortController();
  void clock.sleep(timeoutMs, { signal: timer.signal }).then(
    () => timeout.abort(new Error('The iteration took too long.')),
    () => {},
  );
  const signal = caller === undefined ? timeout.signal : AbortSignal.any([timeout.signal, caller]);
  return {
    signal,
    stoppedBy: () => {
      if (!signal.aborted) return null;
      return signal.reason === timeout.signal.reason ? 'timeout' : 'caller';
    },
    // Nobody hears of it; without a reason of ours, an error with its stack would be made for it.
    [Symbol.dispose]: () => timer.abort('over'),
  };
}
