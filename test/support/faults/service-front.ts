import { constants } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { openRelayFront, type RelayFront } from './relay-front.ts';
import { findRoute, type Route } from './routes.ts';

/** One answer before it is sent. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** A request to which a fault applies. */
export interface Exchange {
  request: { method: string; path: string; headers: IncomingMessage['headers']; body: Buffer };
  /** Lets the service execute the request and returns its answer. */
  forward: (path?: string) => Promise<Reply>;
  reply: (reply: Reply) => void;
  /** The connection below, for faults that break HTTP itself. */
  socket: Socket;
}

/** The reaction to a request instead of its answer. Without any answer, the client waits. */
export type Fault = (exchange: Exchange) => void | Promise<void>;

/** The affected requests of a route: `count` of them, starting at number `from`. */
export interface Strike {
  route: Route;
  from: number;
  count: number;
  fault: Fault;
}

/** A proxy between a client and a service that forwards requests and breaks the requests that the test selects. */
export interface ServiceFront extends AsyncDisposable {
  /** `http://localhost:<port>`, or https. */
  origin: string;
  relay: RelayFront;
  strike(strike: Strike): void;
  /** Calls back when the nth request of a route arrives, before it is forwarded. */
  onRequest(route: Route, nth: number, callback: () => void): void;
  /** The number of requests of a route so far. */
  count(route: Route): number;
  /** All secrets in the service's answers. */
  secrets: Set<string>;
  /** Stops all traffic in both directions. */
  cut(): void;
  readonly openConnections: number;
  /** Presents another certificate to new connections; null restores the front's own. */
  setCertificate(certificate: SecureContextOptions | null): void;
}

const apiPath = '/api/v1';

/** Turns session resumption off, because a client that resumes a session does not check the certificate. */
const noResumption = { maxVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET } as const;

/** Starts the front. `pageSize` makes pages shorter than requested, so that there are several. */
export async function startServiceFront(
  serviceOrigin: string,
  options: { pageSize: number; certificate?: SecureContextOptions },
): Promise<ServiceFront> {
  const target = new URL(serviceOrigin);
  const scheme = options.certificate === undefined ? 'http' : 'https';
  const strikes: Strike[] = [];
  const listeners: Array<{ route: Route; nth: number; callback: () => void }> = [];
  const counts = new Map<Route, number>();
  const secrets = new Set<string>();
  const sockets = new Set<Socket>();
  let isCut = false;
  let { certificate } = options;

  const handle = (incoming: IncomingMessage, response: ServerResponse) => {
    response.on('error', () => {});
    void answer(incoming, response).catch(() => response.destroy());
  };
  const server =
    options.certificate === undefined
      ? createServer(handle)
      : createTlsServer(
          {
            ...options.certificate,
            ...noResumption,
            SNICallback: (_, done) => done(null, createSecureContext(certificate)),
          },
          handle,
        );
  server.on('tlsClientError', (_: Error, socket: Socket) => socket.destroy());
  server.on('connection', (socket: Socket) => {
    if (isCut) return socket.destroy();
    sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `${scheme}://localhost:${port}`;
  const relay = openRelayFront(serviceOrigin.replace('http', 'ws'), server);

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = incoming;
    const [path = ''] = url.split('?');
    if (!path.startsWith(apiPath)) return passOn(incoming, response);
    const route = findRoute(method, path.slice(apiPath.length));
    const request = { method, path: url, headers: incoming.headers, body: await readBody(incoming) };
    const reply = ({ status, headers, body }: Reply) => {
      // Every request gets a separate connection, so that a broken one does not affect the others.
      response.writeHead(status, { ...headers, 'content-length': body.length, connection: 'close' }).end(body);
    };
    const forward = async (otherPath = url): Promise<Reply> => {
      const wanted = route === 'page' ? otherPath.replace('limit=200', `limit=${options.pageSize}`) : otherPath;
      // The service uses the requested address as its own; without TLS, it must keep that address.
      const headers = scheme === 'https' ? { ...request.headers, host: target.host } : request.headers;
      const given = await forwardRequest(target, { ...request, headers, path: wanted });
      const text = given.body.toString().replace(`"ws://${target.host}`, `"wss://localhost:${port}`);
      if (route === 'grant') for (const secret of readSecrets(text)) secrets.add(secret);
      return { ...given, body: Buffer.from(text) };
    };
    if (route === null) return reply(await forward());
    const nth = (counts.get(route) ?? 0) + 1;
    counts.set(route, nth);
    for (const listener of listeners) if (listener.route === route && listener.nth === nth) listener.callback();
    const strike = strikes.find(
      (candidate) => candidate.route === route && nth >= candidate.from && nth < candidate.from + candidate.count,
    );
    if (strike === undefined) return reply(await forward());
    await strike.fault({ request, forward, reply, socket: incoming.socket });
  }

  /** Forwards traffic that is not a call of the API unchanged. */
  function passOn(incoming: IncomingMessage, response: ServerResponse): void {
    const { method, url, headers } = incoming;
    const outgoing = sendRequest({ host: target.hostname, port: target.port, method, path: url, headers }, (given) => {
      response.writeHead(given.statusCode ?? 502, given.rawHeaders);
      response.flushHeaders();
      given.pipe(response);
      given.on('error', () => response.destroy());
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  return {
    origin,
    relay,
    secrets,
    strike: (strike) => void strikes.push(strike),
    onRequest: (route, nth, callback) => void listeners.push({ route, nth, callback }),
    count: (route) => counts.get(route) ?? 0,
    cut: () => {
      isCut = true;
      relay.close(1006);
      for (const socket of sockets) socket.destroy();
    },
    get openConnections() {
      return sockets.size;
    },
    setCertificate: (other) => {
      certificate = other ?? options.certificate;
    },
    [Symbol.asyncDispose]: async () => {
      relay[Symbol.dispose]();
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function forwardRequest(target: URL, { method, path, headers, body }: Exchange['request']): Promise<Reply> {
  const outgoing = sendRequest({ host: target.hostname, port: target.port, method, path, headers });
  outgoing.end(body);
  const [given] = (await once(outgoing, 'response')) as [IncomingMessage];
  const kept = Object.entries(given.headers).flatMap(([name, value]) =>
    typeof value === 'string' && !['connection', 'keep-alive', 'transfer-encoding', 'content-length'].includes(name)
      ? [[name, value] as const]
      : [],
  );
  return { status: given.statusCode ?? 0, headers: Object.fromEntries(kept), body: await readBody(given) };
}

async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(message, 'end');
  return Buffer.concat(chunks);
}

function readSecrets(grant: string): string[] {
  try {
    const { connectToken, url } = JSON.parse(grant) as { connectToken?: string; url?: string };
    return [connectToken, URL.parse(url ?? '')?.searchParams.get('k')].filter((secret) => typeof secret === 'string');
  } catch {
    return [];
  }
}
