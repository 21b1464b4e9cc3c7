import { describe, expect, it } from 'vitest';

import { silentLogger } from '../../../src/base/logger.ts';
import { listMarkedPids } from '../../support/process/processes.ts';
import { connectClient, openPlainServer } from '../../support/servers/running-server.ts';

describe('a session', () => {
  it('has a process to itself, so nothing leaks from one to the next', async () => {
    await using server = await openPlainServer({ sessions: { count: null, warmProcesses: 1, isExclusive: false } });
    const counts: unknown[] = [];
    const pids = new Set<unknown>();
    for (let i = 0; i < 3; i += 1) {
      await using client = await connectClient(server.url);
      counts.push(await client.call('count'), await client.call('count'));
      pids.add(await client.call('pid'));
    }
    expect([counts, pids.size]).toEqual([[1, 2, 1, 2, 1, 2], 3]);
  });

  it('runs in parallel with others without mixing up answers, although all clients number alike', async () => {
    await using server = await openPlainServer({ sessions: { count: null, warmProcesses: 2, isExclusive: false } });
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
    await using server = await openPlainServer();
    const client = await connectClient(server.url);
    const pid = (await client.call('pid')) as number;
    await client.transport.terminateSession();
    await expect.poll(() => listMarkedPids(server.sessionMarker ?? '')).not.toContain(pid);
    await client[Symbol.asyncDispose]();
  });

  it('answers what is in flight when its server crashes, and then 404', async () => {
    await using server = await openPlainServer();
    await using client = await connectClient(server.url);
    const waiting = client.call('echo', { value: 1, delayMs: 60_000 });
    const crashing = client.call('crash', { code: 9 });
    const error = { code: -32_000, data: { reason: 'server_exited', exitCode: 9 } };
    await Promise.all([expect(waiting).rejects.toMatchObject(error), expect(crashing).rejects.toMatchObject(error)]);
    await expect(client.call('pid')).rejects.toMatchObject({
      data: { status: 404, text: expect.stringContaining('exited with code 9') },
    });
    using visit = await server.witness!.visit({ isAlone: false, signal: new AbortController().signal });
    const found = await visit.findEnd(client.transport.sessionId, { mayBeEnding: false });
    expect(found).toMatchObject({ end: { exitCode: 9, signal: null }, isOwn: true });
    expect(found?.end.lastLines.at(-1)).toMatch(/^plain-server \d+ is up$/);
    expect(await Promise.race([server.lost, Promise.resolve('nothing')])).toBe('nothing');
  });

  it('gets a fresh server after a crash', async () => {
    await using server = await openPlainServer({ sessions: { count: null, warmProcesses: 1, isExclusive: false } });
    await using client = await connectClient(server.url);
    await expect(client.call('crash', { code: 1 })).rejects.toThrow(/exited with code 1/);
    await using next = await connectClient(server.url);
    expect(await next.call('count')).toBe(1);
  });

  it('gets a server however many have crashed under calls', async () => {
    await using server = await openPlainServer();
    for (let i = 0; i < 11; i += 1) {
      await using client = await connectClient(server.url);
      await expect(client.call('crash', { code: 1 })).rejects.toThrow(/exited with code 1/);
    }
    await using next = await connectClient(server.url);
    expect(await next.call('count')).toBe(1);
  });

  it('is not lost if its server exits after its last answer', async () => {
    await using server = await openPlainServer();
    await using client = await connectClient(server.url);
    expect(await client.call('leave', { code: 0 })).toBe('bye');
    await expect.poll(() => listMarkedPids(server.sessionMarker ?? '')).toEqual([]);
    expect(await Promise.race([server.lost, Promise.resolve('nothing')])).toBe('nothing');
  });

  it('is not lost if the gate itself stops its server', async () => {
    const server = await openPlainServer({ sessions: { count: null, warmProcesses: 1, isExclusive: false } });
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
    await using server = await openPlainServer({ sessions: { count: null, warmProcesses: 2, isExclusive: false } });
    const listPids = () => listMarkedPids(server.sessionMarker ?? '');
    await expect.poll(() => listPids().length).toBe(2);
    const spares = listPids();
    await using client = await connectClient(server.url);
    expect(spares).toContain(await client.call('pid'));
    await expect.poll(() => listPids().length).toBe(3);
  });

  it('are not started for sessions that will not come', async () => {
    await using server = await openPlainServer({ sessions: { count: 2, warmProcesses: 4, isExclusive: false } });
    const listPids = () => listMarkedPids(server.sessionMarker ?? '');
    await using first = await connectClient(server.url);
    await using second = await connectClient(server.url);
    const pids = [await first.call('pid'), await second.call('pid')];
    expect(new Set(listPids())).toEqual(new Set(pids));
    await using unexpected = await connectClient(server.url);
    expect(await unexpected.call('count')).toBe(1);
  });

  it('are given up if they exit, and sessions start without them', async () => {
    const ends: string[] = [];
    const logger = { ...silentLogger, debug: (message: string) => void ends.push(message) };
    await using server = await openPlainServer(
      { sessions: { count: null, warmProcesses: 2, isExclusive: false }, env: { IMPATIENCE_MS: '200' } },
      { logger },
    );
    const countStarts = () => server.stderrTail().filter((line) => line.endsWith('is up')).length;
    // The process of the readiness check does not leave; the other spare does, and so do the two that replace it.
    await expect.poll(() => ends).toHaveLength(3);
    expect(ends[0]).toBe('A spare server ended by itself (5).');
    await using client = await connectClient(server.url);
    expect([await client.call('count'), countStarts()]).toEqual([1, 5]);
  });
});

