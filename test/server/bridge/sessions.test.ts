import { describe, expect, it } from 'vitest';

import { listMarkedPids } from '../../support/processes.ts';
import { connectClient, openTestServer } from '../../support/running-server.ts';

describe('a session', () => {
  it('has a process to itself, so nothing leaks from one to the next', async () => {
    await using server = await openTestServer({ spares: 1 });
    const counts: unknown[] = [];
    const pids = new Set<unknown>();
    for (let i = 0; i < 3; i += 1) {
      await using client = await connectClient(server.url);
      counts.push(await client.call('count'), await client.call('count'));
      pids.add(await client.call('pid'));
    }
    expect([counts, pids.size]).toEqual([[1, 2, 1, 2, 1, 2], 3]);
  });

  it('runs beside others without mixing up answers, although all clients number alike', async () => {
    await using server = await openTestServer({ spares: 2 });
    const answers = await Promise.all(
      Array.from({ length: 6 }, async (_, session) => {
        await using client = await connectClient(server.url);
        const calls = Array.from({ length: 10 }, (_unused, call) =>
          client.call('echo', { value: `${session}-${call}`, delayMs: (7 * call) % 10 }),
        );
        return await Promise.all(calls);
      }),
    );
    const expected = Array.from({ length: 6 }, (_, s) => Array.from({ length: 10 }, (_unused, c) => `${s}-${c}`));
    expect(answers).toEqual(expected);
  });

  it('ends its process on DELETE and is then unknown', async () => {
    await using server = await openTestServer();
    const client = await connectClient(server.url);
    const pid = (await client.call('pid')) as number;
    await client.transport.terminateSession();
    await expect.poll(() => listMarkedPids(server.sessionMarker ?? '')).not.toContain(pid);
    await client[Symbol.asyncDispose]();
  });

  it('answers what is in flight when its server crashes, and then 404', async () => {
    await using server = await openTestServer();
    await using client = await connectClient(server.url);
    const waiting = client.call('echo', { value: 1, delayMs: 60_000 });
    const crashing = client.call('crash', { code: 9 });
    const error = { code: -32_000, data: { reason: 'server_exited', exitCode: 9 } };
    await Promise.all([expect(waiting).rejects.toMatchObject(error), expect(crashing).rejects.toMatchObject(error)]);
    await expect(client.call('pid')).rejects.toMatchObject({ data: { status: 404 } });
    const lost = await server.lost;
    expect([lost.message, lost.processExitCode]).toEqual([
      'The server under test exited with code 9 while it was in use.',
      9,
    ]);
  });

  it('gets a fresh server after a crash', async () => {
    await using server = await openTestServer({ spares: 1 });
    await using client = await connectClient(server.url);
    await expect(client.call('crash', { code: 1 })).rejects.toThrow(/exited with code 1/);
    await using next = await connectClient(server.url);
    expect(await next.call('count')).toBe(1);
  });

  it('gets no more servers once they have crashed too often', async () => {
    await using server = await openTestServer();
    for (let i = 0; i < 10; i += 1) {
      await using client = await connectClient(server.url);
      await client.call('crash', { code: 1 }).catch(() => {});
    }
    await expect(connectClient(server.url)).rejects.toThrow(/ended by itself 10 times/);
  });

  it('does not count our own stopping as a loss', async () => {
    const server = await openTestServer({ spares: 1 });
    await using client = await connectClient(server.url);
    await client.call('count');
    await server[Symbol.asyncDispose]();
    const outcome = await Promise.race([
      server.lost,
      new Promise((resolve) => setTimeout(() => resolve('nothing'), 50)),
    ]);
    expect(outcome).toBe('nothing');
  });
});

describe('spares', () => {
  it('wait for the next session and are replaced when it comes', async () => {
    await using server = await openTestServer({ spares: 2 });
    const listPids = () => listMarkedPids(server.sessionMarker ?? '');
    await expect.poll(() => listPids().length).toBe(2);
    const spares = listPids();
    await using client = await connectClient(server.url);
    expect(spares).toContain(await client.call('pid'));
    await expect.poll(() => listPids().length).toBe(3);
  });
});

describe('isolation by run', () => {
  it('keeps one process and repeats its introduction to every session', async () => {
    await using server = await openTestServer({ isolation: 'run', spares: 3 });
    expect(server.report.isolation).toBe('one process for the run');
    const seen: unknown[] = [];
    for (let i = 0; i < 3; i += 1) {
      await using client = await connectClient(server.url);
      seen.push([client.client.getServerVersion()?.name, await client.call('count')]);
    }
    expect(seen).toEqual([
      ['stdio-server', 1],
      ['stdio-server', 2],
      ['stdio-server', 3],
    ]);
    expect(listMarkedPids(server.sessionMarker ?? '').length).toBe(1);
  });

  it('lets a session wait until the one before has ended', async () => {
    await using server = await openTestServer({ isolation: 'run' });
    const order: string[] = [];
    const first = await connectClient(server.url);
    const open = async () => {
      await using _client = await connectClient(server.url);
      order.push('second begins');
    };
    const second = open();
    await first.call('echo', { value: 1, delayMs: 100 });
    order.push('first ends');
    await first[Symbol.asyncDispose]();
    await second;
    expect(order).toEqual(['first ends', 'second begins']);
  });

  it('keeps an answer that comes late from the next session', async () => {
    await using server = await openTestServer({ isolation: 'run' });
    const first = await connectClient(server.url);
    const late = first.call('echo', { value: 'late', delayMs: 150 }).catch(() => 'given up');
    await new Promise((resolve) => setTimeout(resolve, 30));
    await first[Symbol.asyncDispose]();
    await using second = await connectClient(server.url);
    expect(await second.call('echo', { value: 'mine', delayMs: 300 })).toBe('mine');
    expect(await late).toBe('given up');
  });

  it('starts a fresh process after a crash', async () => {
    await using server = await openTestServer({ isolation: 'run' });
    await using first = await connectClient(server.url);
    await first.call('count');
    await expect(first.call('crash', { code: 2 })).rejects.toThrow(/exited with code 2/);
    await using second = await connectClient(server.url);
    expect(await second.call('count')).toBe(1);
  });

  it('starts a fresh process where a session left before it was opened', async () => {
    await using server = await openTestServer({ isolation: 'run' });
    const refused = await fetch(server.url, {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}',
    });
    expect(await refused.text()).toMatch(/"error":/);
    await using client = await connectClient(server.url);
    expect(await client.call('count')).toBe(1);
  });
});
