import { hash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { Secret } from '../base/redaction.ts';
import type { Clock } from '../base/time.ts';
import { isLoopback } from '../http/url.ts';
import { ApiError } from './envelope.ts';

/**
 * Refuses a Host that is not a loopback name: a web page can make its own name resolve to 127.0.0.1 (DNS rebinding),
 * and then only the Host header distinguishes it from a client of this machine.
 */
export function requireLoopbackHost(): MiddlewareHandler {
  return async (context, next) => {
    const { hostname } = new URL(context.req.url);
    if (!isLoopback(hostname)) {
      throw new ApiError(
        'FORBIDDEN',
        `This service answers to loopback names only, not to ${JSON.stringify(hostname)}.`,
      );
    }
    await next();
  };
}

/** Demands `Authorization: Bearer <key>`. */
export function requireApiKey(apiKey: Secret): MiddlewareHandler {
  const expected = digestText(apiKey.reveal());
  return async (context, next) => {
    const presented = parseBearer(context.req.header('authorization'));
    if (presented === undefined) throw new ApiError('UNAUTHORIZED', 'Bearer token required');
    if (!isSecretOf(presented, expected)) throw new ApiError('UNAUTHORIZED', 'Invalid API key');
    await next();
  };
}

/** Reads the token of an Authorization header; undefined where there is none. */
export function parseBearer(header: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
}

/** SHA-256 of a text. */
export function digestText(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Compares a presented secret with the digest of the right one, so that neither length nor prefix shows in the time. */
export function isSecretOf(presented: string, expected: Buffer): boolean {
  return timingSafeEqual(digestText(presented), expected);
}

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
