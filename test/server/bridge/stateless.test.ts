import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { connectClient, openTestServer, type TestServer } from '../../support/servers/running-server.ts';
import { createWorkspace } from '../../support/workspace.ts';

const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } };

let server: TestServer;
beforeAll(async () => {
  server = await openTestServer({ env: { ERA: 'modern' } });
});
afterAll(() => server[Symbol.asyncDispose]());

describe('the stateless protocol through the bridge', () => {
  it('serves many clients from one process without mixing up their answers', async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        await using client = await connectClient(server.url, pinned);
        const calls = Array.from({ length: 5 }, (_unused, call) =>
          client.call('echo', { value: `${index}-${call}`, delayMs: 5 }),
        );
        return [await client.call('pid'), ...(await Promise.all(calls))];
      }),
    );
    const pid = answers[0]?.[0];
    expect(answers).toEqual([0, 1, 2, 3].map((index) => [pid, ...[0, 1, 2, 3, 4].map((call) => `${index}-${call}`)]));
  });

  it('leads progress to the client that asked for it', async () => {
    const follow = async (steps: number) => {
      await using client = await connectClient(server.url, pinned);
      const seen: number[] = [];
      await client.call('progress', { steps, delayMs: 5 }, { onprogress: ({ progress }) => seen.push(progress) });
      return seen;
    };
    expect(await Promise.all([follow(2), follow(4)])).toEqual([
      [1, 2],
      [1, 2, 3, 4],
    ]);
  });

  it('turns a closed response stream into a cancelled notification', async () => {
    await using client = await connectClient(server.url, pinned);
    const stop = new AbortController();
    const hanging = client.call('hang', { label: 'closed' }, { signal: stop.signal });
    await client.call('count');
    stop.abort('enough');
    await expect(hanging).rejects.toThrow('enough');
    await expect.poll(() => client.call('cancelled')).toEqual(['closed']);
  });
});

describe('a stateless request by hand', () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'echo',
  };
  const params = { name: 'echo', arguments: { value: 1 }, _meta: meta };
  const message = { jsonrpc: '2.0', id: 'mine', method: 'tools/call', params };
  const post = async (changes: { headers?: Record<string, string>; message?: object }) => {
    const body = JSON.stringify({ ...message, ...changes.message });
    const response = await fetch(server.url, { method: 'POST', headers: { ...headers, ...changes.headers }, body });
    const answer = (await response.json()) as { id: unknown; error?: { code: number } };
    return [response.status, answer.id, answer.error?.code];
  };

  it('is answered under its own id', async () => {
    expect(await post({})).toEqual([200, 'mine', undefined]);
  });

  it.each([
    ['another method in the header', { headers: { 'mcp-method': 'tools/list' } }, 400, -32_020],
    ['another name in the header', { headers: { 'mcp-name': 'crash' } }, 400, -32_020],
    ['another version in the header', { headers: { 'mcp-protocol-version': '2025-11-25' } }, 400, -32_020],
    ['no version in the body', { message: { params: { ...params, _meta: {} } } }, 400, -32_602],
    ['an unknown method', { headers: { 'mcp-method': 'no/such' }, message: { method: 'no/such' } }, 404, -32_601],
    [
      'an unknown version',
      {
        headers: { 'mcp-protocol-version': '2027-01-01' },
        message: { params: { ...params, _meta: { ...meta, 'io.modelcontextprotocol/protocolVersion': '2027-01-01' } } },
      },
      400,
      -32_022,
    ],
    [
      'a handshake of the older protocol',
      { headers: { 'mcp-protocol-version': '' }, message: { method: 'initialize', params: {} } },
      400,
      -32_022,
    ],
  ])('with %s is refused as the specification says', async (_what, changes, status, code) => {
    expect(await post(changes)).toEqual([status, 'mine', code]);
  });

  it('may name what a header cannot hold in Base64', async () => {
    const name = `=?base64?${Buffer.from('echo').toString('base64')}?=`;
    expect(await post({ headers: { 'mcp-name': name } })).toEqual([200, 'mine', undefined]);
  });

  it.each(['GET', 'DELETE'])('is never a %s', async (method) => {
    const response = await fetch(server.url, { method, headers });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('is answered when the server crashes, and the next one finds a fresh server', async () => {
    const crash = {
      headers: { 'mcp-name': 'crash' },
      message: { params: { ...params, name: 'crash', arguments: { code: 5 } } },
    };
    expect(await post(crash)).toEqual([200, 'mine', -32_000]);
    expect(await post({})).toEqual([200, 'mine', undefined]);
  });

  it('gets a request of the server as long as no other call can have caused it', async () => {
    await using workspace = await createWorkspace({ 'server.mjs': requestingServer });
    await using asking = await openTestServer({ command: `${process.execPath} server.mjs`, cwd: workspace.path });
    /** Resolves once the server has said something about the request. */
    const send = async (method: string, name = '') => {
      const called = { name, _meta: { ...meta, progressToken: 1 } };
      return await fetch(asking.url, {
        method: 'POST',
        headers: { ...headers, 'mcp-method': method, 'mcp-name': name },
        body: JSON.stringify({ jsonrpc: '2.0', id: name, method, params: called }),
      });
    };
    const subscription = await send('subscriptions/listen');
    const alone = await send('tools/call', 'ask');
    expect(await alone.text()).toMatch(/"id":"own","method":"roots\/list".*\n.*"id":"ask"/s);
    const other = await send('tools/call', 'hold');
    const together = await send('tools/call', 'ask');
    await asking[Symbol.asyncDispose]();
    for (const answered of [together, other]) expect(await answered.text()).toMatch(/^(?!.*roots).*"result"/s);
    expect(await subscription.text()).not.toContain('roots');
  });
});

/** Asks its client for something before it answers `ask`; then it also answers `hold`. */
const requestingServer = `
import { createInterface } from 'node:readline';
const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
const common = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const discovered = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } };
const held = [];
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const progress = { progressToken: params?._meta?.progressToken, progress: 1 };
  if (method === 'server/discover') say({ id, result: { ...common, ...discovered } });
  if (method === 'initialize') say({ id, error: { code: -32601, message: 'Method not found' } });
  if (method === 'subscriptions/listen') say({ method: 'notifications/progress', params: progress });
  if (method !== 'tools/call') continue;
  held.push(id);
  if (params.name === 'hold') say({ method: 'notifications/progress', params: progress });
  if (params.name !== 'ask') continue;
  say({ id: 'own', method: 'roots/list' });
  for (const id of held.splice(0)) say({ id, result: { ...common, content: [] } });
}
`;
