import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';

/**
 * Keeps what was started or created and must be undone. Disposing undoes all of it at the same time, because a job that is
 * cancelled has only seconds left; what cannot be undone is warned about and never changes a verdict.
 */
export interface Teardown extends AsyncDisposable {
  /**
   * `what` completes the sentence "Could not …". The signal aborts when there is no more time for calls of a service;
   * `isHurried` says that there are only seconds from the start.
   */
  add(what: string, undo: (signal: AbortSignal, isHurried: boolean) => Promise<void>): void;
}

/** What is left of the 7.5 s that GitHub's runner gives a cancelled job must do for stopping processes and reporting. */
const hurriedTimeoutMs = 2500;

/** Enough for a service that answers the jobs of a whole matrix, one call a second. */
const longestTimeoutMs = 30_000;

/** `readTimeLeftMs` is asked when the teardown begins; without it there are seconds only. */
export function createTeardown(logger: Logger, readTimeLeftMs: () => number = () => 0): Teardown {
  const parts: Array<{ what: string; undo: Parameters<Teardown['add']>[1] }> = [];
  return {
    add: (what, undo) => void parts.push({ what, undo }),
    [Symbol.asyncDispose]: async () => {
      const timeLeftMs = Math.min(Math.max(readTimeLeftMs(), hurriedTimeoutMs), longestTimeoutMs);
      const isHurried = timeLeftMs === hurriedTimeoutMs;
      const signal = AbortSignal.timeout(Math.ceil(timeLeftMs));
      await Promise.all(
        parts.map(({ what, undo }) =>
          undo(signal, isHurried).catch((error: unknown) => {
            const why = signal.aborted ? 'there was no time left' : describeError(error);
            logger.warning(`Could not ${what}: ${why}. The verdict stands.`);
          }),
        ),
      );
    },
  };
}
