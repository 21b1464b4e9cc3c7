import { DeadlineError, type GateError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type Pacer, type Priority, unlimitedPacer } from '../base/pacing.ts';
import { type Clock, type Deadline, formatDuration } from '../base/time.ts';

/** The reason why an attempt failed, with the conditions for another one. */
export interface AttemptFailure {
  error: GateError;
  /** `always`: the peer did nothing; `if-safe`: it may have acted, so only a request that may run twice is repeated. */
  repeat: 'always' | 'if-safe' | 'never';
  /** The wait that the peer asked for, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** The number of attempts after which no other can succeed; by default the limit of the request. */
  maxAttempts?: number;
  /** True if the key is used too fast, so that every call has to slow down. */
  isRateLimited?: boolean;
}

export type AttemptOutcome<T = unknown> = { ok: true; answer: T } | ({ ok: false } & AttemptFailure);

/** The pace and the limits of attempts. */
export interface RetryOptions {
  /** True if the request may run twice. */
  isSafe: boolean;
  maxAttempts: number;
  priority?: Priority | undefined;
  clock: Clock;
  /** Spreads all attempts of a key. Without it, attempts wait only for their backoff. */
  pacer?: Pacer | undefined;
  /** Bounds the retries of all calls of a client together. */
  quota?: RetryQuota | undefined;
  /** Draws in [0, 1). */
  random: () => number;
  logger: Logger;
  signal: AbortSignal;
  /** No attempt and no wait begins if it would exceed one of these. */
  deadlines: readonly Deadline[];
}

/**
 * Makes attempts until one is answered. No other loop repeats requests. Between two attempts it waits as long as the peer asks, or backs
 * off. Every attempt after the first one uses the quota, unless the peer refused the pace.
 *
 * @throws {DeadlineError} if a deadline passed before the first attempt; afterwards the last attempt's error, which says if the service
 * may have carried out any attempt
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
  /** Completes the error of an attempt. `mayHaveHappened` covers all attempts, since a refusal says nothing about the earlier ones. */
  const fail = (error: GateError, advice?: string): GateError => {
    error.mayHaveHappened = mayHaveHappened;
    if (advice !== undefined) error.hint = error.hint === undefined ? advice : `${error.hint} ${advice}`;
    return error;
  };
  /** Replaces an error about the time by the last attempt's error, which explains more. */
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
 * A service that refuses the pace works well, and jobs that share a key get their turn in the end. So the deadline bounds these attempts;
 * this limit matters only if there is none.
 */
const maxRefusals = 1000;

const quotaHint = 'Too many calls failed in a row to try any of them again.';
const deadlineHint = 'The wait before another attempt would not have ended before the deadline.';

/**
 * The backoff without a wait that the server names: it doubles from this base up to a limit, and is drawn evenly from zero ("full
 * jitter").
 */
const baseDelayMs = 500;
const longestBackoffMs = 20_000;

/**
 * Decides how long to wait before attempt number `attempt + 1`, in milliseconds; `undefined` to stop. Pure: the caller draws `random` in
 * [0, 1).
 *
 * The hint (the response's Retry-After, in milliseconds) is the minimum; at most a second of jitter is added to it. A wait that would not
 * end before the deadline does not begin. Full jitter as in "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
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

/** Bounds the retries, so that callers who wait for a service in trouble do not flood it. */
export interface RetryQuota {
  /** Takes one retry; false if none is left. */
  take(): boolean;
  /** Gives one retry back, after an answered call. */
  giveBack(): void;
}

/** Allows `retries` in a row, however many calls they belong to. */
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
 * Reads a Retry-After header into milliseconds: seconds (some servers send decimals), or an HTTP date relative to the response's own Date
 * header, so that a wrong local clock does not matter. Undefined for a value that is invalid or asks for no wait. RFC 9110 §10.2.3.
 */
export function parseRetryAfter(value: string | undefined, dateHeader: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return positiveOrUndefined(Number(text) * 1000);
  // RFC 9110 dates start with a day name; Date.parse would also read "-5" or "1e3" as years.
  if (!/^[A-Za-z]{3}/.test(text)) return undefined;
  return positiveOrUndefined(Date.parse(text) - Date.parse(dateHeader ?? ''));
}

function positiveOrUndefined(milliseconds: number): number | undefined {
  return Number.isFinite(milliseconds) && milliseconds > 0 ? milliseconds : undefined;
}
