import type { MiddlewareHandler } from 'hono';
import type { Clock } from '../../../src/base/time.ts';
import { digestText, isSecretOf, parseBearer } from '../../../src/http/credentials.ts';
import { isLoopback } from '../../../src/http/url.ts';
import { type AcceptedKey, type ApiEnv, currentCaller } from './callers.ts';
import { ApiError, notFound } from './envelope.ts';
import type { Store } from './store/open-store.ts';

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

/** Requires `Authorization: Bearer <key>` with one of the keys, and stores the caller of the key in the context. */
export function requireCaller(keys: readonly AcceptedKey[]): MiddlewareHandler<ApiEnv> {
  const known = keys.map(({ secret, caller }) => ({ caller, digest: digestText(secret.reveal()) }));
  return async (context, next) => {
    const presented = parseBearer(context.req.header('authorization'));
    if (presented === undefined) throw new ApiError('UNAUTHORIZED', 'Bearer token required');
    const found = known.find(({ digest }) => isSecretOf(presented, digest));
    if (found === undefined) throw new ApiError('UNAUTHORIZED', 'Invalid API key');
    context.set('caller', found.caller);
    await currentCaller.run(found.caller, next);
  };
}

/** Applies a check only to a request that carries a key: a public operation also answers without one. */
export function whereKeyed(check: MiddlewareHandler<ApiEnv>): MiddlewareHandler<ApiEnv> {
  return async (context, next) =>
    context.req.header('authorization') === undefined ? await next() : await check(context, next);
}

/** Answers 404 for a project of another organization, and 403 for a guest who would change something. */
export function requireMembership(store: Store): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const { organizationId, role } = context.var.caller;
    const projectId = context.req.param('projectId');
    const project = projectId === undefined ? undefined : store.projects.get(projectId);
    if (project !== undefined && project.content.organizationId !== organizationId) throw notFound('Project');
    if (role === 'guest' && context.req.method !== 'GET') {
      throw new ApiError('FORBIDDEN', "A guest's key reads and changes nothing.");
    }
    await next();
  };
}

export interface RateLimit {
  perMinute: number;
  burst: number;
}

/**
 * Takes one token per request from the bucket of its key. The bucket holds `burst` tokens and refills evenly; an empty bucket answers 429
 * with the whole seconds until the next token, 1 or more.
 */
export function limitRate(clock: Clock, limit: RateLimit): MiddlewareHandler<ApiEnv> {
  const refillMs = 60_000 / limit.perMinute;
  const buckets = new Map<string, { tokens: number; countedAtMs: number }>();
  return async (context, next) => {
    const nowMs = clock.monotonicMs();
    const { keyId } = context.var.caller;
    const before = buckets.get(keyId) ?? { tokens: limit.burst, countedAtMs: nowMs };
    const tokens = Math.min(limit.burst, before.tokens + (nowMs - before.countedAtMs) / refillMs);
    buckets.set(keyId, { tokens: tokens < 1 ? tokens : tokens - 1, countedAtMs: nowMs });
    if (tokens < 1) {
      const retryAfterSeconds = Math.max(1, Math.ceil(((1 - tokens) * refillMs) / 1000));
      throw new ApiError('RATE_LIMITED', `More than ${limit.perMinute} requests per minute.`, { retryAfterSeconds });
    }
    await next();
  };
}
