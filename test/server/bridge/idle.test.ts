import { describe, expect, it } from 'vitest';

import type { Clock } from '../../../src/base/time.ts';
import { createHurriedClock, createJumpingClock } from '../../support/clocks/bent-clock.ts';
import { listMarkedPids } from '../../support/process/processes.ts';
import { connectClient, openPlainServer } from '../../support/servers/running-server.ts';

/** Checks sessions a hundred times as often as usual. The minutes in which they are idle pass by `jump` alone. */
async function openIdleServer(isolation: 'iteration' | 'run') {
  const jumping = createJumpingClock({ fromMs: 0, toMs: 0, instead: 0 });
  const hurried = createHurriedClock({ fromMs: 4999, toMs: 5001, instead: 50 });
  const clock: Clock = { ...jumping, sleep: (delayMs, options) => hurried.sleep(delayMs, options) };
  return { server: await openPlainServer({ isolation }, { clock }), jump: (byMs: number) => jumping.jump(byMs) };
}

describe('an idle session', () => {
  it('ends when its client is gone, and no other session ends', async () => {
    const { server, jump } = await openIdleServer('iteration');
    await using _server = server;
    await using staying = await connectClient(server.url);
    const leaving = await connectClient(server.url);
    const pids = [await staying.call('pid'), await leaving.call('pid')];
    await leaving.client.close();
    jump(600_000);
    await expect.poll(() => listMarkedPids(server.sessionMarker ?? '')).toEqual([pids[0]]);
    expect(await staying.call('pid')).toBe(pids[0]);
  });

  it('does not block the next session for ever if they share a process', async () => {
    const { server, jump } = await openIdleServer('run');
    await using _server = server;
    const leaving = await connectClient(server.url);
    expect(await leaving.call('count')).toBe(1);
    await leaving.client.close();
    jump(600_000);
    await using next = await connectClient(server.url);
    expect(await next.call('count')).toBe(2);
  });

  it('makes room when there are too many', async () => {
    await using server = await openPlainServer();
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'many', version: '1' } },
    };
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
    const open = async () => {
      const response = await fetch(server.url, { method: 'POST', headers, body: JSON.stringify(initialize) });
      await response.text();
      return response.headers.get('mcp-session-id') ?? '';
    };
    const ids: string[] = [];
    for (let i = 0; i < 33; i += 1) ids.push(await open());
    const ping = async (id: string | undefined) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });
      return (await fetch(server.url, { method: 'POST', headers: { ...headers, 'mcp-session-id': id ?? '' }, body }))
        .status;
    };
    expect([await ping(ids[0]), await ping(ids[1]), await ping(ids[32])]).toEqual([404, 200, 200]);
  });
});

describe('a stream on which nothing happens', () => {
  it('carries a comment at intervals', async () => {
    const { server } = await openIdleServer('iteration');
    await using _server = server;
    await using client = await connectClient(server.url);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'hang', method: 'tools/call', params: { name: 'hang' } });
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-session-id': client.transport.sessionId ?? '',
    };
    const response = await fetch(server.url, { method: 'POST', headers, body });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toMatch(/^: keep-alive\n\n/);
    await reader?.cancel();
  });
});