describe('an exclusive plan', () => {
  const exclusive = (count: number) => ({ count, warmProcesses: 1, isExclusive: true });

  it('starts a process only once the one before it has ended, and then before it is asked for', async () => {
    await using server = await openPlainServer({ sessions: exclusive(2) });
    const listPids = () => listMarkedPids(server.sessionMarker ?? '');
    const first = await connectClient(server.url);
    const firstPid = await first.call('pid');
    const second = connectClient(server.url);
    await first.call('echo', { value: 1, delayMs: 100 });
    expect(listPids()).toEqual([firstPid]);
    await first[Symbol.asyncDispose]();
    await using last = await second;
    expect(listPids()).toEqual([await last.call('pid')]);
    expect(listPids()).not.toContain(firstPid);
  });

  it('ends the spares of the plan before it, and waits for its processes', async () => {
    await using server = await openPlainServer({ sessions: { count: null, warmProcesses: 2, isExclusive: false } });
    const listPids = () => listMarkedPids(server.sessionMarker ?? '');
    const before = await connectClient(server.url);
    const earlier = await before.call('pid');
    await expect.poll(() => listPids().length).toBe(3);
    server.planSessions(exclusive(1));
    await expect.poll(listPids).toEqual([earlier]);
    const next = connectClient(server.url);
    await before[Symbol.asyncDispose]();
    await using client = await next;
    expect(listPids()).toEqual([await client.call('pid')]);
  });

  it('is over when processes may overlap again, but not before its last one has ended', async () => {
    await using server = await openPlainServer({ sessions: exclusive(1) });
    const listPids = () => listMarkedPids(server.sessionMarker ?? '');
    const alone = await connectClient(server.url);
    const pid = await alone.call('pid');
    server.planSessions({ count: null, warmProcesses: 2, isExclusive: false });
    expect(listPids()).toEqual([pid]);
    await alone[Symbol.asyncDispose]();
    await using client = await connectClient(server.url);
    expect(await client.call('pid')).not.toBe(pid);
    await expect.poll(() => listPids().length).toBe(3);
  });

  it('stops waiting when the server is stopped', async () => {
    const server = await openPlainServer({ sessions: exclusive(2) });
    await using _first = await connectClient(server.url);
    const second = connectClient(server.url).then(
      () => 'connected',
      () => 'refused',
    );
    await server[Symbol.asyncDispose]();
    expect(await second).toBe('refused');
  });
});

