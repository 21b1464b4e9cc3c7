import type { MiddlewareHandler } from 'hono';
import type { Clock } from '../base/time.ts';
import { ApiError } from './envelope.ts';

export interface RateLimit {
  perMinute: number;
  burst: number;
}

/**
 * Charges every request one token of a bucket that holds `burst` and refills evenly; an empty bucket answers 429 with
 * the whole seconds until the next token, 1 or more.
 */
export function limitRate(clock: Clock, limit: RateLimit): MiddlewareHandler {
  const refillMs = 60_000 / limit.perMinute;
  let tokens = limit.burst;
  let countedAtMs = clock.monotonicMs();
  return async (_context, next) => {
    const nowMs = clock.monotonicMs();
    tokens = Math.min(limit.burst, tokens + (nowMs - countedAtMs) / refillMs);
    countedAtMs = nowMs;
    if (tokens < 1) {
      const retryAfterSeconds = Math.max(1, Math.ceil(((1 - tokens) * refillMs) / 1000));
      throw new ApiError('RATE_LIMITED', `More than ${limit.perMinute} requests per minute.`, { retryAfterSeconds });
    }
    tokens -= 1;
    await next();
  };
}
