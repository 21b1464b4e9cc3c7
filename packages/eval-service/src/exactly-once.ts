import type { z } from 'zod';
import { findAnswer, type IdempotentRequest } from './request.ts';
import type { Store } from './store/open-store.ts';

/** The answer to a request. `isRepeat` is true if it belongs to an earlier request with the same key. */
export interface OnceAnswer<Answer> {
  answer: Answer;
  isRepeat: boolean;
}

export type ExactlyOnce = <Answer>(
  request: IdempotentRequest | undefined,
  answer: z.ZodType<Answer>,
  work: () => Promise<Answer>,
) => Promise<OnceAnswer<Answer>>;

/**
 * Makes the function that does the work of a keyed request once: a repeat gets the stored answer. If two requests run at the same time, the
 * later one waits. The work stores its answer itself, in the transaction of its other writes. If the work fails, no answer is stored, and a
 * repeat does the work again. A request without a key is always new.
 */
export function createExactlyOnce(store: Store): ExactlyOnce {
  const underWay = new Map<string, Promise<unknown>>();
  return async (request, schema, work) => {
    if (request === undefined) return { answer: await work(), isRepeat: false };
    const lane = JSON.stringify([request.scope, request.key]);
    while (underWay.has(lane)) await underWay.get(lane)?.catch(() => {});
    const kept = findAnswer(store, request, schema);
    if (kept !== undefined) return { answer: kept, isRepeat: true };
    const working = work();
    underWay.set(lane, working);
    try {
      return { answer: await working, isRepeat: false };
    } finally {
      underWay.delete(lane);
    }
  };
}