describe('isolation by run', () => {
  it('is lost by a crash that no witness can attribute, and not by an exit with every answer given', async () => {
    await using server = await openPlainServer({ isolation: 'run', isWitnessed: false });
    await using first = await connectClient(server.url);
    expect(await first.call('leave', { code: 0 })).toBe('bye');
    await expect.poll(() => listMarkedPids(server.sessionMarker ?? '')).toEqual([]);
    await using second = await connectClient(server.url);
    await expect(second.call('crash', { code: 4 })).rejects.toThrow(/exited with code 4/);
    const lost = await server.lost;
    expect([lost.message, lost.processExitCode]).toEqual([
      'The server under test exited with code 4 while it was in use.',
      4,
    ]);
  });

  it('keeps one process and repeats its introduction to every session', async () => {
    await using server = await openPlainServer({
      isolation: 'run',
      sessions: { count: null, warmProcesses: 3, isExclusive: false },
    });
    expect(server.report.isolation).toBe('one process for the run');
    const seen: unknown[] = [];
    for (let i = 0; i < 3; i += 1) {
      await using client = await connectClient(server.url);
      seen.push([client.client.getServerVersion()?.name, await client.call('count')]);
    }
    expect(seen).toEqual([
      ['plain-server', 1],
      ['plain-server', 2],
      ['plain-server', 3],
    ]);
    expect(listMarkedPids(server.sessionMarker ?? '').length).toBe(1);
  });

  it('lets a session wait until the one before has ended', async () => {
    await using server = await openPlainServer({ isolation: 'run' });
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
    await using server = await openPlainServer({ isolation: 'run' });
    const first = await connectClient(server.url);
    const late = first.call('hold').catch(() => 'given up');
    await expect.poll(() => first.call('held')).toBe(1);
    await first[Symbol.asyncDispose]();
    await using second = await connectClient(server.url);
    const mine = second.call('hold');
    await expect.poll(() => second.call('held')).toBe(2);
    expect(await second.call('release', { value: 'released' })).toBe('released');
    expect([await mine, await late]).toEqual(['released', 'given up']);
  });

  it('starts a fresh process after a crash', async () => {
    await using server = await openPlainServer({ isolation: 'run' });
    await using first = await connectClient(server.url);
    await first.call('count');
    await expect(first.call('crash', { code: 2 })).rejects.toThrow(/exited with code 2/);
    await using second = await connectClient(server.url);
    expect(await second.call('count')).toBe(1);
  });

  it('keeps a process that answers a call after its timeout', async () => {
    await using server = await openPlainServer({ isolation: 'run' });
    const first = await connectClient(server.url);
    await first.call('count');
    const givenUp = first.call('hang', {}, { timeout: 50 }).catch(() => 'given up');
    expect(await givenUp).toBe('given up');
    await first[Symbol.asyncDispose]();
    await using second = await connectClient(server.url);
    expect(await second.call('count')).toBe(2);
  });

  it('replaces a process that a call has blocked, which is no loss', async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warning: (message: string) => void warnings.push(message) };
    await using server = await openPlainServer({ isolation: 'run' }, { logger });
    const first = await connectClient(server.url);
    await first.call('count');
    const blocked = first.call('spin', {}, { timeout: 50 }).catch(() => 'given up');
    expect(await blocked).toBe('given up');
    await first[Symbol.asyncDispose]();
    await using second = await connectClient(server.url);
    expect(await second.call('count')).toBe(1);
    expect(warnings).toEqual([expect.stringMatching(/answers nothing since a call was given up/)]);
    expect(await Promise.race([server.lost, Promise.resolve('nothing')])).toBe('nothing');
  });

  it('starts a fresh process where a session left before it was opened', async () => {
    await using server = await openPlainServer({ isolation: 'run' });
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
