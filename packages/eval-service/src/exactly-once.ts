import type { z } from 'zod';
import { findAnswer, type IdempotentRequest } from './request.ts';
import type { Store } from './store/open.ts';

/** The answer to a request, and whether an earlier one with the same key got it first. */
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
 * Makes what does the work of a keyed request once: a repeat gets the answer that was kept. Of two at the same time the later one
 * waits. The work keeps its answer itself, in the transaction that writes the rest. Work that fails keeps none, and a repeat does it
 * again. A request without a key is always new.
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
