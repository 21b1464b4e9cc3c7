import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startEchoServer } from '../../../../test/support/servers/echo-server.ts';
import type { FixtureMcpServer } from '../../../../test/support/servers/fixture-mcp-server.ts';
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts';
import {
  type ContractService,
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
} from '../../../../test/support/service/contract-service.ts';
import { createWorkspace } from '../../../../test/support/workspace.ts';

/** Row by row: how a run gets from `running` to its end, and what it then says. A run that has ended stays as it ended. */
describe('the states of a run', () => {
  let mcp: FixtureMcpServer;
  let service: ContractService;
  beforeAll(async () => {
    mcp = await startEchoServer();
  });
  afterAll(async () => {
    await mcp[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    service = await openContractService();
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  const start = async (tests: unknown[], target = service) => {
    const serverId = await saveServer(target, { url: mcp.url });
    const { suiteId } = await saveSuite(target, serverId, tests);
    const { body } = await target.project.post('/eval-runs', { suiteId });
    expect(body.status).toBe('running');
    return String(body.runId);
  };
  const startHanging = async (target = service) => {
    const call = mcp.waitFor('call hang');
    const runId = await start([inlineTest('hang')], target);
    await call;
    return runId;
  };
  const read = async (runId: string, target = service) => (await target.project.get(`/eval-runs/${runId}`)).body;
  const cancel = async (runId: string) => {
    const { status, body } = await service.project.post(`/eval-runs/${runId}/cancel`);
    return { status, code: body.code };
  };
  const listStatuses = async (runId: string, target = service) =>
    (await target.project.get(`/eval-runs/${runId}/iterations`)).body.items.map(
      ({ status }: { status: string }) => status,
    );

  it.each([
    ['echo', 'passed'],
    ['fail', 'failed'],
  ])('running -> completed: its iterations of %s have ended, and it has %s', async (tool, result) => {
    const runId = await start([inlineTest(tool)]);
    expect(await waitForEnd(service, runId)).toMatchObject({ status: 'completed', result });
    expect(await listStatuses(runId)).toEqual(['completed']);
  });

  it('running -> cancelled: its iterations are cancelled, and it has no result', async () => {
    const runId = await startHanging();
    expect(await cancel(runId)).toEqual({ status: 200, code: undefined });
    expect(await read(runId)).toMatchObject({ status: 'cancelled', result: null });
    expect(await listStatuses(runId)).toEqual(['cancelled']);
  });

  it('running -> timed_out: it took longer than a run may take', async () => {
    const clock = new ManualClock();
    await using bounded = await openContractService({ clock, runTimeoutMs: 60_000 });
    const runId = await startHanging(bounded);
    await clock.advance(60_000);
    await expect.poll(async () => (await read(runId, bounded)).status).not.toBe('running');
    const { notes, ...run } = await read(runId, bounded);
    expect(run).toMatchObject({ status: 'timed_out', result: null, completedAt: 60_000 });
    expect(notes).toContain('The run took longer than');
    expect(await listStatuses(runId, bounded)).toEqual(['cancelled']);
  });

  it('running -> cancelled: the service was stopped, also for the next one', async () => {
    await using workspace = await createWorkspace();
    const first = await openContractService({ dataDir: workspace.path });
    const runId = await startHanging(first);
    await first[Symbol.asyncDispose]();
    await using second = await openContractService({ dataDir: workspace.path });
    expect(await read(runId, second)).toMatchObject({ status: 'cancelled', result: null });
  });

  it('completed -> completed: a cancellation is a conflict and changes nothing', async () => {
    const runId = await start([inlineTest('echo')]);
    const ended = await waitForEnd(service, runId);
    expect(await cancel(runId)).toEqual({ status: 409, code: 'CONFLICT' });
    expect(await read(runId)).toEqual(ended);
  });

  it('cancelled -> cancelled: a second cancellation does nothing', async () => {
    const runId = await startHanging();
    await cancel(runId);
    const ended = await read(runId);
    expect(await cancel(runId)).toEqual({ status: 200, code: undefined });
    expect(await read(runId)).toEqual(ended);
  });

  it('failed -> failed: an ingested run without results cannot be cancelled any more', async () => {
    const start = { suiteName: 'Empty', externalRunId: 'empty' };
    const { body } = await service.project.post('/eval-ingest/runs/start', start);
    await service.project.post('/eval-ingest/runs/finalize', { runId: body.runId, externalRunId: 'empty' });
    expect(await read(body.runId)).toMatchObject({ status: 'failed', result: null });
    expect(await cancel(body.runId)).toEqual({ status: 409, code: 'CONFLICT' });
  });

  it('shows in the list of suites: the latest run as it stands, and the rates of completed runs alone', async () => {
    const serverId = await saveServer(service, { url: mcp.url });
    const { suiteId } = await saveSuite(service, serverId, [inlineTest('echo'), inlineTest('fail')]);
    const summarize = async () => (await service.project.get('/eval-suites')).body.items[0];
    expect(await summarize()).toMatchObject({ latestRun: null, totals: { runs: 0 }, passRateTrend: [] });
    const { body: run } = await service.project.post('/eval-runs', { suiteId });
    await waitForEnd(service, run.runId);
    const start = { suiteName: 'A suite', externalRunId: 'cancelled' };
    const { body: open } = await service.project.post('/eval-ingest/runs/start', start);
    await service.project.post(`/eval-runs/${open.runId}/cancel`);
    expect(await summarize()).toMatchObject({
      latestRun: { id: open.runId, status: 'cancelled' },
      totals: { passed: 1, failed: 1, runs: 2 },
      passRateTrend: [0.5],
    });
  });
});
