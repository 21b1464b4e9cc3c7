import { DeadlineError, type GateError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type Pacer, type Priority, unlimitedPacer } from '../base/pacing.ts';
import { type Clock, type Deadline, formatDuration } from '../base/time.ts';

/** Why an attempt failed, and when another one may be made. */
export interface AttemptFailure {
  error: GateError;
  /** `always`: the peer did nothing; `if-safe`: it may have acted, so only a request that may run twice is repeated. */
  repeat: 'always' | 'if-safe' | 'never';
  /** How long the peer asked to wait. */
  retryAfterMs?: number | undefined;
  /** How many attempts show that no other will succeed; the limit of the request unless given. */
  maxAttempts?: number;
  /** Whether the key is used too fast, so that every call slows down. */
  isRateLimited?: boolean;
}

export type AttemptOutcome<T = unknown> = { ok: true; answer: T } | ({ ok: false } & AttemptFailure);

/** What attempts are spread and bounded by. */
export interface RetryOptions {
  /** Whether the request may run twice. */
  isSafe: boolean;
  maxAttempts: number;
  priority?: Priority | undefined;
  clock: Clock;
  /** Spreads all attempts of a key; without one, attempts wait for nothing but their backoff. */
  pacer?: Pacer | undefined;
  /** Bounds the retries of all calls of a client together. */
  quota?: RetryQuota | undefined;
  /** Draws in [0, 1). */
  random: () => number;
  logger: Logger;
  signal: AbortSignal;
  /** No attempt and no wait begins that would go beyond any of them. */
  deadlines: readonly Deadline[];
}

/**
 * Makes attempts until one is answered: the only loop that repeats requests. Between two attempts it waits as long as the peer
 * asks, or backs off. Every attempt but the first is taken out of the quota, except where the peer refused the pace.
 *
 * @throws {DeadlineError} when a deadline had passed before the first attempt; afterwards the last attempt's error, which
 *   says whether any attempt may have been carried out
 */
export async function retryRequest<T>(
  attemptOnce: (remainingMs: number) => Promise<AttemptOutcome<T>>,
  options: RetryOptions,
): Promise<T> {
  const {
    isSafe,
    maxAttempts,
    priority,
    clock,
    pacer = unlimitedPacer,
    quota,
    random,
    logger,
    signal,
    deadlines,
  } = options;
  const startedAtMs = clock.monotonicMs();
  const readRemainingMs = () => Math.min(...deadlines.map((deadline) => deadline.remainingMs()));
  let lastError: GateError | undefined;
  let mayHaveHappened = false;
  /** Completes an attempt's error. A refusal says nothing about the attempts before it. */
  const fail = (error: GateError, advice?: string): GateError => {
    error.mayHaveHappened = mayHaveHappened;
    if (advice !== undefined) error.hint = error.hint === undefined ? advice : `${error.hint} ${advice}`;
    return error;
  };
  /** Why attempts were repeated explains more than that it took too long. */
  const endWithReason = (wait: Promise<void>) =>
    wait.catch((cause: unknown) => {
      if (lastError === undefined || !(signal.reason instanceof DeadlineError)) throw cause;
      throw fail(lastError, deadlineHint);
    });

  let attempts = 0;
  let refusals = 0;
  for (;;) {
    await endWithReason(pacer.waitForTurn({ priority, isRepeated: refusals > 0, signal }));
    if (readRemainingMs() === 0) {
      if (lastError !== undefined) throw fail(lastError, deadlineHint);
      for (const deadline of deadlines) deadline.throwIfPassed();
    }
    const outcome = await attemptOnce(readRemainingMs());
    if (outcome.ok) {
      pacer.speedUp();
      quota?.giveBack();
      return outcome.answer;
    }
    const { error, repeat, retryAfterMs, isRateLimited = false } = outcome;
    const most = isRateLimited ? maxRefusals : Math.min(maxAttempts, outcome.maxAttempts ?? maxAttempts);
    const tried = isRateLimited ? (refusals += 1) : (attempts += 1);
    if (isRateLimited) pacer.slowDown();
    mayHaveHappened ||= repeat === 'if-safe';
    if (repeat === 'never' || (repeat === 'if-safe' && !isSafe) || most === 1) throw fail(error);
    lastError = error;
    const remainingMs = readRemainingMs();
    const delayMs = decideRetryDelay({
      attempt: tried,
      maxAttempts: most,
      remainingMs,
      retryAfterMs,
      random: random(),
    });
    if (delayMs === undefined) {
      const elapsed = formatDuration(clock.monotonicMs() - startedAtMs);
      throw fail(error, tried < most ? deadlineHint : `It was tried ${attempts + refusals} times in ${elapsed}.`);
    }
    if (!isRateLimited && quota?.take() === false) throw fail(error, quotaHint);
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

/** Backoff without a hint from the server: base doubling from here, capped, drawn evenly from zero ("full jitter"). */
const baseDelayMs = 500;
const longestBackoffMs = 20_000;

/**
 * Decides how long to wait before attempt number `attempt + 1`, or `undefined` to stop trying. Pure: the random draw
 * comes in as `random` in [0, 1).
 *
 * A hint (the response's Retry-After, in milliseconds) is never undercut and gets at most a second of jitter on top;
 * a wait that would not end before the deadline is not begun. Full jitter as in "Exponential Backoff And Jitter",
 * AWS Architecture Blog, 2015.
 */
export function decideRetryDelay(input: {
  /** Attempts already made, 1 or more. */
  attempt: number;
  maxAttempts: number;
  remainingMs: number;
  retryAfterMs?: number | undefined;
  random: number;
}): number | undefined {
  if (input.attempt >= input.maxAttempts) return undefined;
  const hint = input.retryAfterMs ?? 0;
  const delayMs =
    hint > 0
      ? hint + input.random * Math.min(1000, hint / 10)
      : input.random * Math.min(longestBackoffMs, baseDelayMs * 2 ** (input.attempt - 1));
  return delayMs < input.remainingMs ? delayMs : undefined;
}

/** What may be spent on trying again, so that a service in trouble is not stormed by those who wait for it. */
export interface RetryQuota {
  /** Takes one retry out; false where none is left. */
  take(): boolean;
  /** Puts one back, for a call that was answered. */
  giveBack(): void;
}

/** Allows `retries` of them in a row, however many calls they belong to. */
export function createRetryQuota(retries: number): RetryQuota {
  let left = retries;
  return {
    take: () => {
      if (left === 0) return false;
      left -= 1;
      return true;
    },
    giveBack: () => {
      left = Math.min(retries, left + 1);
    },
  };
}

/**
 * Reads a Retry-After header into milliseconds: seconds (decimals allowed, as seen in the wild) or an HTTP date taken
 * relative to the response's own Date header, so that a wrong local clock does not matter. Undefined for anything that
 * asks for no wait or makes no sense. RFC 9110 §10.2.3.
 */
export function parseRetryAfter(value: string | undefined, dateHeader: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return positiveOrUndefined(Number(text) * 1000);
  // RFC 9110 dates start with a day name; Date.parse would also take "-5" or "1e3" for years.
  if (!/^[A-Za-z]{3}/.test(text)) return undefined;
  return positiveOrUndefined(Date.parse(text) - Date.parse(dateHeader ?? ''));
}

function positiveOrUndefined(milliseconds: number): number | undefined {
  return Number.isFinite(milliseconds) && milliseconds > 0 ? milliseconds : undefined;
}
