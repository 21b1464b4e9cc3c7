import type { Clock } from '../base/time.ts';
import { type Deadline, formatDuration } from '../base/time.ts';
import type { Logger } from '../base/logger.ts';
import { decideRetryDelay, parseRetryAfter } from '../base/retry.ts';
import { explainFailure, type FailedRequest, readFailedRequest } from './failure.ts';

export interface Patience {
  /** Names the request: `GET /repos/owner/name/pulls/7`. */
  what: string;
  /** Whether doing it twice is the same as doing it once. */
  isSafe: boolean;
  host: string;
  clock: Clock;
  deadline: Deadline;
  signal: AbortSignal;
  /** Draws in [0, 1) for the jitter of waits. */
  random: () => number;
  logger: Logger;
}

const maxAttempts = 4;

/** What GitHub asks for where a limit is exceeded and no header says how long to wait ("Rate limits for the REST API"). */
const secondaryLimitWaitMs = 60_000;

/**
 * Makes a request, again where GitHub asked to wait and where it may be repeated, as long as the deadline leaves time.
 *
 * @throws {GitHubError} when GitHub refuses
 * @throws {NetworkError} when no answer arrives
 */
export async function repeatPatiently<T>(send: () => Promise<T>, patience: Patience): Promise<T> {
  const { what, host, clock, deadline, signal, random, logger } = patience;
  for (let attempt = 1; ; attempt += 1) {
    deadline.throwIfPassed();
    try {
      return await send();
    } catch (error) {
      signal.throwIfAborted();
      const failed = readFailedRequest(error);
      const limitWaitMs = readLimitWaitMs(failed, clock);
      const mayRepeat = limitWaitMs !== undefined || (patience.isSafe && (failed.status ?? 500) >= 500);
      const remainingMs = deadline.remainingMs();
      const delayMs = mayRepeat
        ? decideRetryDelay({ attempt, maxAttempts, remainingMs, retryAfterMs: limitWaitMs, random: random() })
        : undefined;
      const told = explainFailure(failed, { what, host, isSafe: patience.isSafe, limitWaitMs });
      if (delayMs === undefined) throw told;
      logger.debug(`${told.message} Trying again in ${formatDuration(delayMs)}.`);
      await clock.sleep(delayMs, { signal });
    }
  }
}

/**
 * Reads how long GitHub asks to wait; undefined where the request was refused for another reason, or not at all. A limit
 * is answered with 403 or 429, before anything is carried out: with `retry-after`, with no requests remaining until
 * `x-ratelimit-reset` (seconds since 1970), or with a message alone.
 */
function readLimitWaitMs({ status, headers, message }: FailedRequest, clock: Clock): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const retryAfterMs = parseRetryAfter(headers['retry-after'], headers['date']);
  if (retryAfterMs !== undefined) return retryAfterMs;
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-remaining'] === '0' && reset > 0) {
    const nowMs = Date.parse(headers['date'] ?? '') || clock.now();
    return Math.max(1000, reset * 1000 - nowMs);
  }
  return status === 429 || /secondary rate limit|abuse detection/i.test(message) ? secondaryLimitWaitMs : undefined;
}
