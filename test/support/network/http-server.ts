import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

export interface ReceivedRequest {
  method: string;
  /** The path and query as received. */
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Answers one request. Until the response is ended, the client waits, at most until the server is disposed. */
export type Answer = (response: ServerResponse, request: ReceivedRequest) => void | Promise<void>;

export interface TestHttpServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  origin: string;
  port: number;
  /** All received requests, oldest first. */
  requests: ReceivedRequest[];
}

/**
 * Starts a loopback server that gives the first answer to the first request, the second to the second, and so on. The last one answers all
 * further requests. A single function answers all requests.
 */
export async function startHttpServer(script: Answer | readonly Answer[]): Promise<TestHttpServer> {
  const answers = typeof script === 'function' ? [script] : script;
  const requests: ReceivedRequest[] = [];
  const server = createServer((incoming, response) => {
    // A client that gives up breaks its connection. Many tests do that, and it is no failure of the server.
    response.on('error', () => {});
    void (async () => {
      const place = requests.length;
      const { method = '', url = '', headers } = incoming;
      const request: ReceivedRequest = { method, url, headers, body: '' };
      requests.push(request);
      request.body = await readText(incoming);
      await answers[Math.min(place, answers.length - 1)]!(response, request);
    })().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function json(status: number, body: unknown, headers: OutgoingHttpHeaders = {}): Answer {
  return raw(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
}

export function raw(status: number, body: string | Buffer, headers: OutgoingHttpHeaders = {}): Answer {
  return (response) => {
    response.writeHead(status, headers).end(body);
  };
}

/** Breaks the connection without an answer. */
export const hangUp: Answer = (response) => {
  response.destroy();
};

/** Returns a port on which nothing listens. */
export async function findClosedPort(): Promise<number> {
  await using server = await startHttpServer([]);
  return server.port;
}
