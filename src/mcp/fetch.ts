import type { FetchLike } from '@modelcontextprotocol/client';
import { Agent, type Dispatcher } from 'undici';
import { exchange, type ExchangeRequest } from '../http/exchange.ts';
import { createTrafficBudget, type TrafficBudget } from './traffic-budget.ts';

/** Node gives up on a response after five silent minutes; a tool may take as long as its case allows. */
const unlimitedAgent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** The limits of the answer to the end of a session. */
const goodbyeLimits = { bytes: 64 * 1024, events: 100, values: 10_000, structures: 10_000, depth: 100, requests: 1 };

/**
 * The most requests of one session that may wait for their responses. A server that sends its client thousands of requests at once would
 * otherwise fill the queue of connections, and block the request that ends the session.
 */
const maxWaiting = 16;

/**
 * Makes the fetch of a session. It has no time limit, since the iteration has one, and counts towards the budget. It follows no
 * redirects: the SDK does, within the origin. The request that ends the session ignores the budget, because a server may keep a process
 * for each session. `dispatcher` makes the connections; by default all sessions share one.
 */
export function createFetch(budget: TrafficBudget, dispatcher: Dispatcher = unlimitedAgent): FetchLike {
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
  const channel = openChannel(budget, dispatcher);
  return async (url, init = {}) => {
    if (init.method === 'DELETE') {
      const goodbye = openChannel(createTrafficBudget(goodbyeLimits, 'for the end of a session'), dispatcher);
      return await goodbye.send(url, goodbye.prepare(init));
    }
    const request = channel.prepare(init);
    await takeTurn();
    try {
      return await channel.send(url, request);
    } finally {
      endTurn();
    }
  };
}

/** Requests that count towards one budget, and end with it. */
interface Channel {
  /** @throws {ExcessError} if the request exceeds the limit. */
  prepare(init: RequestInit): ExchangeRequest;
  send(url: string | URL, request: ExchangeRequest): Promise<Response>;
}

function openChannel(budget: TrafficBudget, dispatcher: Dispatcher): Channel {
  return {
    prepare: ({ method = 'GET', headers, body, signal }) => {
      budget.addRequest();
      return {
        method,
        headers: headers instanceof Headers ? headers : new Headers(headers),
        body: typeof body === 'string' ? body : null,
        signals: signal == null ? [budget.signal] : [budget.signal, signal],
      };
    },
    send: (url, request) => exchange(dispatcher, url, request, (type) => budget.openCount(type)),
  };
}
