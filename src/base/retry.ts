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
