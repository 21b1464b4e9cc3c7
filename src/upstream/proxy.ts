import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIPv6, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { describeError } from '../base/errors.ts';
import { type LoopbackService, serveConnections } from '../http/loopback-service.ts';
import type { Authority } from './certificate.ts';
import { maxBodyBytes, refuseRequest, type UpstreamAnswer, type UpstreamSession } from './exchange.ts';

/** The target of the requests on a connection, such as `https://api.example.com`. */
type Origin = `${'http' | 'https'}://${string}`;

/** The first byte of a TLS handshake, RFC 8446 §5.1. */
const tlsHandshake = 0x16;

/**
 * Serves HTTP and HTTPS clients as their proxy: the session answers every request, and nothing is forwarded. HTTPS is decrypted with a
 * certificate of the authority. A client that sends `GET https://…` without a tunnel is served, too: some libraries do.
 */
export function openProxy(
  listener: Server,
  { authority, session }: { authority: Authority; session: UpstreamSession },
): LoopbackService {
  const origins = new WeakMap<Duplex, Origin>();
  const http = createServer({ keepAlive: true, requestTimeout: 0 }, (request, response) => {
    void serve(request, response, { session, origin: origins.get(request.socket) ?? null });
  });
  http.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {});
    const authorityOfTarget = request.url ?? '';
    const host = readHost(authorityOfTarget);
    if (host === null) {
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      return;
    }
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const begin = (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      const isTls = first[0] === tlsHandshake;
      const inner = isTls ? openTls(socket, { authority, host, session }) : socket;
      origins.set(inner, `${isTls ? 'https' : 'http'}://${authorityOfTarget}`);
      http.emit('connection', inner);
      if (!isTls) socket.resume();
    };
    if (head.length > 0) begin(head);
    else socket.once('data', begin);
  });
  http.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => {});
    const url = readUrl(request, origins.get(socket) ?? null);
    session.refuse(
      `The server opened a connection with the protocol ${JSON.stringify(request.headers.upgrade)} to ${describeTarget(url)}, which cannot be recorded`,
    );
    socket.end('HTTP/1.1 501 Not Implemented\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  });
  http.on('clientError', (_error, socket) => {
    // Something else than HTTP, such as HTTP/2 without an agreement or a database.
    const origin = origins.get(socket);
    if (origin !== undefined && socket.writable && !socket.destroyed) {
      session.refuse(`The server sent something else than HTTP/1.1 to ${origin}, which cannot be recorded`);
    }
    socket.destroy();
  });
  return serveConnections(listener, http);
}

function openTls(
  socket: Duplex,
  { authority, host, session }: { authority: Authority; host: string; session: UpstreamSession },
): TLSSocket {
  const inner = new TLSSocket(socket, {
    isServer: true,
    secureContext: authority.findContext(host),
    ALPNProtocols: ['http/1.1'],
  });
  inner.on('error', (error) => {
    const why = describeTlsError(error);
    if (why !== null) session.refuse(`The server's connection to https://${host} failed: ${why}`);
    socket.destroy();
  });
  return inner;
}

/** Explains what a client did not accept; null for a connection that only ended. */
function describeTlsError(error: Error): string | null {
  const text = describeError(error);
  if (
    /alert (?:unknown ca|bad certificate|certificate unknown)|unknown ca|bad certificate|certificate unknown/i.test(
      text,
    )
  ) {
    return 'it does not trust the certificate of the recorder. Its HTTP library reads none of the variables that name certificates';
  }
  if (/no application protocol|NO_APPLICATION_PROTOCOL/i.test(text)) {
    return 'it speaks only HTTP/2, which cannot be recorded';
  }
  return null;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { session, origin }: { session: UpstreamSession; origin: Origin | null },
): Promise<void> {
  request.on('error', () => {});
  response.on('error', () => {});
  try {
    const url = readUrl(request, origin);
    const body = await readAll(request);
    if (url === null) return send(response, refuseRequest('This is a proxy; it serves no requests of its own.', 400));
    if (body === null) {
      session.refuse(
        `The body of ${request.method} ${describeTarget(url)} is larger than ${maxBodyBytes / 1024 / 1024} MiB, the most that can be recorded`,
      );
      return send(response, refuseRequest('The body is too large to be recorded.', 413));
    }
    const answer = await session.answer({ method: request.method ?? 'GET', url, headers: joinHeaders(request), body });
    send(response, answer, request.method);
  } catch (error) {
    session.refuse(`The proxy could not answer a request of the server: ${describeError(error)}`);
    response.destroy();
  }
}

/** Headers of the connection to the API, RFC 9110 §7.6.1; this connection has its own. */
const ofConnection = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length)$/i;

function send(response: ServerResponse, { status, headers, body }: UpstreamAnswer, method = 'GET'): void {
  if (response.destroyed) return;
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  const raw = headers.flatMap(([name, value]) => (ofConnection.test(name) ? [] : [name, value]));
  response.writeHead(status, hasBody ? [...raw, 'content-length', String(body.length)] : raw);
  response.end(hasBody ? body : undefined);
}

/** Reads a body to its end; null if it is too large. The rest is dropped then. */
async function readAll(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= maxBodyBytes) chunks.push(chunk);
  }
  return bytes > maxBodyBytes ? null : Buffer.concat(chunks);
}

function joinHeaders({ headersDistinct }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(', ')]));
}

/** A request in a tunnel has a path only; one without a tunnel has the whole URL. */
function readUrl({ url = '' }: IncomingMessage, origin: Origin | null): URL | null {
  if (/^https?:\/\//i.test(url)) return URL.parse(url);
  return origin === null ? null : URL.parse(`${origin}${url}`);
}

function describeTarget(url: URL | null): string {
  return url === null ? 'an unknown URL' : `${url.protocol}//${url.host}${url.pathname}`;
}

/** Reads the host of `host:port`; null for anything else. */
function readHost(target: string): string | null {
  const url = URL.parse(`https://${target}`);
  if (url === null || url.hostname === '') return null;
  const { hostname } = url;
  const bare = hostname.replaceAll(/^\[|\]$/g, '');
  return isIPv6(bare) ? bare : hostname;
}
