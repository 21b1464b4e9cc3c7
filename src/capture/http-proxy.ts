import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isLoopback } from '../http/url.ts';
import { createBodyReader } from './http-messages.ts';
import type { Origin } from './frames.ts';
import type { Side } from './pass-through.ts';

/** A proxy in front of a server over streamable HTTP. Disposing it ends its connections. */
export interface HttpProxy extends AsyncDisposable {
  readonly port: number;
}

interface ProxyOptions {
  /** 0 for a free one. */
  port: number;
  /** Names the URL for the path and the query of a request. */
  target: (path: string) => URL;
  /** Gets each message. No header is among what it gets. */
  onMessage: (from: Side, text: string, origin: Origin) => void;
}

/** Headers of one connection, RFC 9110 §7.6.1. */
const ofConnection = /^(?:connection|keep-alive|proxy-connection|upgrade)$/i;

const sessionHeader = 'mcp-session-id';

/**
 * Passes requests on 127.0.0.1 to a server, and its answers back as they come: statuses, headers and bodies are those of the server. A client
 * that disconnects ends its request at the server.
 *
 * @throws if the port is taken
 */
export async function openHttpProxy({ port, target, onMessage }: ProxyOptions): Promise<HttpProxy> {
  const sessions = new Map<string, number>();
  let exchanges = 0;
  /** The ids of sessions are no more than numbers here. Clients without a session may use the same ids for their requests at once. */
  const locate = (id: unknown, exchange: number): Origin => {
    if (typeof id !== 'string') return { exchange };
    const session = sessions.get(id) ?? sessions.size + 1;
    sessions.set(id, session);
    return { session };
  };
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    // Otherwise, a page of another site could reach the server through a name that leads here.
    if (!isOwnHost(request.headers.host)) {
      response.writeHead(403).end();
      return;
    }
    const url = target(request.url ?? '/');
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const outgoing = send(url, {
      method: request.method ?? 'GET',
      headers: copyHeaders(request, url.host),
      agent: false,
    });
    const early: string[] = [];
    const exchange = (exchanges += 1);
    let origin: Origin | null = null;
    const readRequest = createBodyReader(request.headers, (text) => {
      if (origin === null) early.push(text);
      else onMessage('client', text, origin);
    });
    request.on('data', readRequest.add).on('end', readRequest.end);
    outgoing.once('response', (incoming) => {
      // The answer to the first request of a session names it.
      const own = locate(request.headers[sessionHeader] ?? incoming.headers[sessionHeader], exchange);
      origin = own;
      for (const text of early) onMessage('client', text, own);
      passBack(incoming, response, (text) => onMessage('server', text, own));
    });
    outgoing.once('error', () => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    response.once('close', () => outgoing.destroy());
    request.pipe(outgoing);
  });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen({ host: '127.0.0.1', port }, resolve);
  await listening;
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await Promise.resolve();
    },
  };
}

function isOwnHost(host: string | undefined): boolean {
  const { hostname = '' } = URL.parse(`http://${host ?? ''}`) ?? {};
  return isLoopback(hostname);
}

/** Copies the headers as they are written, apart from those of the connection. */
function copyHeaders({ rawHeaders }: IncomingMessage, host: string): string[] {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  const kept = names.flatMap((name, index) => {
    const value = rawHeaders[2 * index + 1] ?? '';
    return ofConnection.test(name) || /^host$/i.test(name) ? [] : [name, value];
  });
  return ['Host', host, ...kept];
}

function passBack(incoming: IncomingMessage, response: ServerResponse, onText: (text: string) => void): void {
  const { rawHeaders } = incoming;
  const headers = rawHeaders.filter((_, index) => !ofConnection.test(rawHeaders[index - (index % 2)] ?? ''));
  response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, headers);
  // A stream without an event yet has to reach the client, too.
  response.flushHeaders();
  const reader = createBodyReader(incoming.headers, onText);
  incoming.on('data', reader.add).on('end', reader.end);
  incoming.once('error', () => response.destroy());
  incoming.pipe(response);
}
