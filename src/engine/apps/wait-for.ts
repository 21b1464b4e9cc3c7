import { describeError } from '../../base/errors.ts';
import { type Clock, race } from '../../base/time.ts';
import { BrowserGoneError } from '../../browser/devtools.ts';
import type { Attempt } from '../../browser/elements.ts';

/** The time that a step or an assertion waits for a widget, in milliseconds. */
export const autoWaitMs = 5000;

/** The pause between two attempts, in milliseconds. */
const pauseMs = 50;

/** The least time of each attempt, in milliseconds, so that a short last attempt is not mistaken for a stuck widget. */
const minAttemptMs = 2000;

/** How waiting for a widget ended. `problem` is a clause, `reason` a sentence. */
export type Waited<T> =
  | { kind: 'done'; value: T }
  /** The time is up. `isStuck` is true if the widget did not answer the browser. */
  | { kind: 'late'; problem: string; isStuck: boolean }
  /** The browser or the page is gone. */
  | { kind: 'gone'; reason: string };

/**
 * Retries until the attempt is done or the time is up. Retries errors of the browser too, because a widget can replace its document at any
 * time.
 *
 * @throws the signal's reason once it aborts
 */
export async function waitFor<T>(
  attempt: () => Promise<Attempt<T>>,
  { clock, signal, gone, afterMs }: { clock: Clock; signal: AbortSignal; gone: AbortSignal; afterMs: number },
): Promise<Waited<T>> {
  const endsAtMs = clock.monotonicMs() + afterMs;
  let problem = 'the widget did not answer';
  for (;;) {
    const leftMs = Math.max(0, endsAtMs - clock.monotonicMs());
    try {
      const timeout = { clock, afterMs: Math.max(leftMs, minAttemptMs), onTimeout: () => null };
      const tried = await race(attempt(), { signals: [signal, gone], timeout });
      if (tried === null) return { kind: 'late', problem, isStuck: true };
      if ('done' in tried) return { kind: 'done', value: tried.done };
      ({ problem } = tried);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof BrowserGoneError) return { kind: 'gone', reason: error.message };
      problem = describeError(error);
    }
    // Makes one more attempt after the time is up, because a pause on a busy machine can take all of it.
    if (leftMs === 0) return { kind: 'late', problem, isStuck: false };
    await clock.sleep(pauseMs, { signal });
  }
}
