import { once } from 'node:events';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { parseTextFrame } from '../../../../src/tunnel/frames.ts';
import { json, startHttpServer, type Answer } from '../../../../test/support/network/http-server.ts';
import { startTcpProxy } from '../../../../test/support/network/tcp-proxy.ts';
import { createLineLogger } from '../../../../test/support/network/tunnel-host.ts';
import { openTunnelPath } from '../../../../test/support/network/tunnel-path.ts';

const stack: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of stack.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

function keep<T extends AsyncDisposable>(resource: T): T {
  stack.push(resource);
  return resource;
}

async function openPath(answer: Answer = json(200, { ok: true }), options?: Parameters<typeof openTunnelPath>[1]) {
  const server = keep(await startHttpServer(answer));
  const path = keep(await openTunnelPath(`${server.origin}/mcp`, options));
  return { ...path, server };
}

async function get(url: string): Promise<[number, unknown]> {
  const { statusCode, body } = await request(url);
  return [statusCode, await body.json()];
}

const noHost = [503, { code: 'SERVER_UNREACHABLE', message: 'No host is connected to this tunnel.' }];
const unauthorized = [401, { code: 'UNAUTHORIZED', message: 'The tunnel was closed, or its secret is not this one.' }];

/** Dials as a host would, and returns the outcome. */
async function dial(relayWsUrl: string, token: string, subprotocol = 'svc-tunnel.v1', headers = {}) {
  const socket = new WebSocket(relayWsUrl, subprotocol, { headers: { authorization: `Bearer ${token}`, ...headers } });
  const frames: unknown[] = [];
  socket.on('message', (data) => frames.push(parseTextFrame((data as Buffer).toString())));
  const outcome = await new Promise<string>((resolve) => {
    socket.once('message', () => resolve('hello'));
    socket.once('close', (code) => resolve(`closed ${code}`));
    socket.once('unexpected-response', (_request, response) => resolve(`status ${response.statusCode}`));
    socket.on('error', () => {});
  });
  return { socket, outcome, frames };
}

describe('the public side', () => {
  it('answers at once that no host is connected, before the first and after the last', async () => {
    const path = keep(await openTunnelPath(null));
    expect(await get(path.publicUrl)).toEqual(noHost);
    const host = await path.openHost('http://127.0.0.1:9/');
    expect((await get(path.publicUrl))[0]).toBe(502);
    await host[Symbol.asyncDispose]();
    await expect.poll(() => get(path.publicUrl)).toEqual(noHost);
  });

  it('identifies a tunnel by its secret alone', async () => {
    const { publicUrl, server } = await openPath();
    expect((await get(publicUrl))[0]).toBe(200);
    const url = new URL(publicUrl);
    const secret = url.searchParams.get('k') ?? '';
    for (const query of ['', '?k=', `?k=${secret}x`, `?k=${secret}&k=${secret}`, `?K=${secret}`, `?x=1#k=${secret}`]) {
      expect(await get(`${url.origin}${url.pathname}${query}`)).toEqual(unauthorized);
    }
    expect(await get(`${url.origin}/api/mcp/adapter-http/srv_other?k=${secret}`)).toEqual(unauthorized);
    expect(server.requests.length).toBe(1);
  });

  it('ends the request at the server when the client leaves', async () => {
    const closed = Promise.withResolvers<void>();
    const { publicUrl, host } = await openPath((response) => {
      response.on('close', closed.resolve);
    });
    const leave = new AbortController();
    const leaving = request(publicUrl, { signal: leave.signal }).catch(() => 'left');
    await expect.poll(() => host?.inFlight).toBe(1);
    leave.abort();
    await closed.promise;
    expect(await leaving).toBe('left');
  });

  it('turns away more requests than it announced to the host', async () => {
    const { publicUrl, host } = await openPath(() => {}, { embedded: { relayLimits: { maxInflight: 2 } } });
    const pending = [1, 2].map(() => request(publicUrl).catch(() => null));
    await expect.poll(() => host?.inFlight).toBe(2);
    expect((await get(publicUrl))[0]).toBe(503);
    await host?.[Symbol.asyncDispose]();
    for (const answer of await Promise.all(pending)) {
      expect(answer?.statusCode).toBe(502);
      await answer?.body.dump();
    }
  });

  it('answers 502 to a host that contradicts itself, and goes on', async () => {
    const path = keep(await openTunnelPath(null));
    const { socket } = await dial(path.grant.relayWsUrl, path.grant.connectToken.reveal());
    const answers = [
      (id: number) => socket.send(`{"t":"res","id":${id},"status":99,"headers":[]}`),
      (id: number) => socket.send(`{"t":"res","id":${id},"status":200,"headers":[["a","b\\r\\nc: d"]]}`),
      (id: number) => socket.send(`{"t":"res_end","id":${id}}`),
      (id: number) => socket.send(`{"t":"abort","id":${id},"code":"upstream_error"}`),
    ];
    let turn = 0;
    socket.on('message', (data) => {
      const frame = parseTextFrame((data as Buffer).toString());
      if (frame.t === 'req') answers[turn++]?.(frame.id);
    });
    for (let count = 0; count < answers.length; count += 1) expect((await get(path.publicUrl))[0]).toBe(502);
    socket.terminate();
  });
});

