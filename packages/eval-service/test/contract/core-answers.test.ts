import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

let mcp: FixtureMcpServer;
let service: ContractService;
let serverId: string;
beforeAll(async () => {
  mcp = await startEchoServer();
  service = await openContractService();
  serverId = await saveServer(service, { url: mcp.url });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await mcp[Symbol.asyncDispose]();
});

const save = async () => {
  const { suiteId, caseIds } = await saveSuite(service, serverId);
  return { suiteId, caseId: caseIds[0] ?? '' };
};
const steps = inlineTest().steps;
const invalid = { status: 400, code: 'VALIDATION_ERROR' };

describe('projects', () => {
  it.each(ways)('createProject answers 201: a name ($way)', async ({ open }) => {
    const { status, body } = await open(service)('createProject', { name: 'New' });
    expect({ status, body }).toMatchObject({ status: 201, body: { id: expect.stringMatching(/^prj_/), name: 'New' } });
  });

  it.each(ways)('listProjects answers 200: those of the organization ($way)', async ({ open }) => {
    const { status, body } = await open(service)('listProjects');
    expect({ status, ids: body.items.map(({ id }: { id: string }) => id) }).toEqual({
      status: 200,
      ids: expect.arrayContaining([service.projectId]),
    });
  });

  it.each(ways)('updateProject answers 200: another name ($way)', async ({ open }) => {
    const { body: project } = await service.root.post('/projects', { name: 'Before' });
    const { status, body } = await open(service)('updateProject', { projectId: project.id, name: 'After' });
    expect({ status, body }).toMatchObject({ status: 200, body: { id: project.id, name: 'After' } });
  });
});

describe('suites', () => {
  it.each(ways)('createEvalSuite answers 201: a suite with its cases ($way)', async ({ open }) => {
    const suite = { name: 'A suite', serverIds: [serverId], model: 'none/none', tests: [inlineTest()] };
    const { status, body } = await open(service)('createEvalSuite', suite);
    const committed = [{ name: 'Calls echo' }];
    expect({ status, body }).toMatchObject({ status: 201, body: { name: 'A suite', caseUpsert: { committed } } });
  });

  it.each(ways)('listEvalSuites answers 200: the suites of the project ($way)', async ({ open }) => {
    const { suiteId } = await save();
    const { status, body } = await open(service)('listEvalSuites');
    expect(status).toBe(200);
    expect(body.items.map(({ id }: { id: string }) => id)).toContain(suiteId);
  });

  it.each(ways)('getEvalSuite answers 200: the suite as it was created ($way)', async ({ open }) => {
    const { suiteId } = await save();
    const answer = await open(service)('getEvalSuite', { suiteId });
    expect(answer).toMatchObject({ status: 200, body: { id: suiteId, name: 'A suite' } });
  });

  it.each(ways)('deleteEvalSuite answers 200: the suite is gone ($way)', async ({ open }) => {
    const { suiteId } = await save();
    const send = open(service);
    expect(await send('deleteEvalSuite', { suiteId })).toMatchObject({ status: 200, body: { deleted: true } });
    expect(await send('getEvalSuite', { suiteId })).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });
});

