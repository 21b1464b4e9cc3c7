import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:net';
import type { OutgoingHttpHeaders } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { Agent } from 'undici';
import { afterAll, describe, expect, it } from 'vitest';
import { type CountChunk, exchange, type ExchangeRequest } from '../../src/http/exchange.ts';
import { type Answer, startHttpServer } from '../support/network/http-server.ts';
import { findFreePort } from '../support/network/free-port.ts';

const agent = new Agent();
afterAll(() => agent.destroy());

async function ask(
  url: string,
  { count = () => {}, ...request }: Partial<ExchangeRequest> & { count?: CountChunk } = {},
): Promise<Response> {
  const defaults = { method: 'POST', headers: new Headers(), body: '{}', signals: [] };
  return await exchange(agent, url, { ...defaults, ...request }, () => count);
}

const answer =
  (status: number, headers: OutgoingHttpHeaders, body: string | Uint8Array): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(body);

/** Answers whatever comes with these bytes. */
async function startRawServer(response: Buffer) {
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/`, [Symbol.asyncDispose]: async () => void server.close() };
}

describe('exchange', () => {
  it('sends what it is given, and what fetch adds', async () => {
    await using server = await startHttpServer(answer(200, {}, 'ok'));
    const headers = new Headers({ 'x-own': 'a', accept: 'text/event-stream' });
    const response = await ask(`${server.origin}/mcp?a=b#c`, { method: 'PUT', headers, body: '{"é":1}' });
    expect([response.status, response.statusText, await response.text()]).toEqual([200, 'OK', 'ok']);
    expect(server.requests).toMatchObject([
      {
        method: 'PUT',
        url: '/mcp?a=b',
        body: '{"é":1}',
        headers: {
          'x-own': 'a',
          accept: 'text/event-stream',
          'accept-encoding': 'gzip',
          'user-agent': 'node',
          'content-length': '8',
        },
      },
    ]);
  });

  it('keeps all headers of the response, in Latin-1', async () => {
    const lines = ['HTTP/1.1 200 Fine', 'X-Name: caf\xe9', 'Link: a', 'Link: b', 'Content-Length: 2', '', 'ok'];
    await using server = await startRawServer(Buffer.from(lines.join('\r\n'), 'latin1'));
    const { headers, statusText } = await ask(server.url);
    expect([headers.get('x-name'), headers.get('link'), statusText]).toEqual(['café', 'a, b', 'Fine']);
  });

  it('keeps a response whose reason is not Latin-1, without the reason', async () => {
    await using server = await startRawServer(Buffer.from('HTTP/1.1 200 Готово\r\nContent-Length: 2\r\n\r\nok'));
    const response = await ask(server.url);
    expect([response.status, response.statusText, await response.text()]).toEqual([200, '', 'ok']);
  });

  it.each([204, 205, 304])('gives no body to a response with status %d', async (status) => {
    await using server = await startHttpServer(answer(status, {}, ''));
    const response = await ask(server.origin);
    expect([response.status, response.body]).toEqual([status, null]);
  });

  it.each([
    [301, false],
    [599, false],
    [999, false],
    [299, true],
  ])('gives a response with status %d as it is', async (status, ok) => {
    await using server = await startHttpServer(answer(status, { location: '/elsewhere' }, 'said'));
    const response = await ask(server.origin);
    expect([response.status, response.ok, await response.text()]).toEqual([status, ok, 'said']);
    expect(server.requests.length).toBe(1);
  });

  it.each([
    ['gzip', gzipSync('said')],
    ['x-gzip', gzipSync('said')],
    ['deflate', deflateSync('said')],
    ['BR', brotliCompressSync('said')],
    ['zstd', zstdCompressSync('said')],
    ['br, gzip', gzipSync(brotliCompressSync('said'))],
    ['', 'said'],
    ['rot13', 'said'],
    ['gzip, rot13', 'said'],
  ])('reads a body encoded with %j, and counts what it reads', async (encoding, body) => {
    await using server = await startHttpServer(answer(200, { 'content-encoding': encoding }, body));
    let bytes = 0;
    const count: CountChunk = (chunk) => {
      bytes += chunk.byteLength;
    };
    const response = await ask(server.origin, { count });
    expect([await response.text(), bytes]).toEqual(['said', 4]);
  });

  it('fails on a body that is not encoded as it says, and on one that is encoded too often', async () => {
    const encodings = ['gzip', Array.from({ length: 6 }, () => 'gzip').join(',')];
    await using server = await startHttpServer(
      encodings.map((encoding) => answer(200, { 'content-encoding': encoding }, 'said')),
    );
    const response = await ask(server.origin);
    await expect(response.text()).rejects.toMatchObject({ cause: { code: 'Z_DATA_ERROR' } });
    await expect(ask(server.origin)).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { message: 'The response is encoded 6 times.' },
    });
  });

  it.each(['gzip', 'identity'])(
    'fails a body (%s) with what its count throws, and ends the request',
    async (encoding) => {
      const closed = Promise.withResolvers<void>();
      await using server = await startHttpServer((response) => {
        response.on('close', closed.resolve);
        const body = encoding === 'gzip' ? gzipSync('said') : 'said';
        response.writeHead(200, { 'content-encoding': encoding, 'content-length': 1000 }).write(body);
      });
      const count = () => {
        throw new RangeError('too much');
      };
      const response = await ask(server.origin, { count });
      await expect(response.text()).rejects.toThrow(new RangeError('too much'));
      await closed.promise;
    },
  );

  it('fails as fetch does where there is no response', async () => {
    const port = await findFreePort();
    await expect(ask(`http://127.0.0.1:${port}`)).rejects.toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { code: 'ECONNREFUSED' },
    });
    await using server = await startHttpServer((response) => void response.destroy());
    await expect(ask(server.origin)).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { message: 'other side closed' },
    });
    await expect(ask('nothing')).rejects.toThrow('Invalid URL');
  });

  it('fails a body that breaks off', async () => {
    await using server = await startHttpServer((response) => {
      response.writeHead(200, { 'content-length': 100 }).write('half');
      setImmediate(() => response.destroy());
    });
    const response = await ask(server.origin);
    await expect(response.text()).rejects.toMatchObject({ name: 'TypeError', message: 'terminated' });
  });

  it('ends with the reason of its signal: before the request, before the response, and within the body', async () => {
    const reason = new Error('enough');
    await expect(ask('http://127.0.0.1:9', { signals: [AbortSignal.abort(reason)] })).rejects.toBe(reason);
    const closed = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const aborts = [new AbortController(), new AbortController()];
    await using server = await startHttpServer([
      (response) => {
        response.on('close', closed[0]!.resolve);
        aborts[0]!.abort(reason);
      },
      (response) => {
        response.on('close', closed[1]!.resolve);
        response.writeHead(200).write('half');
      },
    ]);
    await expect(ask(server.origin, { signals: [aborts[0]!.signal] })).rejects.toBe(reason);
    await closed[0]!.promise;
    const response = await ask(server.origin, { signals: [aborts[1]!.signal] });
    aborts[1]!.abort(reason);
    await expect(response.text()).rejects.toBe(reason);
    await closed[1]!.promise;
  });

  it('leaves no listener on its signal', async () => {
    await using server = await startHttpServer([answer(200, {}, 'ok'), (response) => void response.destroy()]);
    const { signal } = new AbortController();
    await (await ask(server.origin, { signals: [signal] })).text();
    await expect(ask(server.origin, { signals: [signal] })).rejects.toThrow('fetch failed');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('reads no further ahead than its reader follows, and ends the request when the reader leaves', async () => {
    const closed = Promise.withResolvers<void>();
    const chunk = Buffer.alloc(1024 * 1024);
    let received = 0;
    const blocked = Promise.withResolvers<void>();
    await using server = await startHttpServer((response) => {
      response.on('close', closed.resolve).writeHead(200);
      // More than the kernel takes for a reader that has stopped.
      for (let sent = 0; sent < 64; sent += 1) if (!response.write(chunk)) blocked.resolve();
    });
    const count: CountChunk = ({ byteLength }) => {
      received += byteLength;
    };
    const { body } = await ask(server.origin, { count });
    await blocked.promise;
    const reader = body!.getReader();
    await reader.read();
    expect(received).toBeLessThan(1024 * 1024);
    await reader.cancel();
    await closed.promise;
    expect(received).toBeLessThan(2 * 1024 * 1024);
  });
});
