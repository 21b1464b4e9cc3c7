import type { FetchLike } from '@modelcontextprotocol/client';
import { Agent, fetch } from 'undici';

/** Node gives up on a response after five silent minutes; a tool may take as long as its case allows. */
const patientAgent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** The fetch of a session: without time limits of its own, since the iteration has one. */
export const fetchWithoutTimeouts: FetchLike = (url, init = {}) =>
  fetch(url, {
    method: init.method ?? 'GET',
    headers: [...new Headers(init.headers)],
    body: typeof init.body === 'string' ? init.body : null,
    signal: init.signal ?? null,
    redirect: init.redirect ?? 'follow',
    dispatcher: patientAgent,
  });
