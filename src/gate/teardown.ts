import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';

/**
 * Keeps what was started or created and must be undone. Disposing undoes all of it at the same time, because a job that is
 * cancelled has only seconds left; what cannot be undone is warned about and never changes a verdict.
 */
export interface Teardown extends AsyncDisposable {
  /** `what` completes the sentence "Could not …". The signal aborts when there is no more time for calls of a service. */
  add(what: string, undo: (signal: AbortSignal) => Promise<void>): void;
}

/** What is left of the 7.5 s that GitHub's runner gives a cancelled job must do for stopping processes and reporting. */
const callTimeoutMs = 2500;

export function createTeardown(logger: Logger): Teardown {
  const parts: Array<{ what: string; undo: (signal: AbortSignal) => Promise<void> }> = [];
  return {
    add: (what, undo) => void parts.push({ what, undo }),
    [Symbol.asyncDispose]: async () => {
      const signal = AbortSignal.timeout(callTimeoutMs);
      await Promise.all(
        parts.map(({ what, undo }) =>
          undo(signal).catch((error: unknown) => {
            const why = signal.aborted ? 'there was no time left' : describeError(error);
            logger.warning(`Could not ${what}: ${why}. The verdict stands.`);
          }),
        ),
      );
    },
  };
}
