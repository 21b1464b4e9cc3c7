import { describe, expect, it } from 'vitest';
import {
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
} from '../../../test/support/service/contract-service.ts';
import type { ContractService } from '../../../test/support/service/contract-service.ts';
import { startEchoServer } from '../../../test/support/servers/echo-server.ts';
import { startEverythingServer } from '../../../test/support/servers/everything-server.ts';
import { startFixtureMcpServer, text } from '../../../test/support/servers/fixture-mcp-server.ts';
import { json, startHttpServer } from '../../../test/support/network/http-server.ts';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';

async function start(service: ContractService, url: string, tests: unknown[], fields: Record<string, unknown> = {}) {
  const { suiteId } = await saveSuite(service, await saveServer(service, { url }), tests);
  const { body } = await service.project.post('/eval-runs', { suiteId, ...fields });
  return String(body.runId);
}

async function listIterations({ project }: ContractService, runId: string) {
  const { body } = await project.get(`/eval-runs/${runId}/iterations?limit=200`);
  return body.items as Array<{
    id: string;
    status: string;
    result: string | null;
    error: string | null;
    title: string;
  }>;
}

describe('the runner', () => {
  it('judges the reference server', async () => {
    await using mcp = await startEverythingServer();
    await using service = await openContractService();
    const sum = (expected: string) => ({
      title: `Sums up to ${expected}`,
      runs: 2,
      steps: [
        { id: 'call', kind: 'toolCall', serverName: 'demo', toolName: 'get-sum', arguments: { a: 2, b: 3 } },
        { id: 'check', kind: 'assert', assertion: { type: 'toolResultContains', needle: expected } },
      ],
    });
    const runId = await start(service, mcp.url, [sum('5'), sum('6')], { passCriteria: { minimumPassRate: 50 } });
    expect(await waitForEnd(service, runId)).toMatchObject({
      status: 'completed',
      result: 'passed',
      summary: { total: 4, passed: 2, failed: 2, passRate: 0.5 },
    });
    const iterations = await listIterations(service, runId);
    expect(iterations.map(({ title, result }) => [title, result])).toEqual([
      ['Sums up to 5', 'passed'],
      ['Sums up to 5', 'passed'],
      ['Sums up to 6', 'failed'],
      ['Sums up to 6', 'failed'],
    ]);
  });

  it.each(['legacy', 'modern'] as const)('finds out that a server speaks the %s protocol', async (era) => {
    await using mcp = await startEchoServer({ era });
    await using service = await openContractService();
    const runId = await start(service, mcp.url, [inlineTest('echo', { runs: 3 })]);
    expect((await waitForEnd(service, runId)).summary).toEqual({ total: 3, passed: 3, failed: 0, passRate: 1 });
  });

  it('sends the headers that the server record holds', async () => {
    await using http = await startHttpServer(json(401, { error: 'unauthorized' }));
    await using service = await openContractService();
    const record = { name: 'keyed', enabled: true, transportType: 'http', url: `${http.origin}/mcp` };
    const { body } = await service.project.post('/servers', { ...record, headers: { 'x-api-key': 'canary' } });
    const { suiteId } = await saveSuite(service, body.id);
    const refused = await service.project.post('/eval-runs', { suiteId });
    expect(refused).toMatchObject({ status: 401, body: { code: 'OAUTH_REQUIRED' } });
    expect(JSON.stringify(refused.body)).not.toContain('canary');
    expect(http.requests.map(({ headers }) => headers['x-api-key'])).toContain('canary');
  });

  it('records an iteration without a result as such, and goes on', async () => {
    await using mcp = await startEchoServer();
    await using service = await openContractService({ concurrency: 1 });
    const runId = await start(service, mcp.url, [inlineTest('echo'), inlineTest('drop'), inlineTest('echo')]);
    const run = await waitForEnd(service, runId);
    expect(run).toMatchObject({ status: 'completed', summary: { total: 3, passed: 2, failed: 0 } });
    const iterations = await listIterations(service, runId);
    expect(iterations.map(({ status, result }) => [status, result])).toEqual([
      ['completed', 'passed'],
      ['failed', null],
      ['completed', 'passed'],
    ]);
    expect(iterations[1]?.error).toMatch(/^The server gave no answer to drop: /);
  });

  it('ends the run without a verdict when the server is gone, and cancels the remaining iterations', async () => {
    const mcp = await startEchoServer();
    await using service = await openContractService({ concurrency: 1 });
    const tests = [inlineTest('hang', { advancedConfig: { timeoutMs: 2000 } }), inlineTest('echo', { runs: 7 })];
    const runId = await start(service, mcp.url, tests, { notes: 'Nightly.' });
    await mcp.waitFor('call hang');
    await mcp[Symbol.asyncDispose]();
    const run = await waitForEnd(service, runId);
    expect(run).toMatchObject({ status: 'failed', result: null, summary: { total: 8, passed: 0, failed: 0 } });
    expect(run.notes).toMatch(
      /^Nightly\.\n5 iterations in a row could not connect to the server, last in case "Calls echo": /,
    );
    const statuses = (await listIterations(service, runId)).map(({ status }) => status);
    expect(statuses).toEqual([...Array(6).fill('failed'), 'cancelled', 'cancelled']);
  });

  it('scores an iteration that takes too long as failed, and goes on', async () => {
    await using mcp = await startEchoServer();
    await using service = await openContractService({ concurrency: 1 });
    const hanging = inlineTest('hang', { advancedConfig: { timeoutMs: 50 } });
    const runId = await start(service, mcp.url, [hanging, inlineTest('echo')]);
    expect(await waitForEnd(service, runId)).toMatchObject({
      status: 'completed',
      result: 'failed',
      summary: { total: 2, passed: 1, failed: 1 },
    });
    const [first] = await listIterations(service, runId);
    expect(first).toMatchObject({ status: 'timed_out', result: 'failed' });
  });

  it('lets no case take longer than the service allows', async () => {
    await using mcp = await startEchoServer();
    await using service = await openContractService({ iterationTimeoutMs: 50 });
    const runId = await start(service, mcp.url, [inlineTest('hang')]);
    await waitForEnd(service, runId);
    expect((await listIterations(service, runId))[0]?.status).toBe('timed_out');
  });

  it('refuses a run of which a case asks for more time than the service allows', async () => {
    await using mcp = await startEchoServer();
    await using service = await openContractService({ iterationTimeoutMs: 50 });
    const tests = [inlineTest('hang', { advancedConfig: { timeoutMs: 51 } })];
    const { suiteId } = await saveSuite(service, await saveServer(service, { url: mcp.url }), tests);
    const { status, body } = await service.project.post('/eval-runs', { suiteId });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
    expect(body.message).toMatch(/asks for 51 ms per iteration .* at most 50 ms/);
  });

  it('ends a run that takes too long, whatever it is doing', async () => {
    await using mcp = await startEchoServer();
    const clock = new ManualClock();
    await using service = await openContractService({ clock, runTimeoutMs: 60_000, concurrency: 1 });
    const runId = await start(service, mcp.url, [inlineTest('hang'), inlineTest('echo')]);
    await mcp.waitFor('call hang');
    await clock.advance(59_999);
    expect((await service.project.get(`/eval-runs/${runId}`)).body.status).toBe('running');
    await clock.advance(1);
    expect((await service.project.get(`/eval-runs/${runId}`)).body).toMatchObject({
      status: 'timed_out',
      result: null,
      notes: 'The run took longer than 1 min.',
      completedAt: 60_000,
    });
    expect((await listIterations(service, runId)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
    await mcp.waitFor('cancel hang');
  });

  it('executes as many iterations at once as configured, and no more', async () => {
    let running = 0;
    let most = 0;
    const three = Promise.withResolvers<void>();
    const wait = {
      call: async () => {
        most = Math.max(most, (running += 1));
        if (running === 3) three.resolve();
        await three.promise;
        // A fourth would come meanwhile.
        await new Promise((resolve) => setTimeout(resolve, 50));
        running -= 1;
        return text('done');
      },
    };
    await using mcp = await startFixtureMcpServer({ wait });
    await using service = await openContractService({ concurrency: 3 });
    const runId = await start(service, mcp.url, [inlineTest('wait', { runs: 10 })]);
    await waitForEnd(service, runId);
    expect(most).toBe(3);
  });

  it('gives every iteration an MCP session of its own', async () => {
    await using mcp = await startEchoServer();
    await using service = await openContractService({ concurrency: 1 });
    const runId = await start(service, mcp.url, [inlineTest('echo', { runs: 3 })]);
    await waitForEnd(service, runId);
    const sessions = mcp.events.filter((event) => event === 'open' || event === 'close');
    // The first one is the connection that was made before the run was accepted.
    expect(sessions).toEqual(['open', 'close', 'open', 'close', 'open', 'close', 'open', 'close']);
  });

  it('aborts what is executing when the service is disposed', async () => {
    await using mcp = await startEchoServer();
    const service = await openContractService();
    await start(service, mcp.url, [inlineTest('hang')]);
    await mcp.waitFor('call hang');
    await service[Symbol.asyncDispose]();
    await mcp.waitFor('cancel hang');
    await expect(service.root.get('/me')).rejects.toThrow(/ECONNREFUSED/);
  });
});
