import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Message } from './faults.ts';

/** One request to the HTTP shim. */
export interface HttpExchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** The JSON-RPC message of a POST; null for the other methods. */
  message: Message | null;
  /** Whether it calls the tool in the shim's arguments. */
  isTargetCall: boolean;
  /** Forgets the session of the request, once in the life of the shim. */
  loseSession: () => void;
  /** Asks the real server and resolves with the messages of its response. */
  collect: () => Promise<Message[]>;
}

/** Acts instead of the real server and returns `handled`, or lets the exchange pass. */
export type HttpFault = (exchange: HttpExchange) => Promise<'pass' | 'handled'> | 'pass' | 'handled';

const onTargetCall =
  (act: (exchange: HttpExchange) => unknown): HttpFault =>
  async (exchange) => {
    if (!exchange.isTargetCall) return 'pass';
    await act(exchange);
    return 'handled';
  };

const errorBody = (id: unknown, message: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code: -32_000, message } });

/** What only HTTP has. */
export const httpFaults = {
  'http-500-under-call': onTargetCall(({ response }) => {
    response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Internal Server Error</h1>');
  }),
  'http-session-lost': ({ isTargetCall, loseSession }) => {
    if (isTargetCall) loseSession();
    return 'pass';
  },
  'http-401': ({ response, message }) => {
    response
      .writeHead(401, { 'content-type': 'application/json', 'www-authenticate': 'Bearer realm="mcp"' })
      .end(errorBody(message?.['id'], 'Unauthorized'));
    return 'handled';
  },
  'http-redirect': ({ request, response }) => {
    if (request.url?.endsWith('/') === true) return 'pass';
    response.writeHead(307, { location: `${request.url ?? ''}/` }).end();
    return 'handled';
  },
  'http-cut-event': onTargetCall(async ({ response, collect }) => {
    const [answer] = await collect();
    const event = `event: message\ndata: ${JSON.stringify(answer)}`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event.slice(0, event.length / 2), () => response.destroy());
  }),
  'http-reset-under-call': onTargetCall(({ request }) => request.socket.resetAndDestroy()),
  'http-closes-connections': ({ request, response }) => {
    response.once('finish', () => request.socket.end());
    return 'pass';
  },
  'http-gzip': onTargetCall(async ({ response, collect }) => {
    const [answer] = await collect();
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      .end(gzipSync(JSON.stringify(answer)));
  }),
  'http-json-answers': onTargetCall(async ({ response, collect }) => {
    const [answer] = await collect();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }),
} satisfies Record<string, HttpFault>;

export type HttpFaultName = keyof typeof httpFaults;

export function isHttpFaultName(name: string): name is HttpFaultName {
  return Object.hasOwn(httpFaults, name);
}
