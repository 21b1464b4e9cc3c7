import { describeError } from '../../base/errors.ts';
import { type Clock, race } from '../../base/time.ts';
import { BrowserGoneError } from '../../browser/devtools.ts';
import type { Attempt } from '../../browser/elements.ts';

/** How long a step or an assertion waits for a widget, in milliseconds. */
export const autoWaitMs = 5000;

/** Between two tries, in milliseconds. */
const pauseMs = 50;

/** What every try gets, in milliseconds, so that the last one is not taken for a widget that is stuck. */
const minAttemptMs = 2000;

/** How waiting for a widget ended; `problem` and `reason` are half a sentence and a sentence. */
export type Waited<T> =
  | { kind: 'done'; value: T }
  /** Not within the time. `isStuck`: the widget did not even answer the browser. */
  | { kind: 'late'; problem: string; isStuck: boolean }
  /** The browser or the page is no more. */
  | { kind: 'gone'; reason: string };

/**
 * Tries again until it is done or the time is over. What the browser refuses is tried again, too: a widget may replace its document at
 * any time.
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
    // The last try comes after the time, since a pause on a busy machine may take all of it.
    if (leftMs === 0) return { kind: 'late', problem, isStuck: false };
    await clock.sleep(pauseMs, { signal });
  }
}
