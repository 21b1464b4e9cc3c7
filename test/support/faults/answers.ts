import type { Exchange, Fault, Reply } from './service-front.ts';

/** Answers that the front sends instead of the service, which never receives the request. */

const jsonType = { 'content-type': 'application/json' };

export function refuse(
  status: number,
  code: string,
  options: { headers?: Record<string, string>; details?: Record<string, unknown> } = {},
): Fault {
  const { headers = {}, details } = options;
  return answer(status, JSON.stringify({ code, message: `It says ${code}.`, details }), { ...jsonType, ...headers });
}

/** A 429 because the key is used too fast. */
export function limit(headers: Record<string, string> = {}): Fault {
  return refuse(429, 'RATE_LIMITED', { headers });
}

export const full: Fault = refuse(429, 'RATE_LIMITED', {
  details: { reason: 'CONCURRENT_RUN_LIMIT', maxConcurrentRuns: 2 },
});

/** An HTML page of a proxy. */
export function page(status: number): Fault {
  return answer(status, '<html><h1>::error::Hello</h1></html>', { 'content-type': 'text/html' });
}

export function answer(status: number, body: string, headers: Record<string, string> = jsonType): Fault {
  return ({ reply }) => reply({ status, headers, body: Buffer.from(body) });
}

export const redirect: Fault = answer(307, '', { location: 'https://elsewhere.test/api/v1' });

/** The service executes the request, but the fault's answer is sent. */
export function afterwards(fault: Fault): Fault {
  return async (exchange) => {
    await exchange.forward();
    await fault(exchange);
  };
}

/** Sends the service's own answer with changed JSON. */
export function alter(change: (value: Record<string, unknown>, exchange: Exchange) => unknown): Fault {
  return async (exchange) => {
    const given = await exchange.forward();
    const value = change(JSON.parse(given.body.toString()) as Record<string, unknown>, exchange);
    exchange.reply({ ...given, body: Buffer.from(JSON.stringify(value)) });
  };
}

/** Sends the service's own answer with changed bytes. */
function rewrite(change: (given: Reply) => Reply): Fault {
  return async ({ forward, reply }) => reply(change(await forward()));
}

/** A whole body whose JSON ends in the middle. */
export const cutJson: Fault = rewrite((given) => ({ ...given, body: given.body.subarray(0, given.body.length / 2) }));

/** Adds unknown fields to all objects. */
export const unknownFields: Fault = alter((value) => addFields(value));

function addFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addFields);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, addFields(field)]);
  return { ...Object.fromEntries(fields), 'x-new': { deep: [1] }, constructor: 'c', toString: 't' };
}
