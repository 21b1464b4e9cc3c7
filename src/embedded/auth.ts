import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { Secret } from '../base/redaction.ts';
import { ApiError } from './envelope.ts';

const loopbackHosts = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Refuses a Host that is not a loopback name: a web page can make its own name resolve to 127.0.0.1 (DNS rebinding),
 * and then only the Host header tells it apart from a client of this machine.
 */
export function requireLoopbackHost(): MiddlewareHandler {
  return async (context, next) => {
    const { hostname } = new URL(context.req.url);
    if (!loopbackHosts.has(hostname)) {
      throw new ApiError(
        'FORBIDDEN',
        `This service answers to loopback names only, not to ${JSON.stringify(hostname)}.`,
      );
    }
    await next();
  };
}

/** Demands `Authorization: Bearer <key>`. Digests are compared, so that neither length nor prefix shows in the time. */
export function requireApiKey(apiKey: Secret): MiddlewareHandler {
  const expected = digest(apiKey.reveal());
  return async (context, next) => {
    const presented = /^Bearer +(\S+) *$/i.exec(context.req.header('authorization') ?? '')?.[1];
    if (presented === undefined) throw new ApiError('UNAUTHORIZED', 'Bearer token required');
    if (!timingSafeEqual(digest(presented), expected)) throw new ApiError('UNAUTHORIZED', 'Invalid API key');
    await next();
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
