import { describe, expect, it } from 'vitest';
import { startDeadline } from '../../src/base/time.ts';
import { unlimitedPacer } from '../../src/base/pacing.ts';
import { serviceProfiles } from '../../src/service/profile.ts';
import { waitForRun } from '../../src/service/wait.ts';
import { json, startHttpServer } from '../support/network/http-server.ts';
import { openTestClient } from '../support/service/service-client.ts';

const place = { projectId: 'p_1', runId: 'r_1' };
const run = (status: string) => json(200, { id: 'r_1', suiteId: 's_1', status });

describe('waitForRun', () => {
  it.each(['completed', 'failed', 'cancelled', 'timed_out'])('ends at the status %s', async (status) => {
    await using server = await startHttpServer([run('pending'), run('running'), run(status)]);
    await using client = openTestClient(server);
    const seen: string[] = [];
    const ended = await waitForRun(client, { ...place, onProgress: (progress) => seen.push(progress.status) });
    expect(ended.status).toBe(status);
    expect(seen).toEqual(['pending', 'running', status]);
    expect(client.clock.sleepsMs).toEqual([50, 62.5]);
  });

  it('asks at once when it hears that the run has ended, and then as before', async () => {
    await using server = await startHttpServer([run('running'), run('running'), run('running'), run('completed')]);
    await using client = openTestClient(server);
    const ended = Promise.resolve();
    expect((await waitForRun(client, { ...place, ended })).status).toBe('completed');
    expect(client.clock.sleepsMs).toEqual([50, 62.5, 78.125]);
    expect(client.clock.monotonicMs()).toBe(140.625);
  });

  it('asks after a run of which it never hears', async () => {
    await using server = await startHttpServer([run('running'), run('running'), run('completed')]);
    await using client = openTestClient(server);
    const ended = new Promise<void>(() => {});
    expect((await waitForRun(client, { ...place, ended })).status).toBe('completed');
    expect(client.clock.monotonicMs()).toBe(112.5);
  });

  it('asks a hosted service from every second to every ten', async () => {
    const running = Array.from({ length: 13 }, () => run('running'));
    await using server = await startHttpServer([...running, run('completed')]);
    await using client = openTestClient(server, { profile: serviceProfiles.mcpjam, pacer: unlimitedPacer });
    await waitForRun(client, place);
    expect(client.clock.sleepsMs.map(Math.round)).toEqual([
      1000, 1250, 1563, 1953, 2441, 3052, 3815, 4768, 5960, 7451, 9313, 10_000, 10_000,
    ]);
  });

  it.each([
    [0, [45, 56.25]],
    [0.999, [54.99, 68.7375]],
  ])('waits a tenth shorter or longer at most, drawing %d', async (drawn, waitsMs) => {
    await using server = await startHttpServer([run('running'), run('running'), run('completed')]);
    await using client = openTestClient(server, { random: () => drawn });
    await waitForRun(client, place);
    expect(client.clock.sleepsMs.map((waitMs) => Number(waitMs.toFixed(4)))).toEqual(waitsMs);
  });

  it.each(['running', 'paused_by_admin'])('waits at the status %s until the deadline and no longer', async (status) => {
    await using server = await startHttpServer(run(status));
    await using client = openTestClient(server);
    const deadline = startDeadline(client.clock, 60_000, 'The run');
    await expect(waitForRun(client, { ...place, deadline })).rejects.toMatchObject({
      code: 'DEADLINE',
      message: 'The run took longer than 1 min.',
    });
    expect(client.clock.monotonicMs()).toBe(60_000);
  });

  it('takes a status that it does not know for an end where the service says when the run was completed', async () => {
    const ended = json(200, { id: 'r_1', suiteId: 's_1', status: 'frozen', completedAt: 7 });
    await using server = await startHttpServer([run('frozen'), ended]);
    await using client = openTestClient(server);
    expect(await waitForRun(client, place)).toMatchObject({ status: 'frozen', completedAtMs: 7 });
    expect(server.requests.length).toBe(2);
  });

  it('survives faults in between', async () => {
    await using server = await startHttpServer([run('running'), json(503, {}), run('completed')]);
    await using client = openTestClient(server);
    expect((await waitForRun(client, place)).status).toBe('completed');
  });

  it("ends with the signal's reason", async () => {
    const controller = new AbortController();
    await using server = await startHttpServer(run('running'));
    await using client = openTestClient(server);
    const waiting = waitForRun(client, {
      ...place,
      signal: controller.signal,
      onProgress: () => controller.abort(new Error('Enough.')),
    });
    await expect(waiting).rejects.toThrow('Enough.');
    expect(server.requests.length).toBe(1);
  });
});

describe('a run that the service cannot find', () => {
  const unknown = json(404, { code: 'NOT_FOUND', message: 'No run.' });
  const refused = json(401, { code: 'UNAUTHORIZED', message: 'No key.' });

  it('is requested three more times over ten seconds until the service finds it', async () => {
    await using server = await startHttpServer([unknown, unknown, unknown, run('completed')]);
    await using client = openTestClient(server);
    expect((await waitForRun(client, place)).status).toBe('completed');
    expect(client.clock.sleepsMs).toEqual([2000, 3000, 5000]);
  });

  it('is given up at the fourth refusal in a row', async () => {
    await using server = await startHttpServer(unknown);
    await using client = openTestClient(server);
    await expect(waitForRun(client, place)).rejects.toMatchObject({ status: 404 });
    expect(server.requests.length).toBe(4);
  });

  it('may get lost again later on', async () => {
    const lost = [unknown, unknown, unknown];
    await using server = await startHttpServer([...lost, run('running'), ...lost, run('completed')]);
    await using client = openTestClient(server);
    expect((await waitForRun(client, place)).status).toBe('completed');
  });

  it('because of the key is requested once more, two seconds later', async () => {
    await using server = await startHttpServer([run('running'), refused, run('completed')]);
    await using client = openTestClient(server);
    expect((await waitForRun(client, place)).status).toBe('completed');
    expect(client.clock.sleepsMs).toEqual([50, 2000]);
  });

  it('because of the key twice in a row is given up', async () => {
    await using server = await startHttpServer([run('running'), refused, refused, run('completed')]);
    await using client = openTestClient(server);
    await expect(waitForRun(client, place)).rejects.toMatchObject({ status: 401 });
  });

  it('because of a missing permission is given up at once', async () => {
    await using server = await startHttpServer([json(403, { code: 'FORBIDDEN', message: 'No.' }), run('completed')]);
    await using client = openTestClient(server);
    await expect(waitForRun(client, place)).rejects.toMatchObject({ status: 403 });
    expect(client.clock.sleepsMs).toEqual([]);
  });

  it('is not waited for beyond the deadline', async () => {
    await using server = await startHttpServer(unknown);
    await using client = openTestClient(server);
    const deadline = startDeadline(client.clock, 3000, 'The run');
    await expect(waitForRun(client, { ...place, deadline })).rejects.toMatchObject({ code: 'DEADLINE' });
    expect(client.clock.monotonicMs()).toBe(3000);
  });
});
