import type { FetchLike } from '@modelcontextprotocol/client';
import { Agent, type Dispatcher, fetch } from 'undici';
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
  const channel = openChannel(budget);
  return async (url, init = {}) => {
    if (init.method === 'DELETE') {
      const goodbye = openChannel(createTrafficBudget(goodbyeLimits, 'for the end of a session'));
      return await goodbye.send(url, goodbye.prepare(init));
    }
    const request = channel.prepare(init);
    await takeTurn();
    try {
      request.signal.throwIfAborted();
      return await channel.send(url, request);
    } finally {
      endTurn();
    }
  };
}

interface Request {
  method: string;
  headers: Array<[string, string]>;
  body: string | null;
  redirect: NonNullable<RequestInit['redirect']>;
  signal: AbortSignal;
  dispatcher: Dispatcher;
}

/** Requests that count towards one budget, and end with it. */
interface Channel {
  /** @throws {ExcessError} when the request is one too many. */
  prepare(init: RequestInit): Request;
  send(url: string | URL, request: Request): Promise<Response>;
}

function openChannel(budget: TrafficBudget): Channel {
  const dispatcher = unlimitedAgent.compose(countResponses(budget));
  /** The SDK gives all requests of a session the same signal, and joining two costs more than it seems. */
  let last: { given: AbortSignal; joined: AbortSignal } | null = null;
  const joinBudget = (given: AbortSignal | null | undefined) => {
    if (given === null || given === undefined) return budget.signal;
    if (last?.given !== given) last = { given, joined: AbortSignal.any([budget.signal, given]) };
    return last.joined;
  };
  return {
    prepare: ({ method = 'GET', headers, body, redirect = 'follow', signal }) => {
      budget.addRequest();
      return {
        method,
        headers: [...(headers instanceof Headers ? headers : new Headers(headers))],
        body: typeof body === 'string' ? body : null,
        redirect,
        signal: joinBudget(signal),
        dispatcher,
      };
    },
    send: async (url, request) => {
      const response = await fetch(url, request);
      return isEncoded(response.headers.get('content-encoding')) ? budget.watch(response) : response;
    },
  };
}

/** Whether bytes of the body become other and more bytes before they are read. */
const isEncoded = (encoding: unknown): boolean => encoding !== undefined && encoding !== null && encoding !== '';

/**
 * Counts responses as their bytes arrive, which costs much less than a second body around each. Encoded ones are counted where they
 * are decoded.
 */
function countResponses(budget: TrafficBudget): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    let count: ((chunk: Uint8Array) => void) | null = null;
    return dispatch(options, {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onRequestUpgrade: (controller, status, headers, socket) =>
        handler.onRequestUpgrade?.(controller, status, headers, socket),
      onResponseStarted: () => handler.onResponseStarted?.(),
      onResponseStart: (controller, status, headers, statusText) => {
        const type = headers['content-type'];
        count = isEncoded(headers['content-encoding']) ? null : budget.openCount(typeof type === 'string' ? type : '');
        handler.onResponseStart?.(controller, status, headers, statusText);
      },
      onResponseData: (controller, chunk) => {
        // A limit that is crossed aborts the request, and with it the body.
        count?.(chunk);
        handler.onResponseData?.(controller, chunk);
      },
      onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
      onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
      onBodySent: (chunk) => handler.onBodySent?.(chunk),
      onRequestSent: () => handler.onRequestSent?.(),
    });
  };
}
