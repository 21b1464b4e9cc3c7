import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  openContractService,
  saveServer,
  saveSuite,
  type ContractService,
} from '../../../../test/support/service/contract-service.ts';
import { createWorkspace } from '../../../../test/support/workspace.ts';

let service: ContractService;
beforeAll(async () => {
  service = await openContractService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const ingest = async (path: string, body: object) => await service.project.post(`/eval-ingest/${path}`, body);

/** Results of one case, of which the last `failing` do not pass. */
function listResults(externalRunId: string, total: number, failing = 0) {
  return Array.from({ length: total }, (_, index) => ({
    caseTitle: 'Echoes',
    passed: index < total - failing,
    externalIterationId: `${externalRunId}-${index + 1}`,
    metadata: { iterationNumber: index + 1 },
  }));
}

function describeRun(externalRunId: string, fields: Record<string, unknown> = {}) {
  return { suiteName: `Suite of ${externalRunId}`, externalRunId, framework: 'test', ...fields };
}

describe('a report of a run that was executed elsewhere', () => {
  it('creates a run of the suite of that name, with the same fields as any other run', async () => {
    const results = [
      {
        ...listResults('whole', 1)[0],
        durationMs: 12.4,
        provider: 'anthropic',
        model: 'claude',
        tokens: { input: 5, output: 2, total: 7 },
        actualToolCalls: [{ name: 'echo', args: { a: 1 } }],
        expectedToolCalls: [{ toolName: 'echo', arguments: { a: 1 } }],
        trace: { messages: [{ role: 'user', content: 'Hello' }], spans: [] },
      },
      { caseTitle: 'Fails', passed: false, error: 'It broke.', trace: 'a log', externalIterationId: 'whole-2' },
    ];
    const passCriteria = { minimumPassRate: 50 };
    const body = { ...describeRun('whole'), notes: 'From elsewhere.', passCriteria, results };
    const { status, body: answer } = await ingest('report', body);
    const { suiteId, runId } = answer;
    const summary = { total: 2, passed: 1, failed: 1, passRate: 0.5 };
    expect({ status, answer }).toEqual({
      status: 200,
      answer: {
        ok: true,
        suiteId,
        runId,
        projectId: service.projectId,
        status: 'completed',
        result: 'passed',
        summary,
      },
    });

    const { body: run } = await service.project.get(`/eval-runs/${runId}`);
    const expected = { status: 'completed', result: 'passed', summary, source: 'sdk', notes: 'From elsewhere.' };
    expect(run).toMatchObject({ ...expected, suiteId, runNumber: 1 });
    const { body: page } = await service.project.get(`/eval-runs/${runId}/iterations`);
    const [first, second] = page.items;
    expect(first).toMatchObject({
      testCaseId: null,
      title: 'Echoes',
      iterationNumber: 1,
      status: 'completed',
      result: 'passed',
      durationMs: 12,
      model: 'claude',
      provider: 'anthropic',
      tokensUsed: 7,
      actualToolCalls: [{ toolName: 'echo', arguments: { a: 1 } }],
      expectedToolCalls: [{ toolName: 'echo', arguments: { a: 1 } }],
    });
    expect(second).toMatchObject({ title: 'Fails', result: 'failed', error: 'It broke.', model: null });
    const readTrace = (id: string) => service.project.get(`/eval-runs/${runId}/iterations/${id}/trace`);
    expect((await readTrace(first.id)).body).toEqual({ messages: [{ role: 'user', content: 'Hello' }], spans: [] });
    expect((await readTrace(second.id)).body).toEqual({ raw: 'a log' });
    const { body: suites } = await service.project.get('/eval-suites');
    expect(suites.items).toContainEqual(
      expect.objectContaining({ id: suiteId, name: 'Suite of whole', totals: { passed: 1, failed: 1, runs: 1 } }),
    );
  });

  it('is accepted once: a repeated report gets the first verdict, whatever its content', async () => {
    const first = await ingest('report', { ...describeRun('again'), results: listResults('again', 2) });
    const second = await ingest('report', { ...describeRun('again'), results: listResults('again', 2, 2) });
    expect(second.body).toEqual(first.body);
    expect(second.body).toMatchObject({ result: 'passed', summary: { total: 2 } });
    const other = await ingest('report', {
      ...describeRun('again'),
      evaluationConfigHash: 'x',
      results: listResults('again', 2),
    });
    expect([other.status, other.body.code]).toEqual([409, 'CONFLICT']);
  });

  it('goes to the suite that has the name already, and to its cases', async () => {
    const serverId = await saveServer(service, { name: 'saved' });
    const { suiteId, caseIds } = await saveSuite(service, serverId, undefined, { name: 'Known' });
    const results = [{ caseTitle: 'Calls echo', passed: true, externalIterationId: 'i1' }];
    const { body } = await ingest('report', { ...describeRun('known'), suiteName: 'Known', results });
    expect(body.suiteId).toBe(suiteId);
    const { body: page } = await service.project.get(`/eval-runs/${body.runId}/iterations`);
    expect(page.items).toMatchObject([{ testCaseId: caseIds[0], iterationNumber: 1 }]);
  });

  it('may be addressed to the default project', async () => {
    const body = { ...describeRun('default'), results: listResults('default', 1, 1) };
    const answer = await service.root.post('/projects/default/eval-ingest/report', body);
    expect(answer.body).toMatchObject({ projectId: service.projectId, result: 'failed' });
    expect((await service.root.post('/projects/nowhere/eval-ingest/report', body)).status).toBe(404);
  });

  it.each([
    ['no results', { results: [] }, /^results: /],
    ['no id', { externalRunId: undefined }, /^externalRunId: /],
    ['a result without a verdict', { results: [{ caseTitle: 'A' }] }, /^results\.0\.passed: /],
    ['two ids of a case', { results: [{ caseTitle: 'A', passed: true, caseId: 'a', externalCaseId: 'b' }] }, /caseId/],
    ['half a host configuration', { hostConfig: {} }, /^hostConfigHash: /],
  ])('is refused with %s', async (_, fields, message) => {
    const answer = await ingest('report', { ...describeRun('bad'), results: listResults('bad', 1), ...fields });
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.body.message).toMatch(message);
  });
});

describe('a run that is ingested in parts', () => {
  it('is open until it is finalised, and takes every result and every request once', async () => {
    const run = describeRun('parts', { expectedIterations: 3 });
    const { body: started } = await ingest('runs/start', run);
    const { runId } = started;
    expect(started).toEqual({ ok: true, suiteId: started.suiteId, runId, projectId: service.projectId });
    expect((await ingest('runs/start', run)).body).toMatchObject({ ok: true, reused: true, runId, status: 'running' });

    const results = listResults('parts', 3, 1);
    const add = async (from: number, to: number) =>
      (await ingest('runs/iterations', { runId, results: results.slice(from, to) })).body;
    expect(await add(0, 2)).toEqual({ ok: true, inserted: 2, skipped: 0, total: 2 });
    expect(await add(1, 3)).toEqual({ ok: true, inserted: 1, skipped: 1, total: 3 });
    const { body: open } = await service.project.get(`/eval-runs/${runId}`);
    expect(open).toMatchObject({ status: 'running', result: null, summary: null });

    const { body: ended } = await ingest('runs/finalize', { runId, externalRunId: 'parts' });
    expect(ended).toMatchObject({ ok: true, status: 'completed', result: 'failed', summary: { total: 3, passed: 2 } });
    expect((await ingest('runs/finalize', { runId, externalRunId: 'parts' })).body).toEqual(ended);
    expect((await ingest('runs/start', run)).body).toEqual({ ...ended, reused: true });

    expect(await add(0, 1)).toEqual({ ok: true, inserted: 0, skipped: 1, total: 3 });
    const late = [{ ...results[0], externalIterationId: 'late' }];
    expect((await ingest('runs/iterations', { runId, results: late })).body.code).toBe('CONFLICT');
    expect((await service.project.get(`/eval-runs/${runId}`)).body.summary).toMatchObject({ total: 3 });
  });

  it('has failed without a verdict where nothing came', async () => {
    const { runId } = (await ingest('runs/start', describeRun('empty'))).body;
    const { body } = await ingest('runs/finalize', { runId, externalRunId: 'empty' });
    const summary = { total: 0, passed: 0, failed: 0, passRate: 0 };
    expect(body).toMatchObject({ ok: true, status: 'failed', result: 'failed', summary });
    expect((await service.project.get(`/eval-runs/${runId}`)).body).toMatchObject({ status: 'failed', result: null });
  });

  it('can be cancelled, and is not finalised then', async () => {
    const { runId } = (await ingest('runs/start', describeRun('cancelled'))).body;
    await service.project.post(`/eval-runs/${runId}/cancel`);
    const { body } = await ingest('runs/finalize', { runId, externalRunId: 'cancelled' });
    expect(body.code).toBe('CONFLICT');
  });

  it('is found by its own id and by the one it was sent with, together', async () => {
    const { runId } = (await ingest('runs/start', describeRun('found'))).body;
    expect((await ingest('runs/finalize', { runId, externalRunId: 'other' })).status).toBe(400);
    expect((await ingest('runs/finalize', { runId: 'run_none', externalRunId: 'found' })).status).toBe(404);
    expect((await ingest('runs/iterations', { runId: 'run_none', results: [] })).status).toBe(404);
  });

  it('stays open when the service is started again', async () => {
    await using workspace = await createWorkspace();
    const first = await openContractService({ dataDir: workspace.path });
    const { body } = await first.project.post('/eval-ingest/runs/start', describeRun('kept'));
    await first[Symbol.asyncDispose]();
    await using second = await openContractService({ dataDir: workspace.path });
    expect((await second.project.get(`/eval-runs/${body.runId}`)).body.status).toBe('running');
  });
});
