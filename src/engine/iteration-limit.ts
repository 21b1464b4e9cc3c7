import { type Clock, joinSignals } from '../base/time.ts';

/** Limits an iteration by its time and by the caller. Disposing stops the timer and detaches from the caller's signal. */
export interface IterationLimit extends Disposable {
  /** Aborts when the time is up or the caller's signal aborts. */
  signal: AbortSignal;
  /** Returns which of the two aborted first; null before that. */
  stoppedBy(): 'timeout' | 'caller' | null;
  /** Pauses the time until the result is disposed, for work with its own limit. Holds may overlap. */
  hold(): Disposable;
}

/** Starts the time limit of an iteration, in milliseconds. */
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
      // Code never reads this reason. Without one, Node would create an error with a stack.
      timer.abort('over');
      joined[Symbol.dispose]();
    },
  };
}
