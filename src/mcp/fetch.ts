import type { FetchLike } from '@modelcontextprotocol/client';
import { Agent, fetch } from 'undici';
import { createTrafficBudget, type TrafficBudget } from './traffic-budget.ts';

/** Node gives up on a response after five silent minutes; a tool may take as long as its case allows. */
const unlimitedAgent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** What the end of a session may be answered with. */
const goodbyeLimits = { bytes: 64 * 1024, events: 100, values: 10_000, depth: 100, requests: 1 };

/**
 * Requests of one session that may wait for their responses. A server that asks its client for thousands of things at once would
 * otherwise fill the queue of connections, and the end of the session would not get through.
 */
const maxWaiting = 16;

/**
 * Makes the fetch of a session: without time limits of its own, since the iteration has one, and within the budget. The end of
 * the session is sent whatever was spent, because a server may keep a process for each.
 */
export function createFetch(budget: TrafficBudget): FetchLike {
  let waiting = 0;
  const turns: Array<() => void> = [];
  const takeTurn = async () => {
    waiting += 1;
    if (waiting > maxWaiting) await new Promise<void>((resolve) => turns.push(resolve));
  };
  const endTurn = () => {
    waiting -= 1;
    turns.shift()?.();
  };
  return async (url, init = {}) => {
    const isGoodbye = init.method === 'DELETE';
    const spent = isGoodbye ? createTrafficBudget(goodbyeLimits, 'for the end of a session') : budget;
    spent.addRequest();
    const signal = AbortSignal.any([spent.signal, ...(init.signal ? [init.signal] : [])]);
    const request = {
      method: init.method ?? 'GET',
      headers: [...new Headers(init.headers)],
      body: typeof init.body === 'string' ? init.body : null,
      signal,
      redirect: init.redirect ?? 'follow',
      dispatcher: unlimitedAgent,
    };
    if (isGoodbye) return spent.watch(await fetch(url, request));
    await takeTurn();
    try {
      signal.throwIfAborted();
      return spent.watch(await fetch(url, request));
    } finally {
      endTurn();
    }
  };
}
