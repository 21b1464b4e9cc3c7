import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/redaction.ts';
import { cancelRun, createRun, getRun, listSuiteRuns, stopRun } from '../../src/service/run-client.ts';
import { json, startHttpServer } from '../support/network/http-server.ts';
import { openTestClient } from '../support/service/service-client.ts';

const place = { projectId: 'p_1', runId: 'r_1' };
const run = (status: string) => ({ id: 'r_1', suiteId: 's_1', status });

describe('runs', () => {
  it('are created with exactly the fields given: the API refuses any other', async () => {
    await using server = await startHttpServer(json(202, { runId: 'r_1', suiteId: 's_1', status: 'running' }));
    await using client = openTestClient(server);
    const newRun = { suiteId: 's_1', passCriteria: { minimumPassRate: 90 } };
    expect(await createRun(client, { projectId: 'p_1', run: newRun })).toEqual({
      runId: 'r_1',
      suiteId: 's_1',
      status: 'running',
    });
    expect(server.requests[0]).toMatchObject({ method: 'POST', url: '/api/v1/projects/p_1/eval-runs' });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(newRun);
  });

  it('are created with the keys of models, and without the field where there are none', async () => {
    await using server = await startHttpServer(json(202, { runId: 'r_1', suiteId: 's_1', status: 'running' }));
    await using client = openTestClient(server);
    const modelApiKeys = new Map([
      ['openai', new Secret('sk-1')],
      ['__proto__', new Secret('sk-2')],
    ]);
    await createRun(client, { projectId: 'p_1', run: { suiteId: 's_1', modelApiKeys } });
    await createRun(client, { projectId: 'p_1', run: { suiteId: 's_1', modelApiKeys: new Map() } });
    expect(server.requests.map(({ body }) => body)).toEqual([
      '{"suiteId":"s_1","modelApiKeys":{"openai":"sk-1","__proto__":"sk-2"}}',
      '{"suiteId":"s_1"}',
    ]);
  });

  it('are read one by one', async () => {
    await using server = await startHttpServer(json(200, run('running')));
    await using client = openTestClient(server);
    expect(await getRun(client, place)).toMatchObject(run('running'));
    expect(server.requests[0]).toMatchObject({ method: 'GET', url: '/api/v1/projects/p_1/eval-runs/r_1' });
  });

  it('are listed by suite', async () => {
    await using server = await startHttpServer(json(200, { items: [run('completed'), run('odd')] }));
    await using client = openTestClient(server);
    const runs = await listSuiteRuns(client, { projectId: 'p_1', suiteId: 's_1', limit: 5 });
    expect(runs.map(({ status }) => status)).toEqual(['completed', 'odd']);
    expect(server.requests[0]?.url).toBe('/api/v1/projects/p_1/eval-suites/s_1/runs?limit=5');
  });
});

describe('cancelRun', () => {
  it('gives the cancelled run', async () => {
    await using server = await startHttpServer(json(200, run('cancelled')));
    await using client = openTestClient(server);
    expect(await cancelRun(client, place)).toMatchObject(run('cancelled'));
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      url: '/api/v1/projects/p_1/eval-runs/r_1/cancel',
      body: '',
    });
  });

  it.each([
    [409, 'CONFLICT'],
    [409, 'VALIDATION_ERROR'],
    [400, 'VALIDATION_ERROR'],
  ])('gives a run that had ended as it ended when refused with %i %s', async (status, code) => {
    await using server = await startHttpServer([
      json(status, { code, message: 'Already completed.' }),
      json(200, run('completed')),
    ]);
    await using client = openTestClient(server);
    expect(await cancelRun(client, place)).toMatchObject(run('completed'));
    expect(server.requests[1]).toMatchObject({ method: 'GET', url: '/api/v1/projects/p_1/eval-runs/r_1' });
  });

  it('fails with the refusal when the run goes on all the same', async () => {
    await using server = await startHttpServer([
      json(400, { code: 'VALIDATION_ERROR', message: 'Bad id.' }),
      json(200, run('running')),
    ]);
    await using client = openTestClient(server);
    await expect(cancelRun(client, place)).rejects.toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it('sends no other request if the run does not exist', async () => {
    await using server = await startHttpServer(json(404, { code: 'NOT_FOUND', message: 'No run.' }));
    await using client = openTestClient(server);
    await expect(cancelRun(client, place)).rejects.toMatchObject({ status: 404 });
    expect(server.requests.length).toBe(1);
  });

  it('is repeated after a 503, because cancelling twice is cancelling once', async () => {
    await using server = await startHttpServer([json(503, {}), json(200, run('cancelled'))]);
    await using client = openTestClient(server);
    expect(await cancelRun(client, place)).toMatchObject(run('cancelled'));
  });
});

describe('stopRun', () => {
  it('treats 409 as the end of the run, without reading the run', async () => {
    await using server = await startHttpServer(json(409, { code: 'CONFLICT', message: 'Already completed.' }));
    await using client = openTestClient(server);
    await stopRun(client, place);
    expect(server.requests.length).toBe(1);
  });

  it('treats 400 as the end of the run only if the run has ended', async () => {
    const refusal = json(400, { code: 'VALIDATION_ERROR', message: 'No.' });
    await using ended = await startHttpServer([refusal, json(200, run('completed'))]);
    await using client = openTestClient(ended);
    await stopRun(client, place);
    await using going = await startHttpServer([refusal, json(200, run('running'))]);
    await using other = openTestClient(going);
    await expect(stopRun(other, place)).rejects.toMatchObject({ status: 400 });
  });
});