describe('cases', () => {
  it.each(ways)('createEvalCase answers 201: a title and steps ($way)', async ({ open }) => {
    const { suiteId } = await save();
    const { status, body } = await open(service)('createEvalCase', { suiteId, title: 'Second', steps });
    expect({ status, body }).toMatchObject({ status: 201, body: { title: 'Second', iterations: 1 } });
  });

  it.each(ways)('createEvalCase answers 409: the id of another case ($way)', async ({ open }) => {
    const { suiteId } = await save();
    const send = open(service);
    const body = { suiteId, id: 'c_twice', title: 'Second', steps };
    expect(await send('createEvalCase', body)).toMatchObject({ status: 201 });
    expect(await send('createEvalCase', body)).toMatchObject({ status: 409, code: 'CONFLICT' });
  });

  it.each(ways)('createEvalCases answers 201: all that are valid ($way)', async ({ open }) => {
    const { suiteId } = await save();
    const cases = [
      { title: 'Second', steps },
      { title: 'Third', steps },
    ];
    const { status } = await open(service)('createEvalCases', { suiteId, cases });
    const { body } = await service.project.get(`/eval-suites/${suiteId}/cases`);
    expect({ status, count: body.items.length }).toEqual({ status: 201, count: 3 });
  });

  it.each(ways)('listEvalCases answers 200: the cases of the suite ($way)', async ({ open }) => {
    const { suiteId, caseId } = await save();
    const answer = await open(service)('listEvalCases', { suiteId });
    expect(answer).toMatchObject({ status: 200, body: { items: [{ id: caseId, title: 'Calls echo' }] } });
  });

  it.each(ways)('getEvalCase answers 200: the case with its steps ($way)', async ({ open }) => {
    const { suiteId, caseId } = await save();
    const answer = await open(service)('getEvalCase', { suiteId, caseId });
    expect(answer).toMatchObject({ status: 200, body: { id: caseId, title: 'Calls echo' } });
    expect(answer.body.steps).toHaveLength(2);
  });

  it.each(ways)('updateEvalCase answers 200: only the given fields change ($way)', async ({ open }) => {
    const { suiteId, caseId } = await save();
    const answer = await open(service)('updateEvalCase', { suiteId, caseId, title: 'Renamed' });
    expect(answer).toMatchObject({ status: 200, body: { id: caseId, title: 'Renamed' } });
    expect(answer.body.steps).toHaveLength(2);
  });

  it.each(ways)('deleteEvalCase answers 200: the case is gone ($way)', async ({ open }) => {
    const { suiteId, caseId } = await save();
    const send = open(service);
    expect(await send('deleteEvalCase', { suiteId, caseId })).toMatchObject({ status: 200, body: { deleted: true } });
    expect(await send('getEvalCase', { suiteId, caseId })).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });
});

describe('runs', () => {
  let runId: string;
  let suiteId: string;
  beforeAll(async () => {
    ({ suiteId } = await save());
    const { body } = await service.project.post('/eval-runs', { suiteId });
    runId = String(body.runId);
    await waitForEnd(service, runId);
  });

  it.each(ways)('createEvalRun answers 202: a run of a suite ($way)', async ({ open }) => {
    const { status, body } = await open(service)('createEvalRun', { suiteId });
    expect({ status, body }).toMatchObject({ status: 202, body: { suiteId, status: 'running' } });
    expect(await waitForEnd(service, String(body.runId))).toMatchObject({ status: 'completed', result: 'passed' });
  });

  it.each(ways)('getEvalRun answers 200: the run with its result ($way)', async ({ open }) => {
    const answer = await open(service)('getEvalRun', { runId });
    expect(answer).toMatchObject({ status: 200, body: { id: runId, status: 'completed', result: 'passed' } });
  });

  it.each(ways)('listEvalSuiteRuns answers 200: the runs of the suite ($way)', async ({ open }) => {
    const { status, body } = await open(service)('listEvalSuiteRuns', { suiteId });
    expect(status).toBe(200);
    expect(body.items.map(({ id }: { id: string }) => id)).toContain(runId);
  });

  it.each(ways)('listEvalRunIterations answers 200: one for each case ($way)', async ({ open }) => {
    const answer = await open(service)('listEvalRunIterations', { runId });
    expect(answer).toMatchObject({ status: 200, body: { items: [{ result: 'passed' }] } });
  });

  it.each(ways)('getEvalIterationTrace answers 200: the calls of the iteration ($way)', async ({ open }) => {
    const { body } = await service.project.get(`/eval-runs/${runId}/iterations`);
    const answer = await open(service)('getEvalIterationTrace', { runId, iterationId: body.items[0].id });
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body)).toContain('echo');
  });

  it.each(ways)('cancelEvalRun answers 200: a run that has not ended ($way)', async ({ open }) => {
    const run = { suiteName: 'Elsewhere', externalRunId: `open-${Math.random()}` };
    const { body } = await service.project.post('/eval-ingest/runs/start', run);
    const answer = await open(service)('cancelEvalRun', { runId: body.runId });
    expect(answer.status).toBe(200);
    expect((await service.project.get(`/eval-runs/${body.runId}`)).body).toMatchObject({ status: 'cancelled' });
  });

  it.each(ways)('cancelEvalRun answers 409: a run that has ended ($way)', async ({ open }) => {
    expect(await open(service)('cancelEvalRun', { runId })).toMatchObject({ status: 409, code: 'CONFLICT' });
  });
});

