import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { findClosedPort, hangUp, json, startHttpServer } from '../support/network/http-server.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import { startScriptedRelay, type RelayPeer, type Welcome } from '../support/network/scripted-relay.ts';
import { openTestHost, scope } from '../support/network/tunnel-host.ts';
import type { TunnelHostOptions } from '../../src/tunnel/host.ts';

const stack: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of stack.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

/** A connected host, as its relay sees it. */
async function connect(
  target: string,
  welcome: Welcome = {},
  options: Partial<TunnelHostOptions> = {},
): Promise<RelayPeer> {
  const relay = await startScriptedRelay([welcome]);
  stack.push(relay);
  stack.push(await openTestHost(relay, target, { drainTimeoutMs: 0, ...options }));
  return relay.peer(1);
}

async function startServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.push({
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The masking keys of the frames in a client's bytes (RFC 6455 §5.2), as hexadecimal. */
function readMasks(bytes: Buffer): string[] {
  const masks: string[] = [];
  for (let offset = 0; offset < bytes.length;) {
    const second = bytes[offset + 1]!;
    expect(second & 0x80).toBe(0x80);
    const short = second & 0x7f;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    const length = lengthBytes === 2 ? bytes.readUInt16BE(offset + 2) : short;
    const maskAt = offset + 2 + lengthBytes;
    masks.push(bytes.toString('hex', maskAt, maskAt + 4));
    offset = maskAt + 4 + length;
  }
  return masks;
}

it('masks every frame with a key of its own', async () => {
  await using server = await startHttpServer(json(200, { text: 'x'.repeat(500) }));
  const peer = await connect(server.origin);
  for (const id of [1, 2, 3]) {
    peer.request(id, scope);
    await peer.waitFor('res_end', id);
  }
  const masks = readMasks(peer.rawBytes());
  // Head, body and end of three responses.
  expect(masks.length).toBeGreaterThanOrEqual(9);
  expect(new Set(masks).size).toBe(masks.length);
  expect(masks).not.toContain('00000000');
});

describe('a request frame', () => {
  it('becomes a request to the target, without what belongs to the hop or the relay', async () => {
    await using server = await startHttpServer(json(201, { ok: true }, { 'x-answer': 'é', 'keep-alive': 'timeout=9' }));
    const peer = await connect(`${server.origin}/mcp?own=1`);
    peer.request(5, `${scope}/sub?k=secret&a=1`, {
      method: 'POST',
      headers: [
        ['Host', 'evil.example'],
        ['Connection', 'keep-alive, x-hop'],
        ['X-Hop', '1'],
        ['Transfer-Encoding', 'chunked'],
        ['Proxy-Authorization', 'Basic x'],
        ['TE', 'trailers'],
        ['Expect', '100-continue'],
        ['Accept', 'application/json'],
        ['X-Forwarded-Host', 'public.example'],
      ],
      hasBody: true,
    });
    peer.sendBody(5, Buffer.from('{"a":'));
    peer.sendBody(5, Buffer.from('1}'));
    peer.send({ t: 'req_end', id: 5 });
    await peer.waitFor('res_end', 5);
    const [{ method, url, headers, body } = {} as never] = server.requests;
    // How the request states the length of its body depends on how much of it had come when the request went out.
    const { 'content-length': _length, 'transfer-encoding': _coding, ...rest } = headers;
    expect({ method, url, headers: rest, body }).toEqual({
      method: 'POST',
      url: '/mcp/sub?own=1&a=1',
      headers: {
        accept: 'application/json',
        connection: 'keep-alive',
        host: new URL(server.origin).host,
        'x-forwarded-host': 'public.example',
      },
      body: '{"a":1}',
    });
    const res = await peer.waitFor('res', 5);
    expect(res.status).toBe(201);
    expect(res.headers.filter(([name]) => name !== 'Date')).toEqual([
      ['content-type', 'application/json'],
      ['x-answer', 'é'],
    ]);
    expect(peer.read(5).toString()).toBe('{"ok":true}');
  });

  it('has the target’s origin instead of the public URL’s, and any other origin unchanged', async () => {
    await using server = await startHttpServer((response) => void response.end());
    const peer = await connect(server.origin);
    const send = async (id: number, headers: Array<[string, string]>) => {
      peer.request(id, scope, { headers });
      await peer.waitFor('res_end', id);
      return server.requests.at(-1)?.headers.origin;
    };
    const forwarded: [string, string] = ['X-Forwarded-Host', 'relay.example:8443'];
    expect(await send(1, [forwarded, ['Origin', 'https://Relay.example:8443']])).toBe(server.origin);
    expect(await send(2, [forwarded, ['Origin', 'https://relay.example:8443.evil.example']])).toBe(
      'https://relay.example:8443.evil.example',
    );
    expect(await send(3, [forwarded, ['Origin', 'null']])).toBe('null');
    expect(await send(4, [['Origin', 'https://relay.example:8443']])).toBe('https://relay.example:8443');
    expect(await send(5, [['Origin', 'null']])).toBe('null');
  });

  it('is answered with 502 when nothing listens, and when the target hangs up', async () => {
    await using server = await startHttpServer(hangUp);
    for (const port of [await findClosedPort(), server.port]) {
      const peer = await connect(`http://127.0.0.1:${port}/mcp`);
      peer.request(1, scope);
      await peer.waitFor('res_end', 1);
      expect((await peer.waitFor('res', 1)).status).toBe(502);
      expect(JSON.parse(peer.read(1).toString())).toEqual({
        code: 'SERVER_UNREACHABLE',
        message: expect.stringMatching(/^The server behind the tunnel did not answer: [A-Z_]+\.$/),
      });
    }
  });

  it('is aborted when the target breaks off in the middle of its answer', async () => {
    const origin = await startServer((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy());
    });
    const peer = await connect(origin);
    peer.request(1, scope);
    expect(await peer.waitFor('abort', 1)).toEqual({ t: 'abort', id: 1, code: 'upstream_error' });
  });

  it('that is aborted ends the request to the target, and no other', async () => {
    const closed: string[] = [];
    const origin = await startServer((request, response) => {
      response.on('close', () => closed.push(request.url ?? ''));
      response.writeHead(200).flushHeaders();
    });
    const peer = await connect(origin);
    peer.request(1, `${scope}/a`);
    peer.request(2, `${scope}/b`);
    await Promise.all([peer.waitFor('res', 1), peer.waitFor('res', 2)]);
    peer.send({ t: 'abort', id: 1, code: 'client_gone' });
    await expect.poll(() => closed).toEqual(['/a']);
  });

  it('beyond the limits of the relay is not served', async () => {
    await using server = await startHttpServer(() => {});
    const peer = await connect(server.origin, { limits: { maxReqBody: 10, chunk: 4, maxInflight: 2 } });
    for (const id of [1, 2, 3]) peer.request(id, scope, { hasBody: true });
    expect(await peer.waitFor('abort', 3)).toEqual({ t: 'abort', id: 3, code: 'overloaded' });
    peer.sendBody(1, Buffer.alloc(10));
    peer.sendBody(1, Buffer.alloc(1));
    expect(await peer.waitFor('abort', 1)).toEqual({ t: 'abort', id: 1, code: 'too_large' });
    peer.request(4, `${scope}/after`);
    await expect.poll(() => server.requests.some(({ url }) => url === '/after')).toBe(true);
  });

  it('gets its answer in frames no longer than the relay takes', async () => {
    await using server = await startHttpServer((response) => void response.end('0123456789'));
    const peer = await connect(server.origin, { limits: { maxReqBody: 10, chunk: 4, maxInflight: 2 } });
    peer.request(1, scope);
    await peer.waitFor('res_end', 1);
    const sizes = peer.frames.flatMap((frame) => (frame.t === 'body' ? [frame.payload.length] : []));
    expect([sizes, peer.read(1).toString()]).toEqual([[4, 4, 2], '0123456789']);
  });

  it.each([
    ['CONNECT', scope, {}],
    ['TRACE', scope, {}],
    ['PROPFIND', scope, {}],
    ['get', scope, {}],
    ['GET', '/', {}],
    ['GET', '/admin', {}],
    ['GET', `${scope}2`, {}],
    ['GET', '/api/mcp/adapter-http/srv_2', {}],
    ['GET', '*', {}],
    ['GET', '', {}],
    ['GET', `/x/..${scope}`, {}],
    ['GET', `${scope}/..`, {}],
    ['GET', `${scope}/./a`, {}],
    ['GET', `${scope}/..;/a`, {}],
    ['GET', `${scope}/%252e%252e/a`, {}],
    ['GET', `${scope}/%00`, {}],
    ['GET', `${scope}/a#b`, {}],
    ['GET', `${scope}?a=ä`, {}],
    ['GET', `${scope}/%2e%2e/admin`, {}],
    ['GET', `${scope}//evil.example`, {}],
    ['GET', `${scope}/a%2f..%2fadmin`, {}],
    ['GET', `${scope}/\\evil.example`, {}],
    ['GET', `http://evil.example${scope}`, {}],
    ['GET', `//evil.example${scope}`, {}],
    ['GET', `@evil.example${scope}`, {}],
    ['GET', `${scope} HTTP/1.1\r\nx: y`, {}],
    ['GET / HTTP/1.1\r\n\r\nGET', scope, {}],
    ['GET', scope, { headers: [['x', 'a\r\nhost: evil.example']] }],
    ['GET', scope, { headers: [['a b', 'c']] }],
    ['POST', scope, { headers: [['content-length', '5']] }],
    ['POST', scope, { headers: [['content-length', '-5']] }],
    ['POST', scope, { headers: [['content-length', '5, 5']] }],
  ] as const)('of a hostile relay reaches nothing: %j %j %j', async (method, url, fields) => {
    await using server = await startHttpServer(json(200, {}));
    const peer = await connect(`${server.origin}/mcp`);
    peer.request(1, url, { method, ...fields });
    peer.request(2, `${scope}?last`);
    await peer.waitFor('res_end', 2);
    const answer = peer.frames.find((frame) => 'id' in frame && frame.id === 1);
    expect(answer?.t === 'abort' || (answer?.t === 'res' && answer.status >= 400)).toBe(true);
    expect(server.requests.map((request) => request.url)).toEqual(['/mcp?last']);
  });

  it('and 2,000 frames of noise do not disturb one that is under way', async () => {
    const origin = await startServer((_request, response) => {
      setTimeout(() => response.end('fine'), 100);
    });
    const peer = await connect(origin);
    peer.request(1, scope);
    for (let count = 0; count < 1000; count += 1) {
      peer.socket.send(randomBytes(count % 40));
      peer.socket.send(`{"t":"${['res', 'window', 'abort', 'hello'][count % 4]}","id":${count + 2},"n":${count}`);
    }
    await peer.waitFor('res_end', 1);
    expect(peer.read(1).toString()).toBe('fine');
  });
});

describe('a stream of events', () => {
  it('goes on event by event, and gets a comment when it is idle, but never inside a line', async () => {
    const clock = new ManualClock();
    const { promise, resolve } = Promise.withResolvers<(text: string) => void>();
    const origin = await startServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      resolve((text) => void response.write(text));
    });
    const peer = await connect(origin, {}, { clock });
    peer.request(1, scope);
    const write = await promise;
    await peer.waitFor('res', 1);
    write('data: 1\n\n');
    await expect.poll(() => peer.read(1).toString()).toBe('data: 1\n\n');
    await clock.advance(15_000);
    await expect.poll(() => peer.read(1).toString()).toBe('data: 1\n\n:\n');
    write('data: half');
    await expect.poll(() => peer.read(1).toString()).toBe('data: 1\n\n:\ndata: half');
    await clock.advance(60_000);
    write(' whole\n\n');
    await expect.poll(() => peer.read(1).toString()).toBe('data: 1\n\n:\ndata: half whole\n\n');
  });
});
