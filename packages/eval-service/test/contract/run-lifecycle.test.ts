import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest';
import { runCreatedSchema, runSchema, stepPageSchema, traceSchema } from '../../../../src/service/wire.ts';
import { runOperations } from '../../../../src/service/operations/runs.ts';
import { suitePageSchema } from '../../../../src/service/wire.ts';
import {
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
} from '../../../../test/support/service/contract-service.ts';
import type { ContractService } from '../../../../test/support/service/contract-service.ts';
import { startEchoServer } from '../../../../test/support/servers/echo-server.ts';
import type { FixtureMcpServer } from '../../../../test/support/servers/fixture-mcp-server.ts';

describe('a run', () => {
  let mcp: FixtureMcpServer;
  let service: ContractService;
  let serverId: string;
  beforeAll(async () => {
    mcp = await startEchoServer();
  });
  afterAll(async () => {
    await mcp[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    service = await openContractService();
    serverId = await saveServer(service, { url: mcp.url });
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  const start = async (tests: unknown[], fields: Record<string, unknown> = {}) => {
    const suite = await saveSuite(service, serverId, tests);
    const { status, body } = await service.project.post('/eval-runs', { suiteId: suite.suiteId, ...fields });
    return { ...suite, status, body, runId: String(body.runId) };
  };

  it('is accepted at once and completes with a result', async () => {
    const { status, body, suiteId, runId } = await start([inlineTest('echo', { runs: 2 }), inlineTest('fail')], {
      notes: 'From a test.',
    });
    expect(status).toBe(202);
    runCreatedSchema.parse(body);
    expect(body).toEqual({
      runId,
      suiteId,
      status: 'running',
      caseUpsert: { committed: [], failed: [] },
      servers: [{ id: serverId, name: 'demo' }],
      environment: null,
    });
    const run = await waitForEnd(service, runId);
    runSchema.parse(run);
    expect(run).toEqual({
      id: runId,
      suiteId,
      runNumber: 1,
      status: 'completed',
      result: 'failed',
      summary: { total: 3, passed: 2, failed: 1, passRate: 2 / 3 },
      source: 'api',
      notes: 'From a test.',
      environment: null,
      scoreIntegrity: null,
      createdAt: expect.any(Number),
      completedAt: expect.any(Number),
      insights: expect.objectContaining({ status: 'not_available', reasonCode: 'NO_MODEL' }),
      judges: { goalCompletion: expect.objectContaining({ status: null }), groundedness: expect.any(Object) },
    });
  });

  it.each([
    [66.66, 'passed'],
    [66.67, 'failed'],
    [0, 'passed'],
  ])('with two of three passed and %d %% required has %s', async (minimumPassRate, result) => {
    const tests = [inlineTest('echo', { runs: 2 }), inlineTest('fail')];
    const { runId } = await start(tests, { passCriteria: { minimumPassRate } });
    expect((await waitForEnd(service, runId)).result).toBe(result);
  });

  it('without criteria of its own is judged by its suite’s', async () => {
    const { suiteId } = await saveSuite(service, serverId, [inlineTest('echo'), inlineTest('fail')], {
      passCriteria: { minimumPassRate: 50 },
    });
    const { body } = await service.project.post('/eval-runs', { suiteId });
    expect((await waitForEnd(service, body.runId)).result).toBe('passed');
  });

  it('lists its iterations in the order of the cases, then by number, page by page', async () => {
    const tests = [inlineTest('echo', { runs: 3 }), inlineTest('fail', { runs: 2 })];
    const { runId, caseIds } = await start(tests);
    await waitForEnd(service, runId);
    const seen = [];
    let cursor = '';
    for (let page = 0; page < 3; page += 1) {
      const { body } = await service.project.get(`/eval-runs/${runId}/iterations?limit=2&cursor=${cursor}`);
      runOperations.listEvalRunIterations.answer.parse(body);
      seen.push(...body.items);
      cursor = body.nextCursor ?? '';
      expect('nextCursor' in body).toBe(page < 2);
    }
    expect(seen.map(({ testCaseId, iterationNumber, result }) => [testCaseId, iterationNumber, result])).toEqual([
      [caseIds[0], 1, 'passed'],
      [caseIds[0], 2, 'passed'],
      [caseIds[0], 3, 'passed'],
      [caseIds[1], 1, 'failed'],
      [caseIds[1], 2, 'failed'],
    ]);
    expect(seen[4]).toEqual({
      id: expect.any(String),
      testCaseId: caseIds[1],
      title: 'Calls fail',
      iterationNumber: 2,
      status: 'completed',
      result: 'failed',
      model: null,
      provider: null,
      startedAt: expect.any(Number),
      durationMs: expect.any(Number),
      tokensUsed: null,
      usage: null,
      actualToolCalls: [{ toolName: 'fail', arguments: {} }],
      expectedToolCalls: [],
      error: expect.stringContaining('It broke.'),
    });
  });

  it.each([
    ['', 5],
    ['limit=0', 1],
    ['limit=-5', 1],
    ['limit=1000', 5],
    ['limit=2.9', 2],
    ['limit=ten', 5],
  ])('clamps a page asked for with %j', async (query, length) => {
    const { runId } = await start([inlineTest('echo', { runs: 5 })]);
    const { body } = await service.project.get(`/eval-runs/${runId}/iterations?${query}`);
    expect(body.items).toHaveLength(length);
  });

  it('refuses a cursor that is not its own', async () => {
    const { runId } = await start([inlineTest('echo', { runs: 2 })]);
    const other = await start([inlineTest('echo', { runs: 2 })]);
    const first = await service.project.get(`/eval-runs/${other.runId}/iterations?limit=1`);
    for (const cursor of ['nonsense', first.body.nextCursor, `${first.body.nextCursor}=`]) {
      const answer = await service.project.get(`/eval-runs/${runId}/iterations?cursor=${cursor}`);
      expect({ status: answer.status, body: answer.body }).toEqual({
        status: 400,
        body: { code: 'VALIDATION_ERROR', message: 'cursor: Not a cursor of this list' },
      });
    }
  });

  it('keeps the steps and the trace of every iteration', async () => {
    const steps = [
      { id: 'call', kind: 'toolCall', serverName: '', toolName: 'echo', arguments: { message: 'hi' } },
      { id: 'right', kind: 'assert', assertion: { type: 'toolResultContains', needle: 'hi' } },
      { id: 'wrong', kind: 'assert', assertion: { type: 'toolResultContains', needle: 'ho' } },
      { id: 'late', kind: 'assert', assertion: { type: 'noToolErrors' } },
    ];
    const { runId } = await start([{ title: 'Steps', steps }]);
    await waitForEnd(service, runId);
    const { body } = await service.project.get(`/eval-runs/${runId}/iterations`);
    const path = `/eval-runs/${runId}/iterations/${body.items[0].id}`;
    const page = stepPageSchema.parse((await service.project.get(`${path}/steps`)).body);
    expect(page.items.map(({ stepId, stepIndex, status }) => [stepId, stepIndex, status])).toEqual([
      ['call', 0, 'ok'],
      ['right', 1, 'ok'],
      ['wrong', 2, 'fail'],
      ['late', 3, 'skipped'],
    ]);
    const trace = await service.project.get(`${path}/trace`);
    expect(trace.headers['content-type']).toBe('application/json');
    expect(Object.keys(traceSchema.parse(trace.body))).toEqual(['messages', 'spans', 'prompts', 'metadata']);
    for (const part of ['steps', 'trace']) {
      const missing = await service.project.get(`/eval-runs/${runId}/iterations/iter_missing/${part}`);
      expect(missing).toMatchObject({ status: 404, body: { message: 'Iteration not found.' } });
    }
  });

  it('is found below its project and by the short path, and nowhere else', async () => {
    const { runId } = await start([inlineTest()]);
    const run = await waitForEnd(service, runId);
    expect((await service.root.get(`/eval-runs/${runId}`)).body).toEqual(run);
    const { body: other } = await service.root.post('/projects', { name: 'Other' });
    expect(await service.root.get(`/projects/${other.id}/eval-runs/${runId}`)).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND', message: 'Run not found.' },
    });
    expect((await service.root.get('/eval-runs/run_missing')).status).toBe(404);
  });

  it('outlives its suite, whose list shows the newest first until then', async () => {
    const { runId, suiteId } = await start([inlineTest()]);
    await waitForEnd(service, runId);
    const { body: second } = await service.project.post('/eval-runs', { suiteId });
    await waitForEnd(service, second.runId);
    const { body } = await service.project.get(`/eval-suites/${suiteId}/runs`);
    expect(
      runOperations.listEvalSuiteRuns.answer.parse(body).items.map(({ id, runNumber }) => [id, runNumber]),
    ).toEqual([
      [second.runId, 2],
      [runId, 1],
    ]);
    expect((await service.project.get(`/eval-suites/${suiteId}/runs?limit=1`)).body.items).toHaveLength(1);
    const { body: suites } = await service.project.get('/eval-suites');
    suitePageSchema.parse(suites);
    expect(suites.items).toMatchObject([
      {
        latestRun: { id: second.runId, status: 'completed', passRate: 1, passed: 1, failed: 0 },
        totals: { passed: 2, failed: 0, runs: 2 },
        passRateTrend: [1, 1],
      },
    ]);
    await service.project.delete(`/eval-suites/${suiteId}`);
    expect((await service.project.get(`/eval-runs/${runId}`)).body.result).toBe('passed');
  });

  it('is cancelled with its unfinished iterations, and stays cancelled', async () => {
    const { runId, caseIds } = await start([inlineTest('echo'), inlineTest('hang'), inlineTest('echo')], {});
    await mcp.waitFor('call hang');
    const { status, body } = await service.project.post(`/eval-runs/${runId}/cancel`);
    expect({ status, body }).toMatchObject({ status: 200, body: { id: runId, status: 'cancelled', result: null } });
    const again = await service.project.post(`/eval-runs/${runId}/cancel`);
    expect({ status: again.status, body: again.body }).toEqual({ status: 200, body });
    const { body: page } = await service.project.get(`/eval-runs/${runId}/iterations`);
    const hanging = page.items.find(({ testCaseId }: { testCaseId: string }) => testCaseId === caseIds[1]);
    expect(hanging).toMatchObject({ status: 'cancelled', result: null });
    const path = `/eval-runs/${runId}/iterations/${hanging.id}`;
    const { body: steps } = await service.project.get(`${path}/steps`);
    const reason = 'The run ended before the iteration did.';
    expect(stepPageSchema.parse(steps).items).toEqual([
      { stepId: 's1', stepIndex: 0, kind: 'toolCall', status: 'skipped', reason },
      { stepId: 's2', stepIndex: 1, kind: 'assert', status: 'skipped', reason },
    ]);
    expect(await service.project.get(`${path}/trace`)).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND', details: { reason: 'TRACE_NOT_AVAILABLE' } },
    });
  });

  it('is not cancelled once it has ended otherwise', async () => {
    const { runId } = await start([inlineTest()]);
    const run = await waitForEnd(service, runId);
    expect(await service.project.post(`/eval-runs/${runId}/cancel`)).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', message: 'The run has ended already: it is completed.' },
    });
    expect((await service.project.get(`/eval-runs/${runId}`)).body).toEqual(run);
  });
});
