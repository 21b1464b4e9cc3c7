import type { Clock, Deadline } from '../base/time.ts';
import { formatDuration } from '../base/time.ts';
import { DeadlineError, ServiceError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Pacer, Purpose } from '../base/pacing.ts';
import { decideRetryDelay } from '../base/retry.ts';
import type { RetryQuota } from '../base/retry.ts';
import type { AttemptOutcome } from './attempt.ts';
import { addHint } from './failure.ts';
import type { AttemptFailure } from './failure.ts';

/** What attempts are spread and bounded by. */
export interface RepeatOptions {
  /** Whether the request may be carried out twice. */
  isSafe: boolean;
  maxAttempts: number;
  purpose: Purpose | undefined;
  clock: Clock;
  pacer: Pacer;
  quota: RetryQuota;
  /** Draws in [0, 1). */
  random: () => number;
  logger: Logger;
  signal: AbortSignal;
  /** No attempt and no wait begins that would go beyond any of them. */
  deadlines: readonly Deadline[];
}

/**
 * Makes attempts until one is answered; between them it waits as long as the service asks, or backs off. Every attempt
 * but the first is taken out of the quota, except where the service asked for another by refusing the pace.
 *
 * @throws {DeadlineError} when a deadline had passed before the first attempt; afterwards the last attempt's error
 */
export async function repeatUntilAnswered<T>(
  attemptOnce: (remainingMs: number) => Promise<AttemptOutcome<T>>,
  { isSafe, maxAttempts, purpose, clock, pacer, quota, random, logger, signal, deadlines }: RepeatOptions,
): Promise<T> {
  const startedAtMs = clock.monotonicMs();
  const readRemainingMs = () => Math.min(...deadlines.map((deadline) => deadline.remainingMs()));
  let lastError: AttemptFailure['error'] | undefined;
  let mayHaveHappened = false;
  /** A refusal says nothing about the attempts before it. */
  const fail = (error: AttemptFailure['error']) => Object.assign(error, { mayHaveHappened });
  /** Why attempts were repeated explains more than that it took too long. */
  const endWithReason = (wait: Promise<void>) =>
    wait.catch((cause: unknown) => {
      if (lastError === undefined || !(signal.reason instanceof DeadlineError)) throw cause;
      throw fail(addHint(lastError, deadlineHint));
    });

  let attempts = 0;
  let refusals = 0;
  for (;;) {
    await endWithReason(pacer.waitForTurn({ purpose, isRepeated: refusals > 0, signal }));
    if (readRemainingMs() === 0) {
      if (lastError !== undefined) throw fail(addHint(lastError, deadlineHint));
      for (const deadline of deadlines) deadline.throwIfPassed();
    }
    const outcome = await attemptOnce(readRemainingMs());
    if (outcome.ok) {
      pacer.speedUp();
      quota.giveBack();
      return outcome.answer;
    }
    const { error, repeat, isRateLimited = false } = outcome;
    const most = isRateLimited ? maxRefusals : Math.min(maxAttempts, outcome.maxAttempts ?? maxAttempts);
    const tried = isRateLimited ? (refusals += 1) : (attempts += 1);
    if (isRateLimited) pacer.slowDown();
    mayHaveHappened ||= repeat === 'if-safe';
    if (repeat === 'never' || (repeat === 'if-safe' && !isSafe) || most === 1) throw fail(error);
    lastError = error;
    const delayMs = decideRetryDelay({
      attempt: tried,
      maxAttempts: most,
      remainingMs: readRemainingMs(),
      retryAfterMs: error instanceof ServiceError ? error.retryAfterMs : undefined,
      random: random(),
    });
    if (delayMs === undefined) {
      const elapsed = formatDuration(clock.monotonicMs() - startedAtMs);
      throw fail(
        addHint(error, tried < most ? deadlineHint : `It was tried ${attempts + refusals} times in ${elapsed}.`),
      );
    }
    if (!isRateLimited && !quota.take()) throw fail(addHint(error, quotaHint));
    logger.debug(`${error.message} Trying again in ${formatDuration(delayMs)}.`);
    await endWithReason(clock.sleep(delayMs, { signal }));
  }
}

/**
 * A service that refuses the pace works well, and jobs that share a key get their turn in the end. So these attempts are
 * bounded by the deadline, and by this only where there is none.
 */
const maxRefusals = 1000;

const quotaHint = 'Too many calls failed in a row to try any of them again.';
const deadlineHint = 'The wait before another attempt would not have ended before the deadline.';
