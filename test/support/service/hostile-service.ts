import { once } from 'node:events';
import { createServer, request as sendRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import type { ContractService } from './contract-service.ts';

export interface HostileRequest {
  /** `POST /projects/p_1/tunnels`, after the base URL. */
  what: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An answer that replaces the service's own. */
export interface HostileAnswer {
  status?: number;
  headers?: Record<string, string>;
  body: string;
}

/** Gets the service's answer and may replace it; undefined keeps it. */
export type Tamper = (request: HostileRequest, answer: string) => HostileAnswer | undefined;

export interface HostileService extends AsyncDisposable {
  baseUrl: string;
  apiKey: string;
  requests: HostileRequest[];
  /** The last granted tunnel. */
  grant: { url: string; connectToken: string; k: string } | null;
  /** The `authorization` headers of the relay's handshakes. */
  handshakes: string[];
}

type Grant = { url: string; connectToken: string; relayWsUrl: string };

/**
 * A proxy for a real service that forwards everything and may replace answers. The relay also leads through it; `refuseRelay` answers a handshake
 * instead of the relay.
 */
export async function startHostileService(
  service: ContractService,
  options: { tamper?: (self: HostileService) => Tamper; refuseRelay?: (authorization: string) => string } = {},
): Promise<HostileService> {
  const target = new URL(service.baseUrl);
  const server = createServer((incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    void (async () => {
      const body = await readText(incoming);
      const path = url.replace(/^\/api\/v1/, '');
      const request: HostileRequest = { what: `${method} ${path}`, headers, body };
      self.requests.push(request);
      const answer = await forward(target, { method, url, headers, body });
      readGrant(request, answer);
      const tampered = tamper?.(request, answer.body);
      const { status, headers: answerHeaders, body: text } = { ...answer, ...tampered };
      response.writeHead(status, { 'content-type': 'application/json', ...answerHeaders }).end(text);
    })().catch(() => response.destroy());
  });
  server.on('upgrade', (request, near, head) => {
    const { authorization = '' } = request.headers;
    self.handshakes.push(authorization);
    near.on('error', () => {});
    if (options.refuseRelay !== undefined) {
      near.end(options.refuseRelay(authorization));
      return;
    }
    const far = connect(Number(target.port), target.hostname, () => {
      const lines = [`GET ${request.url} HTTP/1.1`];
      for (let index = 0; index < request.rawHeaders.length; index += 2) {
        lines.push(`${request.rawHeaders[index]}: ${request.rawHeaders[index + 1]}`);
      }
      far.write(`${lines.join('\r\n')}\r\n\r\n`);
      far.write(head);
      near.pipe(far).pipe(near);
    });
    far.on('error', () => near.destroy());
    far.on('close', () => near.destroy());
    near.on('close', () => far.destroy());
  });

  /** Leads the relay through this server, and records the grant. */
  const readGrant = ({ what }: HostileRequest, answer: { status: number; body: string }) => {
    if (!/^POST \/projects\/[^/]+\/tunnels$/.test(what) || answer.status !== 201) return;
    const grant = JSON.parse(answer.body) as Grant;
    const { url, connectToken } = grant;
    self.grant = { url, connectToken, k: new URL(url).searchParams.get('k') ?? '' };
    answer.body = JSON.stringify({ ...grant, relayWsUrl: grant.relayWsUrl.replace(target.host, own.host) });
  };

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = new URL(target);
  own.port = String((server.address() as AddressInfo).port);
  const self: HostileService = {
    baseUrl: own.href,
    apiKey: service.apiKey,
    requests: [],
    grant: null,
    handshakes: [],
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const tamper = options.tamper?.(self);
  return self;
}

async function forward(
  target: URL,
  { method, url, headers, body }: { method: string; url: string; headers: IncomingHttpHeaders; body: string },
): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const { 'accept-encoding': _, host: __, ...passed } = headers;
  const request = sendRequest(new URL(url, target), { method, headers: passed }, (answer) => {
    readText(answer).then((text) => resolve({ status: answer.statusCode ?? 500, body: text }), reject);
  });
  request.on('error', reject).end(body);
  return await promise;
}
