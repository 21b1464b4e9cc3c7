import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { connectClient, openTestServer, type TestServer } from '../../support/servers/running-server.ts';

/** Sends bytes as they are and reads until the connection closes; the status of the first response, or null for none. */
function sendRaw(url: URL, lines: readonly string[], body: string, { silentMs = 2000 } = {}): Promise<number | null> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(Number(url.port), '127.0.0.1');
    socket.setTimeout(silentMs, () => socket.destroy());
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => {
      const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
      resolve(status === undefined ? null : Number(status));
    });
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  });
}

const body = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'evil', version: '1' } },
});

let server: TestServer;
let url: URL;

beforeAll(async () => {
  server = await openTestServer();
  url = new URL(server.url);
});
afterAll(() => server[Symbol.asyncDispose]());

/** A request that would be served, but for what the overrides change; null leaves a header out. */
function buildRequest(overrides: { start?: string; headers?: Record<string, string | string[] | null> }): string[] {
  const headers = {
    Host: url.host,
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
    Connection: 'close',
    ...overrides.headers,
  };
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}: ${one}`),
  );
  return [overrides.start ?? `POST ${url.pathname} HTTP/1.1`, ...fields];
}

const hostile: Array<[what: string, build: () => Parameters<typeof buildRequest>[0]]> = [
  ['another Host', () => ({ headers: { Host: 'evil.example' } })],
  ['another Host on our port', () => ({ headers: { Host: `evil.example:${url.port}` } })],
  ['a Host with a trailing dot', () => ({ headers: { Host: `localhost.:${url.port}` } })],
  ['a Host without the port', () => ({ headers: { Host: 'localhost' } })],
  ['a Host with another port', () => ({ headers: { Host: 'localhost:1' } })],
  ['a Host in IPv6', () => ({ headers: { Host: `[::1]:${url.port}` } })],
  ['a Host with user info', () => ({ headers: { Host: `evil@127.0.0.1:${url.port}` } })],
  ['two Hosts', () => ({ headers: { Host: [url.host, 'evil.example'] } })],
  ['no Host', () => ({ headers: { Host: null } })],
  ['an empty Host', () => ({ headers: { Host: '' } })],
  ['a foreign Origin', () => ({ headers: { Origin: 'https://evil.example' } })],
  ['an opaque Origin', () => ({ headers: { Origin: 'null' } })],
  ['an Origin on another port', () => ({ headers: { Origin: 'http://localhost:1' } })],
  ['our Origin over https', () => ({ headers: { Origin: `https://${url.host}` } })],
  ['a second, foreign Origin', () => ({ headers: { Origin: [url.origin, 'https://evil.example'] } })],
  ['no secret', () => ({ start: 'POST /mcp HTTP/1.1' })],
  ['a wrong secret', () => ({ start: `POST /${'x'.repeat(32)}/mcp HTTP/1.1` })],
  ['the secret and more', () => ({ start: `POST ${url.pathname}/x HTTP/1.1` })],
  ['the secret and a query', () => ({ start: `POST ${url.pathname}?k=1 HTTP/1.1` })],
  ['dots in the path', () => ({ start: `POST /x/..${url.pathname} HTTP/1.1` })],
  ['encoded dots in the path', () => ({ start: `POST /%2e%2e${url.pathname} HTTP/1.1` })],
  ['a doubled slash', () => ({ start: `POST /${url.pathname} HTTP/1.1` })],
  ['a backslash', () => ({ start: `POST ${url.pathname.replace('/mcp', '\\mcp')} HTTP/1.1` })],
  ['an absolute URL of another host', () => ({ start: `POST http://evil.example${url.pathname} HTTP/1.1` })],
  ['an absolute URL of the bridge', () => ({ start: `POST ${url.href} HTTP/1.1` })],
  ['a line break in the path', () => ({ start: `POST ${url.pathname}\r\nX: HTTP/1.1` })],
  ['TRACE', () => ({ start: `TRACE ${url.pathname} HTTP/1.1` })],
  ['CONNECT', () => ({ start: `CONNECT ${url.host} HTTP/1.1` })],
  ['OPTIONS', () => ({ start: `OPTIONS ${url.pathname} HTTP/1.1` })],
  ['PUT', () => ({ start: `PUT ${url.pathname} HTTP/1.1` })],
  ['an upgrade', () => ({ headers: { Connection: 'Upgrade', Upgrade: 'websocket' } })],
  ['two lengths', () => ({ headers: { 'Content-Length': ['1', String(body.length)] } })],
  ['a length and chunks', () => ({ headers: { 'Transfer-Encoding': 'chunked' } })],
  ['a form', () => ({ headers: { 'Content-Type': 'application/x-www-form-urlencoded' } })],
  ['plain text', () => ({ headers: { 'Content-Type': 'text/plain' } })],
  ['a huge declared body', () => ({ headers: { 'Content-Length': String(17 * 1024 * 1024) } })],
];

describe('a hostile request', () => {
  it.each(hostile)('with %s is refused', async (_what, build) => {
    const status = await sendRaw(url, buildRequest(build()), body);
    expect(status ?? 400).toBeGreaterThanOrEqual(400);
    expect(status ?? 400).toBeLessThan(500);
  });

  it('reaches no server, whereas the same request without the flaw does', async () => {
    // One line was written by the process that was asked who it is; each session that is opened writes one more.
    expect(server.stderrTail()).toHaveLength(1);
    // It starts a process, which takes long on a busy machine.
    expect(await sendRaw(url, buildRequest({}), body, { silentMs: 300_000 })).toBe(200);
    expect(server.stderrTail()).toHaveLength(2);
  });
});

describe('the body of a request', () => {
  const post = (content: string | ReadableStream, headers = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
      body: content,
      ...(typeof content === 'string' ? {} : { duplex: 'half' as const }),
    });

  it.each([
    ['no JSON', '{', 400],
    ['a batch', `[${body}]`, 400],
    ['no session', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', 400],
  ])('with %s is refused', async (_what, content, status) => {
    const response = await post(content);
    expect([response.status, await response.json()]).toMatchObject([status, { jsonrpc: '2.0', id: null, error: {} }]);
  });

  it('for an unknown session is answered with 404, so that the client initializes again', async () => {
    const response = await post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', { 'mcp-session-id': 'unknown' });
    expect(response.status).toBe(404);
  });

  it('in an unknown version of the protocol is refused', async () => {
    const headers = { 'mcp-session-id': 'unknown', 'mcp-protocol-version': '1999-01-01' };
    expect((await post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', headers)).status).toBe(400);
  });

  it('may be large, but has an end, even when it does not say its length', async () => {
    await using client = await connectClient(server.url);
    const value = 'x'.repeat(8 * 1024 * 1024);
    expect(await client.call('echo', { value })).toBe(value);
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)) });
    const outcome = await post(endless).then(
      (response) => response.status,
      () => 'cut off',
    );
    expect([413, 'cut off']).toContain(outcome);
    expect(await client.call('echo', { value: 1 })).toBe(1);
  });
});
