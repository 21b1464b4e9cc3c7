import { createHash } from 'node:crypto';
import type { HonoRequest } from 'hono';
import type { z } from 'zod';
import { ApiError } from './envelope.ts';
import type { Store } from './store/open.ts';

/** The vendor's own spellings first, of either profile; the plain one is what the API's description promises. */
const keyHeaders = ['x-svc-idempotency-key', 'x-mcpjam-idempotency-key', 'idempotency-key'];
const longestKey = 256;

/** A request that is to be executed once: who repeats the key in the same scope gets the first answer again. */
export interface IdempotentRequest {
  /** What the key is unique in, such as the runs of one suite. */
  scope: string;
  key: string;
  /** The same for a repeat of the same request. */
  fingerprint: string;
}

/** Reads the key of a request, the body's before the headers'. A malformed one counts as absent, as in the API. */
export function readIdempotencyKey(request: HonoRequest, bodyKey?: string): string | undefined {
  const keys = [bodyKey, ...keyHeaders.map((name) => request.header(name))].map((key) => key?.trim());
  return keys.find((key) => key !== undefined && key.length > 0 && key.length <= longestKey);
}

/** Describes a keyed request; undefined where it carries no key. `body` is the request's, as it was read. */
export function describeRequest(scope: string, key: string | undefined, body: unknown): IdempotentRequest | undefined {
  if (key === undefined) return undefined;
  return { scope, key, fingerprint: createHash('sha256').update(JSON.stringify(body)).digest('hex') };
}

/**
 * Finds what was answered to the same request before; undefined where it is new. `answer` is what was kept.
 *
 * @throws {ApiError} CONFLICT when the key was used for something else: that answer belongs to another request.
 */
export function findAnswer<Answer>(
  store: Store,
  request: IdempotentRequest | undefined,
  answer: z.ZodType<Answer>,
): Answer | undefined {
  const found = request && store.idempotency.get(request.scope, request.key);
  if (found === undefined) return undefined;
  if (found.fingerprint !== request?.fingerprint) {
    throw new ApiError('CONFLICT', 'This idempotency key was used for a different request; use a new one.', {
      details: { reason: 'IDEMPOTENCY_CONFLICT' },
    });
  }
  return answer.parse(JSON.parse(found.answer));
}

/** Keeps the answer to a keyed request, in the transaction that did what was asked. */
export function keepAnswer(store: Store, request: IdempotentRequest | undefined, answer: unknown): void {
  if (request !== undefined) store.idempotency.insert({ ...request, answer: JSON.stringify(answer) });
}