describe('the side of the hosts', () => {
  it.each(['svc-tunnel.v1', 'mcpjam-tunnel.v1'])('greets %s with limits and window', async (subprotocol) => {
    const { grant } = keep(await openTunnelPath(null));
    const { socket, outcome, frames } = await dial(grant.relayWsUrl, grant.connectToken.reveal(), subprotocol);
    expect([outcome, socket.protocol, socket.extensions]).toEqual(['hello', subprotocol, '']);
    const limits = { maxReqBody: 67_108_864, chunk: 65_536, maxInflight: 256 };
    expect(frames).toEqual([{ t: 'hello', proto: 1, slug: grant.slug, limits, window: 524_288 }]);
    socket.terminate();
  });

  it('closes with 4000 for a token that it does not know', async () => {
    const { grant } = keep(await openTunnelPath(null));
    expect((await dial(grant.relayWsUrl, 'ct_made_up')).outcome).toBe('closed 4000');
  });

  it('refuses a connection that is no host', async () => {
    const { grant } = keep(await openTunnelPath(null));
    const token = grant.connectToken.reveal();
    const outcomes = [
      await dial(grant.relayWsUrl, token, 'other.v1'),
      await dial(`${grant.relayWsUrl}/x`, token),
      await dial(grant.relayWsUrl, token, 'svc-tunnel.v1', { origin: 'https://evil.example' }),
      await dial(grant.relayWsUrl, token, 'svc-tunnel.v1', { host: 'evil.example' }),
      await dial(grant.relayWsUrl, token, 'svc-tunnel.v1', { authorization: 'Basic x' }),
    ].map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['status 400', 'status 404', 'status 403', 'status 403', 'status 401']);
  });

  it('closes the earlier host with 4001 when another one takes over', async () => {
    const { host, openHost, publicUrl } = await openPath();
    const other = keep(await startHttpServer(json(200, { other: true })));
    await openHost(other.origin);
    expect(await host?.lost).toMatchObject({ closeCode: 4001 });
    expect(await get(publicUrl)).toEqual([200, { other: true }]);
  });

  it('sends the host away with 4002 when the tunnel is granted again, and its token is dead', async () => {
    const { host, grant, createGrant, publicUrl } = await openPath();
    const next = await createGrant();
    expect(await host?.lost).toMatchObject({ closeCode: 4002 });
    expect(await get(publicUrl)).toEqual(unauthorized);
    expect(await get(next.url.reveal())).toEqual(noHost);
    expect((await dial(grant.relayWsUrl, grant.connectToken.reveal())).outcome).toBe('closed 4002');
  });

  it.each(['close', 'delete'])('sends the host away with 4002 on %s, and the URL leads nowhere', async (how) => {
    const { host, grant, service, publicUrl } = await openPath();
    if (how === 'close') await service.project.post(`/tunnels/${grant.serverId}/close`);
    else await service.project.delete(`/servers/${grant.serverId}`);
    expect(await host?.lost).toMatchObject({ closeCode: 4002 });
    expect(await get(publicUrl)).toEqual(unauthorized);
    expect((await dial(grant.relayWsUrl, grant.connectToken.reveal())).outcome).toBe('closed 4002');
  });

  it('holds requests while a host that broke off comes back', async () => {
    const path = keep(await openTunnelPath(null));
    const { socket } = await dial(path.grant.relayWsUrl, path.grant.connectToken.reveal());
    socket.terminate();
    await once(socket, 'close');
    const server = keep(await startHttpServer(json(200, { back: true })));
    const waiting = [1, 2, 3].map(() => get(path.publicUrl));
    await path.openHost(server.origin);
    expect(await Promise.all(waiting)).toEqual([1, 2, 3].map(() => [200, { back: true }]));
  });

  it('serves again after each of ten resets, and loses only what was under way', async () => {
    const path = keep(await openTunnelPath(null));
    const { port } = new URL(path.grant.relayWsUrl);
    const network = keep(await startTcpProxy(Number(port)));
    const server = keep(await startHttpServer((response, { method }) => void (method === 'GET' && response.end('{}'))));
    const host = await path.openHost(server.origin, {
      relayWsUrl: path.grant.relayWsUrl.replace(port, `${network.port}`),
    });
    for (let turn = 1; turn <= 10; turn += 1) {
      const lost = request(path.publicUrl, { method: 'POST' });
      await expect.poll(() => host.inFlight).toBe(1);
      network.cut();
      const { statusCode, body } = await lost;
      await body.dump();
      expect([statusCode, await get(path.publicUrl), network.carried]).toEqual([502, [200, {}], turn + 1]);
    }
  });
});

describe('secrets', () => {
  it('are in no line that service and host log', async () => {
    const { logger, lines } = createLineLogger();
    const { publicUrl, grant, createGrant, host } = await openPath(json(200, {}), {
      embedded: { logger },
      host: { logger },
    });
    await get(publicUrl);
    await get(`${publicUrl}x`);
    await createGrant();
    await host?.lost;
    const secrets = grant.secrets.map((secret) => secret.reveal());
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
  });
});
