import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export interface ForwardProxy extends AsyncDisposable {
  /** `127.0.0.1:<port>` */
  place: string;
  /** The requests so far, oldest first: `CONNECT host:443` or `GET http://host/path`. */
  asked: string[];
  /** The `proxy-authorization` header of each request, in the same order. */
  credentials: Array<string | undefined>;
}

export interface ForwardProxyOptions {
  /** `user:password`; a request without them gets status 407. */
  credentials?: string;
  /** Answers all requests with this status. */
  refusal?: number;
  /** Redirects a host: `host:port` to a loopback port. */
  routes?: Readonly<Record<string, number>>;
}

/** Starts a loopback proxy that forwards plain http and uses CONNECT for everything else. */
export async function startForwardProxy(options: ForwardProxyOptions = {}): Promise<ForwardProxy> {
  const asked: string[] = [];
  const credentials: Array<string | undefined> = [];
  const open = new Set<Socket>();
  const expected =
    options.credentials === undefined ? undefined : `Basic ${Buffer.from(options.credentials).toString('base64')}`;

  const judge = (what: string, given: string | undefined): number => {
    asked.push(what);
    credentials.push(given);
    if (expected !== undefined && given !== expected) return 407;
    return options.refusal ?? 200;
  };

  const server = createServer((incoming, response) => {
    const status = judge(`${incoming.method} ${incoming.url}`, incoming.headers['proxy-authorization']);
    if (status !== 200) {
      response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>The proxy says no</h1>');
      return;
    }
    const outgoing = sendRequest(
      incoming.url ?? '',
      { method: incoming.method, headers: incoming.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  server.on('connect', (incoming, near: Socket) => {
    const target = incoming.url ?? '';
    near.on('error', () => {});
    const status = judge(`CONNECT ${target}`, incoming.headers['proxy-authorization']);
    if (status !== 200) {
      near.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const url = new URL(`http://${target}`);
    const far = connect(options.routes?.[target] ?? Number(url.port || 80), '127.0.0.1', () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      near.pipe(far).pipe(near);
    });
    far.on('error', () => near.destroy());
    far.on('close', () => near.destroy());
    near.on('close', () => far.destroy());
  });
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    place: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    credentials,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
