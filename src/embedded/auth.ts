import type { MiddlewareHandler } from 'hono';
import type { Secret } from '../base/redaction.ts';
import { isLoopback } from '../http/url.ts';
import { digestText, isSecretOf } from './digest.ts';
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
