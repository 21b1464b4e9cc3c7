import { describe, expect, it } from 'vitest';
import { startDeadline } from '../../src/base/deadline.ts';
import { unlimitedPacer } from '../../src/base/pacing.ts';
import { serviceProfiles } from '../../src/service/profile.ts';
import { waitForRun } from '../../src/service/wait.ts';
import { json, startHttpServer } from '../support/http-server.ts';
import { openTestClient } from '../support/service-client.ts';

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
    expect(client.clock.sleepsMs).toEqual([50, 75]);
  });

  it('asks a hosted service from every second to every five', async () => {
    await using server = await startHttpServer([...Array.from({ length: 7 }, () => run('running')), run('completed')]);
    await using client = openTestClient(server, { profile: serviceProfiles.mcpjam, pacer: unlimitedPacer });
    await waitForRun(client, place);
    expect(client.clock.sleepsMs).toEqual([1000, 1500, 2250, 3375, 5000, 5000, 5000]);
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
