import type { Client, ClientOptions } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';

import {
  connectByPipes,
  connectClient,
  openTestServer,
  type TestServer,
} from '../../support/servers/running-server.ts';

const capabilities = { sampling: {} };

/** Answers every sampling request with what it was asked. */
function answerSampling(client: Client): void {
  client.setRequestHandler('sampling/createMessage', ({ params }) => {
    const [message] = params.messages;
    return { model: 'test', role: 'assistant', content: message?.content as { type: 'text'; text: string } };
  });
}

const connections = {
  'over HTTP': async ({ url }: TestServer, ...options: Connecting) => await connectClient(url, ...options),
  'through its pipes': connectByPipes,
};
type Connecting = [options?: ClientOptions, prepare?: (client: Client) => void];

describe.each(
  (['iteration', 'run'] as const).flatMap((isolation) =>
    Object.entries(connections).map(([way, connect]) => ({ isolation, way, connect })),
  ),
)('a client of a server on stdio, $way, isolated by $isolation', ({ isolation, connect }) => {
  it('progress reaches the request that asked for it, in order and before the answer', async () => {
    await using server = await openTestServer({ isolation });
    await using client = await connect(server);
    const follow = async (steps: number) => {
      const seen: number[] = [];
      const answer = await client.call(
        'progress',
        { steps, delayMs: 5 },
        { onprogress: ({ progress }) => seen.push(progress) },
      );
      return [...seen, answer];
    };
    expect(await Promise.all([follow(3), follow(5), follow(1)])).toEqual([
      [1, 2, 3, 'done'],
      [1, 2, 3, 4, 5, 'done'],
      [1, 'done'],
    ]);
  });

  it('a server may ask the client for something while it works', async () => {
    await using server = await openTestServer({ isolation });
    await using client = await connect(server, { capabilities }, answerSampling);
    expect(await client.call('sample', { prompt: 'hello' })).toEqual({ type: 'text', text: 'hello' });
    const both = Promise.all(['one', 'two'].map((prompt) => client.call('sample', { prompt })));
    expect(await both).toEqual([
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ]);
  });

  it('log messages reach the client', async () => {
    await using server = await openTestServer({ isolation });
    const seen: unknown[] = [];
    await using client = await connect(server, {}, (prepared) => {
      prepared.setNotificationHandler('notifications/message', ({ params }) => {
        seen.push(params.data);
      });
    });
    await client.call('log', { data: 'working' });
    expect(seen).toEqual(['working']);
  });

  it('cancelling reaches the server', async () => {
    await using server = await openTestServer({ isolation });
    await using client = await connect(server);
    const stop = new AbortController();
    const hanging = client.call('hang', { label: 'first' }, { signal: stop.signal });
    await client.call('count');
    stop.abort('enough');
    await expect(hanging).rejects.toThrow('enough');
    await expect.poll(() => client.call('cancelled')).toEqual(['first']);
  });
});

describe.each(['iteration', 'run'] as const)('a client over HTTP, isolated by %s', (isolation) => {
  it('a lost connection cancels nothing', async () => {
    await using server = await openTestServer({ isolation });
    await using client = await connectClient(server.url);
    const left = new AbortController();
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-session-id': client.transport.sessionId ?? '',
    };
    const params = { name: 'hang', arguments: { label: 'left' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'by hand', method: 'tools/call', params });
    const request = fetch(server.url, { method: 'POST', headers, body, signal: left.signal });
    await client.call('count');
    left.abort();
    await expect(request).rejects.toThrow('aborted');
    await client.call('count');
    expect(await client.call('cancelled')).toEqual([]);
  });
});
