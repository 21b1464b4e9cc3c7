import { describe, expect, it } from 'vitest';

import { systemClock } from '../../../src/base/time.ts';
import { createIterationBudget, openSession } from '../../../src/mcp/session.ts';
import { listMarkedPids } from '../../support/process/processes.ts';
import {
  connectByPipes,
  openPlainServer,
  openTestServer,
  type TestServer,
} from '../../support/servers/running-server.ts';

const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } };

describe('a client that uses the pipes of a server with sessions', () => {
  it('has a process to itself, which ends with the client', async () => {
    await using server = await openPlainServer();
    const first = await connectByPipes(server);
    await using second = await connectByPipes(server);
    expect(await Promise.all([first.call('count'), second.call('count')])).toEqual([1, 1]);
    const pid = (await first.call('pid')) as number;
    await first[Symbol.asyncDispose]();
    await expect.poll(() => listMarkedPids(server.sessionMarker ?? '')).not.toContain(pid);
    expect(await second.call('count')).toBe(2);
  });

  it('gets an error for each request when the server crashes, and the witness knows the end', async () => {
    await using server = await openPlainServer();
    await using client = await connectByPipes(server);
    const waiting = client.call('echo', { value: 1, delayMs: 60_000 });
    const crashing = client.call('crash', { code: 9 });
    const error = { code: -32_000, data: { reason: 'server_exited', exitCode: 9 } };
    await Promise.all([expect(waiting).rejects.toMatchObject(error), expect(crashing).rejects.toMatchObject(error)]);
    await expect(client.call('pid')).rejects.toMatchObject(error);
    using visit = await server.witness!.visit({ isAlone: false, signal: new AbortController().signal });
    const found = await visit.findEnd(client.transport.sessionId, { mayBeEnding: false });
    expect(found).toMatchObject({ end: { exitCode: 9, signal: null }, isOwn: true });
    expect(found?.end.lastLines.at(-1)).toMatch(/^plain-server \d+ is up$/);
  });

  it('is refused once the server is stopped', async () => {
    const server = await openPlainServer();
    await server[Symbol.asyncDispose]();
    await expect(connectByPipes(server)).rejects.toThrow('The server under test is being stopped.');
  });

  it('waits for its turn on a shared process, and may give up the wait', async () => {
    await using server = await openPlainServer({ isolation: 'run' });
    const first = await connectByPipes(server);
    const pid = await first.call('pid');
    const left = new AbortController();
    const impatient = openSessionOf(server, left.signal);
    const patient = connectByPipes(server);
    left.abort(new Error('enough'));
    await expect(impatient).rejects.toThrow('enough');
    await first[Symbol.asyncDispose]();
    await using next = await patient;
    expect(await next.call('pid')).toBe(pid);
  });

  it('shares the processes with clients over HTTP', async () => {
    await using server = await openPlainServer({ isolation: 'run' });
    const pids: unknown[] = [];
    for (const endpoint of [server.endpoint, { url: server.url }, server.endpoint]) {
      const target = { ...endpoint, serverName: 'plain', protocol: 'legacy' as const };
      const { signal } = new AbortController();
      await using session = await openSession(target, { clock: systemClock, signal });
      const { content } = await session.callTool('pid', {}, { signal });
      pids.push(JSON.stringify(content));
    }
    expect(new Set(pids).size).toBe(1);
  });
});

describe('a client that uses the pipes of a server of the stateless protocol', () => {
  it('shares one process with others, without mixing up their answers', async () => {
    await using server = await openTestServer({ env: { ERA: 'modern' } });
    const answers = await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        await using client = await connectByPipes(server, pinned);
        const calls = Array.from({ length: 5 }, (_unused, call) =>
          client.call('echo', { value: `${index}-${call}`, delayMs: 5 }),
        );
        return [await client.call('pid'), ...(await Promise.all(calls))];
      }),
    );
    const pid = answers[0]?.[0];
    expect(answers).toEqual([0, 1, 2, 3].map((index) => [pid, ...[0, 1, 2, 3, 4].map((call) => `${index}-${call}`)]));
  });

  it('cancels a call with a notification', async () => {
    await using server = await openTestServer({ env: { ERA: 'modern' } });
    await using client = await connectByPipes(server, pinned);
    const stop = new AbortController();
    const hanging = client.call('hang', { label: 'given up' }, { signal: stop.signal });
    await client.call('count');
    stop.abort('enough');
    await expect(hanging).rejects.toThrow('enough');
    await expect.poll(() => client.call('cancelled')).toEqual(['given up']);
  });
});

describe('the traffic of a client that uses pipes', () => {
  it('counts towards the limits of an iteration', async () => {
    await using server = await openPlainServer();
    const target = { ...server.endpoint, serverName: 'plain', protocol: 'legacy' as const };
    const { signal } = new AbortController();
    const budget = createIterationBudget();
    await using session = await openSession(target, { clock: systemClock, signal, budget });
    const value = 'x'.repeat(33 * 1024 * 1024);
    const echo = async () => await session.callTool('echo', { value }, { signal });
    await echo();
    await expect(echo()).rejects.toThrow(
      'The server sent more than 64 MiB in 4 responses, the limit for one iteration.',
    );
  });
});

async function openSessionOf(server: TestServer, signal: AbortSignal) {
  const target = { ...server.endpoint, serverName: 'plain', protocol: 'legacy' as const };
  return await openSession(target, { clock: systemClock, signal });
}
