import { describe, expect, it } from 'vitest';
import { startDeadline } from '../../src/base/time.ts';
import { createRunExactlyOnce } from '../../src/service/launch.ts';
import { startRunService } from '../support/service/run-service.ts';
import { catchError, openTestClient } from '../support/service/service-client.ts';

const launch = {
  projectId: 'p_1',
  run: { suiteId: 's_1' },
  idempotencyKey: 'key-1',
  marker: 'launch-4711',
  queueTimeoutMs: 600_000,
};

describe('a run for which there is no room', () => {
  it('is requested again every 15 to 30 seconds until there is room, and the caller is notified', async () => {
    await using server = await startRunService(['full', 'full', 'full', 'ok']);
    const draws = [0, 0.5, 0.999];
    await using client = openTestClient(server, { random: () => draws.shift() ?? 0 });
    const reported: unknown[] = [];
    const { created, wasReadBack } = await createRunExactlyOnce(client, {
      ...launch,
      onQueued: (waitedMs, details) => reported.push([waitedMs, details]),
    });
    expect({ runId: created.runId, wasReadBack }).toEqual({ runId: 'r_1', wasReadBack: false });
    expect(client.clock.sleepsMs).toEqual([15_000, 22_500, 29_985]);
    const details = { reason: 'CONCURRENT_RUN_LIMIT', maxConcurrentRuns: 2 };
    expect(reported).toEqual([
      [0, details],
      [15_000, details],
      [37_500, details],
    ]);
    expect(server.methods()).toBe('POST GET POST POST POST');
  });

  it('is given up when `queue-timeout` is over, after a last attempt', async () => {
    await using server = await startRunService(['full']);
    await using client = openTestClient(server);
    const error = await catchError(createRunExactlyOnce(client, { ...launch, queueTimeoutMs: 60_000 }));
    expect(error).toMatchObject({
      code: 'DEADLINE',
      message: 'As many runs as the organization may have (2) were in progress for 1 min.',
      hint: 'Raise `queue-timeout`, or let fewer jobs start runs at the same time.',
    });
    expect(client.clock.sleepsMs).toEqual([22_500, 22_500, 15_000]);
    expect(server.methods()).toBe('POST GET POST POST POST');
  });

  it('is given up at once where no time is to be spent on it', async () => {
    await using server = await startRunService(['full', 'ok']);
    await using client = openTestClient(server);
    await expect(createRunExactlyOnce(client, { ...launch, queueTimeoutMs: 0 })).rejects.toMatchObject({
      code: 'DEADLINE',
    });
    expect(client.clock.sleepsMs).toEqual([]);
  });

  it('is not asked for before the service wants it', async () => {
    await using server = await startRunService(['full', 'ok'], { headers: { 'retry-after': '90' } });
    await using client = openTestClient(server);
    await createRunExactlyOnce(client, launch);
    expect(client.clock.sleepsMs).toEqual([90_000]);
  });

  it('may itself fill the limit if its receipt was lost', async () => {
    await using server = await startRunService(['reset-after', 'full']);
    await using client = openTestClient(server);
    expect(await createRunExactlyOnce(client, launch)).toMatchObject({ created: { runId: 'r_1' }, wasReadBack: true });
    expect(server.methods()).toBe('POST POST GET');
    expect(client.clock.sleepsMs).toEqual([250]);
  });

  it('stays in the queue when the runs cannot be listed', async () => {
    await using server = await startRunService(['full', 'ok'], { lists: () => false });
    await using client = openTestClient(server);
    expect(await createRunExactlyOnce(client, launch)).toMatchObject({ created: { runId: 'r_1' }, wasReadBack: false });
  });

  it('keeps its position in the queue when an attempt fails', async () => {
    await using server = await startRunService(['full', 'shape-before', 'full', 'ok']);
    await using client = openTestClient(server);
    expect(await createRunExactlyOnce(client, launch)).toMatchObject({ created: { runId: 'r_1' }, wasReadBack: false });
    expect(server.methods()).toBe('POST GET POST GET POST POST');
  });

  it("is waited for until the signal aborts, and ends with the signal's reason", async () => {
    const controller = new AbortController();
    await using server = await startRunService(['full']);
    await using client = openTestClient(server);
    const waiting = createRunExactlyOnce(client, {
      ...launch,
      signal: controller.signal,
      onQueued: () => controller.abort(new Error('Enough.')),
    });
    await expect(waiting).rejects.toThrow('Enough.');
    expect(server.methods()).toBe('POST GET');
  });

  it('is waited for until the deadline of the call and no longer', async () => {
    await using server = await startRunService(['full']);
    await using client = openTestClient(server);
    const deadline = startDeadline(client.clock, 30_000, 'The gate');
    await expect(createRunExactlyOnce(client, { ...launch, deadline })).rejects.toThrow(
      'The gate took longer than 30 s.',
    );
    expect(client.clock.monotonicMs()).toBe(30_000);
  });
});
