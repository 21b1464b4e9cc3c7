import { once } from 'node:events';
import { createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ContractService } from './contract-service.ts';

/** One request that a test holds, once. */
export interface HeldRequest {
  /** Resolves when the request has reached this point. */
  readonly reached: Promise<void>;
  /** Releases the request even if its sender is gone: a network delivers what it has. */
  release(): void;
}

/** The reaction of a relay to hosts that dial it. */
type RelayMood = 'connects' | 'refuses';

/** A network between a job and its service, which records all traffic and can hold, change or refuse it. */
export interface ServiceTap extends AsyncDisposable {
  /** The service as the job sees it. */
  readonly service: ContractService;
  /** The method and path of every request except those to public URLs, oldest first. */
  readonly requests: readonly string[];
  /** The public URL and the name of every grant. */
  readonly grants: ReadonlyArray<{ name: string; url: string }>;
  /** The id of every started run. */
  readonly runIds: readonly string[];
  /** The body of every request that started a run. */
  readonly launches: ReadonlyArray<Record<string, unknown>>;
  /** Answers every later launch with the receipt of the first one, instead of the service. */
  replayLaunches(): void;
  /** The number of times that a host dialled the relay. */
  readonly dials: number;
  /** Resolves when nothing is pending between the two, even if one of them is gone. */
  settle(): Promise<void>;
  /** Holds the next request whose method and path match: before the service gets it, or after its answer. Upgrades are `UPGRADE /agent`. */
  hold(pattern: RegExp, stage: 'asked' | 'answered'): HeldRequest;
  /** Answers every later API request whose method and path match with 403 instead of the service. */
  refuse(pattern: RegExp): void;
  /** Makes the relay close its connections with this code; without a code, the connections break. */
  hangUp(closeCode?: number): void;
  relayMood: RelayMood;
  /** True if public URLs lead to the relay; false if they answer that there is no tunnel. */
  isPublic: boolean;
}

interface Hold {
  pattern: RegExp;
  stage: 'asked' | 'answered';
  reach: () => void;
  released: Promise<void>;
}

const publicPath = '/api/mcp/adapter-http/';

export async function openServiceTap(service: ContractService): Promise<ServiceTap> {
  const target = new URL(service.baseUrl);
  const requests: string[] = [];
  const grants: Array<{ name: string; url: string }> = [];
  const runIds: string[] = [];
  const launches: Array<Record<string, unknown>> = [];
  let receipt: string | undefined;
  let isReplaying = false;
  const holds = new Set<Hold>();
  const refusals: RegExp[] = [];
  const hosts = new Set<{ near: Duplex; far: Socket }>();
  const open = new Set<Socket>();
  const underWay = new Set<Promise<unknown>>();
  let dials = 0;

  const pass = async (what: string, stage: Hold['stage']) => {
    for (const hold of holds) {
      if (hold.stage !== stage || !hold.pattern.test(what)) continue;
      holds.delete(hold);
      hold.reach();
      return await hold.released;
    }
  };

  const record = (what: string, status: number, { body, text }: { body: Buffer; text: string }) => {
    if (status >= 300) return;
    if (/^POST .*\/tunnels$/.test(what)) grants.push(JSON.parse(text));
    else if (/^POST .*\/eval-runs$/.test(what)) {
      runIds.push(JSON.parse(text).runId);
      launches.push(JSON.parse(body.toString()));
      receipt ??= text;
    }
  };

  const forward = (incoming: IncomingMessage, body: Buffer | null): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { method, url: path, headers } = incoming;
      const outgoing = sendRequest({ host: target.hostname, port: target.port, method, path, headers, agent: false });
      outgoing.on('response', resolve).on('error', reject);
      if (body !== null) return void outgoing.end(body);
      incoming.on('close', () => {
        if (!incoming.complete) outgoing.destroy();
      });
      incoming.pipe(outgoing);
    });

  /** Reads the API's answers completely, so that they are known even if the client no longer waits for them. */
  const serveApi = async (incoming: IncomingMessage, response: ServerResponse) => {
    const what = `${incoming.method} ${incoming.url}`;
    requests.push(what);
    const body = await buffer(incoming);
    await pass(what, 'asked');
    if (refusals.some((pattern) => pattern.test(what))) {
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end('{"code":"FORBIDDEN","message":"Not any more."}');
      return;
    }
    if (isReplaying && receipt !== undefined && /^POST .*\/eval-runs$/.test(what)) {
      response.writeHead(202, { 'content-type': 'application/json' }).end(receipt);
      return;
    }
    const answer = await forward(incoming, body);
    const text = await buffer(answer);
    record(what, answer.statusCode ?? 0, { body, text: text.toString() });
    await pass(what, 'answered');
    response.writeHead(answer.statusCode ?? 502, answer.headers).end(text);
  };

  /** Forwards calls of a public URL, which may be streams. */
  const servePublic = async (incoming: IncomingMessage, response: ServerResponse) => {
    const what = `${incoming.method} ${publicPath}`;
    await pass(what, 'asked');
    if (!tap.isPublic) {
      incoming.resume();
      response.writeHead(503, { 'content-type': 'application/json' }).end('{"code":"SERVER_UNREACHABLE"}');
      return;
    }
    if (incoming.destroyed) return;
    const answer = await forward(incoming, null);
    response.on('close', () => answer.destroy());
    await pass(what, 'answered');
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.on('error', () => response.destroy()).pipe(response);
  };

  const server = createServer((incoming, response) => {
    const isCall = incoming.url?.startsWith(publicPath) === true;
    const served = (isCall ? servePublic : serveApi)(incoming, response).catch(() => response.destroy());
    underWay.add(served);
    void served.finally(() => underWay.delete(served));
  });
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  const serveUpgrade = async (incoming: IncomingMessage, near: Duplex, head: Buffer) => {
    dials += 1;
    near.on('error', () => {});
    await pass(`UPGRADE ${incoming.url}`, 'asked');
    if (tap.relayMood === 'refuses') return void near.destroy();
    const far = connect(Number(target.port), target.hostname);
    const host = { near, far };
    hosts.add(host);
    far.on('error', () => {});
    far.on('close', () => {
      hosts.delete(host);
      near.destroy();
    });
    near.on('close', () => far.destroy());
    const { method, url, rawHeaders } = incoming;
    const fields = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : []));
    far.write(`${method} ${url} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
    far.write(head);
    near.pipe(far).pipe(near);
  };
  server.on('upgrade', (incoming, near, head) => void serveUpgrade(incoming, near, head));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const tap: ServiceTap = {
    service: { ...service, baseUrl: `http://127.0.0.1:${port}${target.pathname}` },
    requests,
    grants,
    runIds,
    launches,
    replayLaunches: () => {
      isReplaying = true;
    },
    get dials() {
      return dials;
    },
    settle: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
    relayMood: 'connects',
    isPublic: true,
    hold: (pattern, stage) => {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      holds.add({ pattern, stage, reach: reached.resolve, released: released.promise });
      return { reached: reached.promise, release: released.resolve };
    },
    refuse: (pattern) => void refusals.push(pattern),
    hangUp: (closeCode) => {
      for (const { near, far } of hosts) {
        far.unpipe(near);
        // An unmasked close frame, as from a server: https://www.rfc-editor.org/rfc/rfc6455#section-5.5.1
        if (closeCode === undefined) near.destroy();
        else near.end(Buffer.from([0x88, 2, closeCode >> 8, closeCode & 0xff]));
        far.destroy();
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const { far } of hosts) far.destroy();
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return tap;
}
