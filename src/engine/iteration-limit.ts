import { type Clock, joinSignals } from '../base/time.ts';

/** What bounds an iteration: its own time, and the caller. Disposing stops the timer and forgets the caller. */
export interface IterationLimit extends Disposable {
  /** Aborts when the time is up or the caller's signal does. */
  signal: AbortSignal;
  /** Which of the two came first; null while the signal has not aborted. */
  stoppedBy(): 'timeout' | 'caller' | null;
  /** Stops the time until the result is disposed, for work that has a limit of its own. Several may overlap. */
  hold(): Disposable;
}

/** Starts the time of an iteration, in milliseconds. */
export function startIterationLimit(clock: Clock, timeoutMs: number, caller: AbortSignal | undefined): IterationLimit {
  const timeout = new AbortController();
  const timer = new AbortController();
  let deadlineMs = clock.monotonicMs() + timeoutMs;
  let released: Promise<void> | null = null;
  let holds = 0;
  let heldSinceMs = 0;
  let release = () => {};
  const waitForDeadline = async () => {
    for (;;) {
      await released;
      const leftMs = deadlineMs - clock.monotonicMs();
      if (leftMs <= 0) return;
      await clock.sleep(leftMs, { signal: timer.signal });
    }
  };
  void waitForDeadline().then(
    () => timeout.abort(new Error('The iteration took too long.')),
    () => {},
  );
  const joined = joinSignals(caller === undefined ? [timeout.signal] : [timeout.signal, caller]);
  const { signal } = joined;
  return {
    signal,
    stoppedBy: () => {
      if (!signal.aborted) return null;
      return signal.reason === timeout.signal.reason ? 'timeout' : 'caller';
    },
    hold: () => {
      if (holds === 0) {
        heldSinceMs = clock.monotonicMs();
        ({ promise: released, resolve: release } = Promise.withResolvers<void>());
      }
      holds += 1;
      return {
        [Symbol.dispose]: () => {
          holds -= 1;
          if (holds > 0) return;
          deadlineMs += clock.monotonicMs() - heldSinceMs;
          released = null;
          release();
        },
      };
    },
    [Symbol.dispose]: () => {
      // No code reads it. Without a reason given here, Node would create an error with its stack.
      timer.abort('over');
      joined[Symbol.dispose]();
    },
  };
}
