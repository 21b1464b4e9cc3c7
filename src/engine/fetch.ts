import type { FetchLike } from '@modelcontextprotocol/client';
import { Agent, fetch } from 'undici';
import { createTrafficBudget, type TrafficBudget } from '../base/traffic-budget.ts';

/** Node gives up on a response after five silent minutes; a tool may take as long as its case allows. */
const patientAgent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** What the end of a session may be answered with. */
const goodbyeLimits = { bytes: 64 * 1024, events: 100, values: 10_000, depth: 100, requests: 1 };

/**
 * Makes the fetch of a session: without time limits of its own, since the iteration has one, and within the budget. The end of
 * the session is sent whatever was spent, because a server may keep a process for each.
 */
export function createFetch(budget: TrafficBudget): FetchLike {
  return async (url, init = {}) => {
    const isGoodbye = init.method === 'DELETE';
    const spent = isGoodbye ? createTrafficBudget(goodbyeLimits, 'for the end of a session') : budget;
    spent.addRequest();
    const signals = [spent.signal, ...(init.signal ? [init.signal] : [])];
    const response = await fetch(url, {
      method: init.method ?? 'GET',
      headers: [...new Headers(init.headers)],
      body: typeof init.body === 'string' ? init.body : null,
      signal: AbortSignal.any(signals),
      redirect: init.redirect ?? 'follow',
      dispatcher: patientAgent,
    });
    return spent.watch(response);
  };
}