describe('ingestion', () => {
  const results = [{ caseTitle: 'Echoes', passed: true, externalIterationId: 'i1' }];
  const describeRun = () => ({ suiteName: 'Elsewhere', externalRunId: `run-${Math.random()}` });

  it.each(ways)('reportEvalRun answers 200: a run with its results ($way)', async ({ open }) => {
    const answer = await open(service)('reportEvalRun', { ...describeRun(), results });
    expect(answer).toMatchObject({ status: 200, body: { runId: expect.any(String), result: 'passed' } });
  });

  it.each(ways)('startEvalIngestRun answers 200: an open run ($way)', async ({ open }) => {
    const answer = await open(service)('startEvalIngestRun', describeRun());
    expect(answer).toMatchObject({ status: 200, body: { runId: expect.any(String) } });
    expect((await service.project.get(`/eval-runs/${answer.body.runId}`)).body).toMatchObject({ summary: null });
  });

  it.each(ways)('ingestEvalRunIterations answers 200: results of an open run ($way)', async ({ open }) => {
    const { body } = await service.project.post('/eval-ingest/runs/start', describeRun());
    const answer = await open(service)('ingestEvalRunIterations', { runId: body.runId, results });
    expect(answer).toMatchObject({ status: 200, body: { inserted: 1, skipped: 0 } });
  });

  it.each(ways)('finalizeEvalIngestRun answers 200: the verdict on its results ($way)', async ({ open }) => {
    const run = describeRun();
    const { body } = await service.project.post('/eval-ingest/runs/start', run);
    const { runId } = body;
    await service.project.post('/eval-ingest/runs/iterations', { runId, results });
    const { externalRunId } = run;
    const answer = await open(service)('finalizeEvalIngestRun', { runId, externalRunId });
    expect(answer).toMatchObject({ status: 200, body: { runId, status: 'completed', result: 'passed' } });
  });

  it.each(
    ways.flatMap((way) =>
      ['reportEvalRun', 'startEvalIngestRun', 'ingestEvalRunIterations', 'finalizeEvalIngestRun'].map((name) => ({
        ...way,
        name,
      })),
    ),
  )('$name answers 400: no id of the run ($way)', async ({ open, name }) => {
    expect(await open(service)(name, { suiteName: 'Elsewhere', results })).toMatchObject(invalid);
  });
});

describe('tunnels', () => {
  it.each(ways)('createTunnel answers 201: a URL for the server ($way)', async ({ open }) => {
    const answer = await open(service)('createTunnel', { name: `t ${Math.random()}` });
    expect(answer).toMatchObject({ status: 201, body: { existed: false, url: expect.stringContaining('?k=') } });
  });

  it.each(ways)('createTunnel answers 400: an empty name ($way)', async ({ open }) => {
    expect(await open(service)('createTunnel', { name: '' })).toMatchObject(invalid);
  });

  it.each(ways)('closeTunnel answers 200: the tunnel is closed ($way)', async ({ open }) => {
    const { body } = await service.project.post('/tunnels', { name: `t ${Math.random()}` });
    const { serverId: tunnelId } = body;
    const answer = await open(service)('closeTunnel', { serverId: tunnelId });
    expect(answer).toMatchObject({ status: 200, body: { serverId: tunnelId, status: 'closed' } });
  });
});
