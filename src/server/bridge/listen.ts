import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Clock } from '../../base/time.ts';
import { type Exchange, openExchange, type ProtocolAdapter, readBody, refuse } from './exchange.ts';
import { parseMessage, rpcErrorCodes } from './bridge-messages.ts';

/** The interval of comments on idle streams, well below the time-outs of proxies and HTTP clients. */
const tickMs = 5000;

/** Long enough that clients do not reuse a connection at the moment it is closed. */
const keepAliveTimeoutMs = 60_000;

/** An HTTP endpoint on loopback for servers on stdio. */
export interface Bridge extends AsyncDisposable {
  readonly url: string;
}

/** Makes the secret part of a bridge's URL. */
export function createToken(): string {
  return randomBytes(24).toString('base64url');
}

/**
 * Listens on 127.0.0.1 on a free port, below a path with the token, and passes accepted requests to `adapter`. Owns `adapter`.
 */
export async function openBridge(
  adapter: ProtocolAdapter,
  { token, ...options }: { token: string; clock: Clock; logger: Logger },
): Promise<Bridge> {
  const path = `/${token}/mcp`;
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs, requireHostHeader: false });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen({ host: '127.0.0.1', port: 0 }, resolve);
  await listening;
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const exchange = openExchange(request, response);
    const refusal = judgeRequest(request, { port, path });
    if (refusal !== null) {
      // The body of a refused request is not read, so the connection ends.
      refuse(exchange, refusal.status, { message: refusal.message, headers: { connection: 'close' } });
      return;
    }
    answer(adapter, exchange).catch((error: unknown) => {
      options.logger.debug(`A request to the bridge failed: ${describeError(error)}`);
      refuse(exchange, 500, { message: 'Internal error.' });
    });
  });
  server.on('connect', (_request, socket) => socket.destroy());

  const stopped = new AbortController();
  const ticking = (async () => {
    while (!stopped.signal.aborted) {
      await options.clock.sleep(tickMs, { signal: stopped.signal });
      adapter.tick();
    }
  })().catch(() => {});

  return {
    url: `http://127.0.0.1:${port}${path}`,
    [Symbol.asyncDispose]: async () => {
      stopped.abort();
      server.close();
      await adapter[Symbol.asyncDispose]();
      server.closeAllConnections();
      await ticking;
    },
  };
}

async function answer(adapter: ProtocolAdapter, exchange: Exchange): Promise<void> {
  const { request } = exchange;
  if (request.method === 'GET') return adapter.get(exchange);
  if (request.method === 'DELETE') return adapter.delete(exchange);
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    refuse(exchange, 415, { message: 'The Content-Type must be application/json.', headers: { connection: 'close' } });
    return;
  }
  const body = await readBody(exchange);
  if (body === undefined) return;
  const message = parseMessage(body);
  if (message === undefined) {
    const text = 'The body is not one JSON-RPC 2.0 message.';
    refuse(exchange, 400, { code: rpcErrorCodes.parseError, message: text });
    return;
  }
  await adapter.post(message, exchange);
}

/** The reason to refuse a request before its body is read. */
export interface Refusal {
  status: 400 | 403 | 404 | 405;
  message: string;
}

/**
 * Decides if a client may use the bridge: it needs the exact secret path, a Host that names this listener, and no Origin other than the
 * bridge's (MCP 2025-11-25, Transports, Security Warning). Null if the request may pass. A page that rebinds DNS cannot forge `Host`, a
 * browser always adds `Origin`, and other users of the machine cannot guess the path.
 */
export function judgeRequest(
  request: Pick<IncomingMessage, 'headersDistinct' | 'httpVersion' | 'url' | 'method'>,
  listener: { port: number; path: string },
): Refusal | null {
  const { host: hosts = [], origin: origins = [], upgrade } = request.headersDistinct;
  const own = [`127.0.0.1:${listener.port}`, `localhost:${listener.port}`];
  const [host] = hosts;
  if (hosts.length !== 1 || host === undefined || !own.includes(host.toLowerCase())) {
    return { status: 403, message: 'The Host header does not name this server.' };
  }
  if (!origins.every((origin) => own.some((name) => origin.toLowerCase() === `http://${name}`))) {
    return { status: 403, message: 'Requests from this Origin are not served.' };
  }
  if (!isSamePath(request.url ?? '', listener.path)) return { status: 404, message: 'Not found.' };
  // A request line that is cut off by a line break reads as HTTP/0.9.
  if (upgrade !== undefined || request.httpVersion !== '1.1') {
    return { status: 400, message: 'This server speaks HTTP/1.1 only.' };
  }
  if (!['POST', 'GET', 'DELETE'].includes(request.method ?? '')) return { status: 405, message: 'Method not allowed.' };
  return null;
}

function isSamePath(url: string, path: string): boolean {
  const given = Buffer.from(url);
  const expected = Buffer.from(path);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
