import { once } from 'node:events';
import { createServer } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import { openHttpProxy } from '../../src/capture/http-proxy.ts';
import { type JournalEntry, readMessage } from '../../src/capture/journal.ts';
import { readSession } from '../../src/capture/session.ts';
import { startEverythingServer } from '../support/servers/everything-server.ts';
import { startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';

/** Records what passes to a server and back. */
async function openRecording(server: { url: string }) {
  const entries: JournalEntry[] = [];
  const proxy = await openHttpProxy({
    port: 0,
    target: (path) => new URL(path, server.url),
    onMessage: (from, message, origin) => entries.push(readMessage(message, { timeMs: 0, from, ...origin })),
  });
  return {
    url: new URL(new URL(server.url).pathname, `http://127.0.0.1:${proxy.port}`),
    read: () => readSession(entries),
    [Symbol.asyncDispose]: async () => await proxy[Symbol.asyncDispose](),
  };
}

describe('a session over HTTP', () => {
  it('of 2026-07-28, and of both clients of the SDK, is recorded with its answers', async () => {
    await using server = await startFixtureMcpServer(
      { greet: { call: ({ args }) => text(`Hello ${String(args['name'])}`) } },
      { era: 'both' },
    );
    await using recording = await openRecording(server);
    const modern = new Client(
      { name: 'modern', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await modern.connect(new StreamableHTTPClientTransport(recording.url));
    const legacy = new FirstClient({ name: 'legacy', version: '1' });
    await legacy.connect(new FirstTransport(recording.url));
    expect(modern.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    await modern.listTools();
    await modern.callTool({ name: 'greet', arguments: { name: 'Ada' } });
    await legacy.listTools();
    await legacy.callTool({ name: 'greet', arguments: { name: 'Bob' } });
    await Promise.all([modern.close(), legacy.close()]);
    const { steps, left, tools } = recording.read();
    expect([...tools.keys()]).toEqual(['greet']);
    expect(left).toEqual([]);
    expect(steps).toMatchObject(
      ['Ada', 'Bob'].map((name) => ({
        request: { tool: 'greet', arguments: { name } },
        outcome: { kind: 'result', result: { content: [{ text: `Hello ${name}` }] } },
      })),
    );
    expect(new Set(steps.map(({ session }) => session)).size).toBe(2);
  });

  it('keeps two clients apart that use the same ids at once without a session', async () => {
    const second = Promise.withResolvers<void>();
    // Begins both streams at once, and answers the first client last.
    const server = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      void (async () => {
        let body = '';
        for await (const chunk of request) body += String(chunk);
        const { id, params } = JSON.parse(body);
        if (params.arguments.name === 'Ada') await second.promise;
        const result = text(`Hello ${params.arguments.name}`);
        response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
      })();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    await using recording = await openRecording({ url: `http://127.0.0.1:${port}/mcp` });
    const call = async (name: string) => {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'greet', arguments: { name } } };
      const headers = { 'content-type': 'application/json' };
      return await fetch(recording.url, { method: 'POST', headers, body: JSON.stringify(body) });
    };
    const first = await call('Ada');
    expect(await (await call('Bob')).text()).toContain('Hello Bob');
    second.resolve();
    expect(await first.text()).toContain('Hello Ada');
    server.close();
    const { steps, left } = recording.read();
    expect(left).toEqual([]);
    expect(steps).toMatchObject(
      ['Bob', 'Ada'].map((name) => ({
        request: { arguments: { name } },
        outcome: { result: { content: [{ text: `Hello ${name}` }] } },
      })),
    );
  });

  it('has an answer that came after the client had lost its stream and resumed it', async () => {
    await using server = await startEverythingServer();
    await using recording = await openRecording(server);
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const post = async (message: object, more: Record<string, string>) =>
      await fetch(recording.url, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      });
    const clientInfo = { name: 'person', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const first = await post({ id: 1, method: 'initialize', params }, {});
    await first.text();
    const session = { 'mcp-session-id': first.headers.get('mcp-session-id') ?? '' };
    await (await post({ method: 'notifications/initialized' }, session)).text();
    const call = {
      name: 'trigger-long-running-operation',
      arguments: { duration: 0.5, steps: 2 },
      _meta: { progressToken: 'p' },
    };
    const lost = await post({ id: 2, method: 'tools/call', params: call }, session);
    const reader = lost.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    const [, id = ''] = /^id: ?(.+)$/m.exec(new TextDecoder().decode(value)) ?? [];
    expect(id).not.toBe('');
    await reader?.cancel();
    // The server has the answer for a stream that is resumed after its end.
    const resume = async () => {
      const resumed = await fetch(recording.url, {
        headers: { accept: 'text/event-stream', 'last-event-id': id, ...session },
        signal: AbortSignal.timeout(500),
      });
      const rest = resumed.body?.getReader();
      const read = await rest?.read();
      await rest?.cancel();
      return new TextDecoder().decode(read?.value);
    };
    await expect.poll(async () => await resume().catch(() => '')).toContain('completed');
    expect(recording.read().steps).toMatchObject([
      { request: { tool: 'trigger-long-running-operation' }, outcome: { kind: 'result', isError: false } },
    ]);
  });
});
