import type { FetchLike } from '@modelcontextprotocol/client';
import { Agent, type Dispatcher } from 'undici';
import { exchange, type ExchangeRequest } from '../http/exchange.ts';
import { createTrafficBudget, type TrafficBudget } from './traffic-budget.ts';

/** Node gives up on a response after five silent minutes; a tool may take as long as its case allows. */
const unlimitedAgent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** What the end of a session may be answered with. */
const goodbyeLimits = { bytes: 64 * 1024, events: 100, values: 10_000, structures: 10_000, depth: 100, requests: 1 };

/**
 * Requests of one session that may wait for their responses. A server that asks its client for thousands of things at once would
 * otherwise fill the queue of connections, and the end of the session would not get through.
 */
const maxWaiting = 16;

/**
 * Makes the fetch of a session: without time limits of its own, since the iteration has one, and within the budget. It follows no
 * redirects: the SDK does, within the origin. The end of the session is sent whatever was spent, because a server may keep a process
 * for each. A `dispatcher` makes its connections; one that all sessions share unless given.
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
  /** @throws {ExcessError} when the request is one too many. */
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
