import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Clock } from '../../base/time.ts';
import { isPlainPath, readSecrets, relayPath } from '../target.ts';
import { parseBearer } from '../../http/credentials.ts';
import { isLoopback } from '../../http/url.ts';
import { type Agent, openAgent } from './agent-socket.ts';
import { refuseStream } from './refuse-stream.ts';
import { createGrantBook, type Grant } from './grants.ts';
import type { RelayLimits } from './relay-limits.ts';
import { type PublicExchange, readLength, refusals, sendRefusal } from './public-call.ts';
import { createTunnelTable } from './open-tunnels.ts';

/** The path on the service's origin at which hosts connect. */
export const agentPath = '/agent';

/** The relay: hosts on one side, callers of public URLs on the other. */
export interface RelayEdge extends Disposable {
  /** Grants a tunnel to a server. A host with an earlier grant is closed with 4002. */
  issue(serverId: string, lastVersion: number): Grant;
  /** Ends the grant of a server. Its host is closed with 4002. */
  revoke(serverId: string): void;
  /** Answers a request if it is for a tunnel; else returns false. */
  serve(exchange: PublicExchange): boolean;
  /** Accepts a host, or refuses any other upgrade. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void;
}

/** Two names of the same protocol, one for each service that speaks it. */
const subprotocols = new Set(['svc-tunnel.v1', 'mcpjam-tunnel.v1']);

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** The limit of frames without a body, which hold the headers of a response. */
const maxHeadBytes = 1024 * 1024;
const replacedCode = 4002;
const closeCodes = { invalid: 4000, superseded: replacedCode } as const;
/** RFC 6455 §7.4.1, going away. */
const goingAwayCode = 1001;

export function createRelayEdge({ clock, limits }: { clock: Clock; limits: RelayLimits }): RelayEdge {
  const grants = createGrantBook(clock);
  const tunnels = createTunnelTable(clock);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: Math.max(maxHeadBytes, limits.chunk * 2),
    perMessageDeflate: false,
    handleProtocols: (offered) => [...offered].find((name) => subprotocols.has(name)) ?? false,
  });

  const waitForAgent = async (serverId: string, response: ServerResponse): Promise<Agent | null> => {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    return tunnels.waitForAgent(serverId, { signal: gone.signal });
  };
  const answer = async (exchange: PublicExchange): Promise<void> => {
    const { request, response } = exchange;
    const address = parseAddress(request.url ?? '');
    if (address === null || !methods.has(request.method ?? '') || !isLoopbackHost(request)) {
      return sendRefusal(response, refusals.not_found);
    }
    const { serverId, secret } = address;
    if (secret === null || !grants.isSecret(serverId, secret)) return sendRefusal(response, refusals.unauthorized);
    if (readLength(request) > limits.maxReqBody) return sendRefusal(response, refusals.too_large);
    const agent = tunnels.findAgent(serverId) ?? (await waitForAgent(serverId, response));
    if (response.destroyed) return;
    if (agent === null) sendRefusal(response, refusals.no_host);
    else agent.serve(exchange);
  };

  return {
    issue: (serverId, lastVersion) => {
      tunnels.close(serverId, replacedCode);
      return grants.issue(serverId, lastVersion);
    },
    revoke: (serverId) => {
      grants.revoke(serverId);
      tunnels.close(serverId, replacedCode);
    },
    serve: (exchange) => {
      if (exchange.request.url?.startsWith(relayPath) !== true) return false;
      answer(exchange).catch(() => exchange.response.destroy());
      return true;
    },
    upgrade: (request, stream, head) => {
      const refusal = judgeUpgrade(request);
      if (refusal !== null) return refuseStream(stream, ...refusal);
      sockets.handleUpgrade(request, stream, head, (socket) => {
        const admitted = grants.admit(parseBearer(request.headers.authorization) ?? '');
        if (typeof admitted === 'string') {
          socket.on('error', () => {});
          socket.close(closeCodes[admitted]);
          return;
        }
        const { serverId, slug } = admitted;
        const onClose = (closeCode: number) => tunnels.disconnect(serverId, agent, closeCode);
        const agent = openAgent({ socket, stream }, { slug, limits, clock, onClose });
        tunnels.connect(serverId, agent);
      });
    },
    [Symbol.dispose]: () => {
      tunnels.closeAll(goingAwayCode);
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

/** Decides if an upgrade is refused, and with which status and message; null if a host may connect. */
function judgeUpgrade(request: IncomingMessage): [status: number, message?: string] | null {
  if (!isLoopbackHost(request)) return [403];
  if (request.url !== agentPath) return [404];
  // Hosts are programs. A browser always sends an origin, so an upgrade with one comes from a web page.
  if (request.headers.origin !== undefined) return [403];
  if (parseBearer(request.headers.authorization) === undefined) return [401];
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  return offered.some((name) => subprotocols.has(name)) ? null : [400, describeProtocols(offered)];
}

function describeProtocols(offered: readonly string[]): string {
  const known = [...subprotocols].join(' and ');
  const named = offered.filter((name) => name !== '').map((name) => JSON.stringify(name));
  return `The host offered ${named.length === 0 ? 'no subprotocol' : named.join(', ')}; the relay speaks ${known}.`;
}

/** Checks the name in the Host header, which DNS rebinding cannot forge. */
function isLoopbackHost({ rawHeaders }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((_, index) => /^host$/i.test(rawHeaders[index - 1] ?? '') && index % 2 === 1);
  const name = /^([\w.-]+|\[::1\])(?::\d{1,5})?$/.exec(hosts[0] ?? '')?.[1];
  return hosts.length === 1 && name !== undefined && isLoopback(name.toLowerCase());
}

/** Reads the server and the secret from the path and query of a public URL. A URL with two secrets has none. */
function parseAddress(url: string): { serverId: string; secret: string | null } | null {
  const [path = '', ...rest] = url.split('?');
  const below = path.slice(relayPath.length);
  const serverId = below.split('/')[0] ?? '';
  if (!/^[\w-]+$/.test(serverId) || !isPlainPath(below)) return null;
  const [secret = null, ...others] = readSecrets(rest.join('?'));
  return { serverId, secret: others.length > 0 ? null : secret };
}
