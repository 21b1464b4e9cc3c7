import type { Clock } from '../../base/time.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { SuitePolicy } from '../../model/policy.ts';
import { decideEarly } from '../../verdict/early.ts';
import { createTally } from '../../verdict/tally.ts';
import type { PreparedSuite } from './prepared-suite.ts';
import type { StartedRun } from './backend.ts';

/** The share of the time that polling may take. */
const maxPollDutyCycle = 0.1;
const shortestPauseMs = 200;

export interface EarlyStop extends AsyncDisposable {
  /** True if the run was to be cancelled because its verdict was settled. */
  hasAsked(): boolean;
}

interface Surroundings {
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * Polls the ended iterations of a running run, and cancels the run as soon as the outstanding ones cannot change its verdict. Polling is no
 * part of the verdict: if it fails, the run continues to its end.
 */
export function openEarlyStop(
  run: StartedRun,
  { prepared, policy }: { prepared: PreparedSuite; policy: SuitePolicy },
  { clock, logger, signal: cancelled }: Surroundings,
): EarlyStop {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, cancelled]);
  let hasAsked = false;

  const isSettled = async (): Promise<boolean> => {
    const tally = createTally(prepared.outline, prepared);
    for await (const page of run.listIterations(signal)) {
      for (const iteration of page) tally.addIteration(iteration);
    }
    const results = tally.finish({
      run: run.current(),
      runUrl: null,
      isComplete: true,
      tunnelBreaks: 0,
      interruption: null,
    });
    return decideEarly(results, policy) !== null;
  };
  const poll = async (): Promise<void> => {
    let pauseMs = shortestPauseMs;
    while (!hasAsked) {
      await clock.sleep(pauseMs, { signal });
      const startedMs = clock.monotonicMs();
      hasAsked = await isSettled();
      pauseMs = Math.max(shortestPauseMs, (1 / maxPollDutyCycle) * (clock.monotonicMs() - startedMs));
    }
    logger.info(`${prepared.outline.name}: the verdict is settled, whatever is outstanding; the run is stopped.`);
    await run.cancel(signal);
  };
  const polling = poll().catch((error: unknown) => {
    if (!signal.aborted) logger.debug(`Could not stop the run early: ${describeError(error)}`);
  });
  return {
    hasAsked: () => hasAsked,
    [Symbol.asyncDispose]: async () => {
      over.abort();
      await polling;
    },
  };
}
