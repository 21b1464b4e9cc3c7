import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { startEchoServer } from '../../../../test/support/servers/echo-server.ts';
import { connectClient, openTestServer } from '../../../../test/support/servers/running-server.ts';
import { openTunnelPath, type TunnelPath } from '../../../../test/support/network/tunnel-path.ts';

const stack: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of stack.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

function keep<T extends AsyncDisposable>(resource: T): T {
  stack.push(resource);
  return resource;
}

async function startTarget(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  keep({
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function openPath(
  listener: RequestListener,
  options?: Parameters<typeof openTunnelPath>[1],
): Promise<TunnelPath> {
  return keep(await openTunnelPath(await startTarget(listener), options));
}

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('an MCP client on the public URL', () => {
  it.each(['legacy', 'auto'] as const)('speaks to a server on stdio behind bridge and tunnel (%s)', async (mode) => {
    const server = keep(await openTestServer({ command: 'node_modules/.bin/mcp-server-everything stdio' }));
    const { publicUrl } = keep(await openTunnelPath(server.url));
    const { client } = keep(await connectClient(publicUrl, { versionNegotiation: { mode } }));
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(5);
    const answer = await client.callTool({ name: 'echo', arguments: { message: 'through' } });
    expect(answer.content).toEqual([{ type: 'text', text: 'Echo: through' }]);
    const progress: number[] = [];
    await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 4 } },
      { onprogress: (notification) => void progress.push(notification.progress) },
    );
    expect(progress).toEqual([1, 2, 3, 4]);
  });

  it('makes 200 calls over 20 sessions at once, each with its own answer', async () => {
    const server = keep(await startEchoServer());
    const { publicUrl } = keep(await openTunnelPath(server.url));
    const clients = await Promise.all(Array.from({ length: 20 }, async () => keep(await connectClient(publicUrl))));
    const answers = await Promise.all(
      clients.flatMap((client, index) =>
        Array.from({ length: 10 }, (_, call) => client.call('echo', { value: `${index}-${call}` })),
      ),
    );
    expect(answers).toEqual(
      clients.flatMap((_, i) => Array.from({ length: 10 }, (__, call) => ({ value: `${i}-${call}` }))),
    );
  });
});

describe('bodies', () => {
  const data = randomBytes(16 * 1024 * 1024);

  it('of 16 MiB go down intact', async () => {
    const { publicUrl } = await openPath((_request, response) => response.end(data));
    const { body, headers } = await request(publicUrl);
    expect(hash(await body.bytes())).toBe(hash(data));
    expect(headers['content-length']).toBe(String(data.length));
  });

  it.each(['with a length', 'in chunks'])('of 16 MiB go up intact, %s', async (how) => {
    const { publicUrl } = await openPath((incoming, response) => {
      const sum = createHash('sha256');
      incoming.on('data', (chunk: Buffer) => sum.update(chunk)).on('end', () => response.end(sum.digest('hex')));
    });
    const pieces = function* () {
      for (let at = 0; at < data.length; at += 100_000) yield data.subarray(at, at + 100_000);
    };
    const sent = how === 'in chunks' ? Readable.from(pieces()) : data;
    const { body } = await request(publicUrl, { method: 'POST', body: sent });
    expect(await body.text()).toBe(hash(data));
  });

  it('beyond the limit are refused, whether announced or not', async () => {
    const { publicUrl } = await openPath((incoming) => void incoming.resume(), {
      embedded: { relayLimits: { maxReqBody: 100_000 } },
    });
    const announced = await request(publicUrl, { method: 'POST', body: Buffer.alloc(100_001) });
    expect(announced.statusCode).toBe(413);
    await announced.body.dump();
    const chunked = await request(publicUrl, {
      method: 'POST',
      body: Readable.from([Buffer.alloc(60_000), Buffer.alloc(60_000)]),
    });
    expect([chunked.statusCode, await chunked.body.json()]).toEqual([
      413,
      { code: 'VALIDATION_ERROR', message: 'The request body is too large for the tunnel.' },
    ]);
  });

  it('have their status, headers and cookies kept, and the hop taken out', async () => {
    const { publicUrl } = await openPath((incoming, response) => {
      const { host: _host, connection: _connection, ...headers } = incoming.headers;
      response.writeHead(418, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Seen', JSON.stringify(headers)]);
      response.end(incoming.url);
    });
    const answer = await request(`${publicUrl}&a=%20b`, { headers: { 'x-forwarded-host': 'spoofed', 'x-own': 'ä' } });
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([418, ['a=1', 'b=2']]);
    expect(JSON.parse(String(answer.headers['x-seen']))).toEqual({
      'x-own': 'ä',
      'x-forwarded-host': new URL(publicUrl).host,
    });
    expect(await answer.body.text()).toBe('/?a=%20b');
  });
});

describe('streams', () => {
  it('of events arrive event by event', async () => {
    const next = Promise.withResolvers<(text: string) => void>();
    const { publicUrl } = await openPath((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      next.resolve((text) => void response.write(text));
    });
    const { body, headers } = await request(publicUrl);
    expect(headers['content-type']).toBe('text/event-stream');
    const write = await next.promise;
    const chunks = body[Symbol.asyncIterator]();
    for (const event of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) {
      write(event);
      expect(String((await chunks.next()).value)).toBe(event);
    }
    body.destroy();
  });

  it('that no client reads hold up nothing else, and little waits for them anywhere', async () => {
    let written = 0;
    const total = 256 * 1024 * 1024;
    const { publicUrl, host } = await openPath((incoming, response) => {
      if (incoming.method === 'POST') {
        response.end('small');
        return;
      }
      const chunk = Buffer.alloc(65_536);
      const more = (): void => {
        while (written < total) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    const stalled = await request(publicUrl);
    stalled.body.on('error', () => {});
    let before = -1;
    while (written !== before) {
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    // Both ends of four sockets, and a window: all there is between the writer and the one who does not read.
    expect(written).toBeLessThan(64 * 1024 * 1024);
    const calls = Array.from({ length: 50 }, async () => (await request(publicUrl, { method: 'POST' })).body.text());
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['small']));
    expect(host?.inFlight).toBe(1);
    stalled.body.destroy();
    await expect.poll(() => host?.inFlight).toBe(0);
  });
});
