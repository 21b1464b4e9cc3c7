import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startEchoServer } from '../../../../test/support/servers/echo-server.ts';
import type { FixtureMcpServer } from '../../../../test/support/servers/fixture-mcp-server.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import {
  type ContractService,
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
} from '../../../../test/support/service/contract-service.ts';

describe('the steps of an iteration', () => {
  let mcp: FixtureMcpServer;
  let service: ContractService;
  beforeAll(async () => {
    mcp = await startEchoServer();
  });
  afterAll(async () => {
    await mcp[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    service = await openContractService({ concurrency: 1 });
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  const start = async (tests: unknown[]) => {
    const serverId = await saveServer(service, { url: mcp.url });
    const { suiteId } = await saveSuite(service, serverId, tests);
    const { body } = await service.project.post('/eval-runs', { suiteId });
    const { body: page } = await service.project.get(`/eval-runs/${body.runId}/iterations`);
    const iterationIds: string[] = page.items.map(({ id }: { id: string }) => id);
    return { runId: String(body.runId), iterationIds };
  };
  const rowsOf = (body: { items: Array<Record<string, unknown>> }) =>
    body.items.map(({ stepId, stepIndex, status }) => [stepId, stepIndex, status]);

  it.each(ways)('getEvalRunSteps answers 200: pending rows from the start of the run ($way)', async ({ open }) => {
    const call = { kind: 'toolCall', serverName: '', toolName: 'echo', arguments: {} };
    const later = {
      title: 'Later',
      steps: [
        { id: 'first', ...call },
        { id: 'then', kind: 'assert', assertion: { type: 'noToolErrors' } },
      ],
      advancedConfig: { setup: [{ id: 'prepare', ...call }] },
    };
    const calls = mcp.waitFor('call hang');
    const { runId, iterationIds } = await start([inlineTest('hang'), later]);
    await calls;
    const send = open(service);
    const [hanging, waiting] = iterationIds;
    const running = await send('getEvalRunSteps', { runId, iterationId: hanging });
    expect({ status: running.status, rows: rowsOf(running.body) }).toEqual({
      status: 200,
      rows: [
        ['s1', 0, 'pending'],
        ['s2', 1, 'pending'],
      ],
    });
    const { body } = await send('getEvalRunSteps', { runId, iterationId: waiting });
    expect(rowsOf(body)).toEqual([
      ['prepare', 0, 'pending'],
      ['first', 0, 'pending'],
      ['then', 1, 'pending'],
    ]);
    await service.project.post(`/eval-runs/${runId}/cancel`);
    const cut = await send('getEvalRunSteps', { runId, iterationId: waiting });
    expect(cut.body.items.map(({ status }: { status: string }) => status)).toEqual(['skipped', 'skipped', 'skipped']);
  });

  it.each(ways)('getEvalRunSteps answers 200: the results once the iteration has ended ($way)', async ({ open }) => {
    const steps = [
      { id: 'call', kind: 'toolCall', serverName: '', toolName: 'echo', arguments: { message: 'hi' } },
      { id: 'wrong', kind: 'assert', assertion: { type: 'toolResultContains', needle: 'ho' } },
      { id: 'late', kind: 'assert', assertion: { type: 'noToolErrors' } },
    ];
    const { runId, iterationIds } = await start([{ title: 'Steps', steps }]);
    await waitForEnd(service, runId);
    const { body } = await open(service)('getEvalRunSteps', { runId, iterationId: iterationIds[0] });
    expect(rowsOf(body)).toEqual([
      ['call', 0, 'ok'],
      ['wrong', 1, 'fail'],
      ['late', 2, 'skipped'],
    ]);
  });

  it.each(ways)('getEvalRunSteps answers 200: pending for what was executed elsewhere ($way)', async ({ open }) => {
    const steps = [{ id: 'ask', kind: 'prompt', prompt: 'Hello?' }];
    const { body } = await service.project.post('/eval-ingest/report', {
      suiteName: 'Elsewhere',
      externalRunId: 'elsewhere',
      results: [{ caseTitle: 'Asks', passed: true, advancedConfig: { steps } }],
    });
    const { body: page } = await service.project.get(`/eval-runs/${body.runId}/iterations`);
    const fields = { runId: body.runId, iterationId: page.items[0].id };
    const answer = await open(service)('getEvalRunSteps', fields);
    expect(answer.body.items).toEqual([
      { stepId: 'ask', stepIndex: 0, kind: 'prompt', status: 'pending', reason: null },
    ]);
    // A trace that is missing is a refusal of the trace alone.
    const trace = await service.project.get(`/eval-runs/${body.runId}/iterations/${page.items[0].id}/trace`);
    expect(trace).toMatchObject({ status: 404, body: { details: { reason: 'TRACE_NOT_AVAILABLE' } } });
  });

  it.each(ways)('getEvalRunSteps answers 404: no such run or iteration ($way)', async ({ open }) => {
    const { runId } = await start([inlineTest()]);
    const send = open(service);
    for (const fields of [
      { runId, iterationId: 'iter_none' },
      { runId: 'run_none', iterationId: 'iter_none' },
    ]) {
      const { status, code } = await send('getEvalRunSteps', fields);
      expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
    }
  });
});
