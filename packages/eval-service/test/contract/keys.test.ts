import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiCaller } from '../../../../test/support/service/api-caller.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import { holdKey } from '../../../../test/support/service/callers.ts';
import { type ContractService, openContractService } from '../../../../test/support/service/contract-service.ts';

const keys = [
  holdKey('owner', 'org_one', 'admin'),
  holdKey('member', 'org_one', 'member'),
  holdKey('guest', 'org_one', 'guest'),
  holdKey('stranger', 'org_two', 'admin'),
];

describe('keys of several users', () => {
  let service: ContractService;
  let runId: string;
  let suiteId: string;
  beforeAll(async () => {
    service = await openContractService({ keys });
    const project = createApiCaller(`${service.baseUrl}/projects/${service.projectId}`, 'sk_member');
    const results = [{ caseTitle: 'One', passed: true, externalIterationId: 'i1', trace: { messages: [] } }];
    const { body } = await project.post('/eval-ingest/report', { suiteName: 'A', externalRunId: 'r1', results });
    runId = String(body.runId);
    suiteId = String(body.suiteId);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });
  const as = (name: string) => createApiCaller(service.baseUrl, `sk_${name}`);

  it.each(ways)('getMe answers 200: each key is its own user ($way)', async ({ open }) => {
    const send = open(service);
    for (const name of ['owner', 'member', 'guest', 'stranger']) {
      const { status, body } = await send('getMe', {}, { key: `sk_${name}` });
      expect({ status, body }).toMatchObject({ status: 200, body: { id: `user_${name}` } });
    }
  });

  it.each(ways)('listProjects answers 200: the first project of each organization ($way)', async ({ open }) => {
    const send = open(service);
    const list = async (name: string) => (await send('listProjects', {}, { key: `sk_${name}` })).body.items;
    expect(await list('member')).toMatchObject([{ id: service.projectId, organizationId: 'org_one', role: 'member' }]);
    const foreign = await list('stranger');
    expect(foreign).toMatchObject([{ name: 'Default', organizationId: 'org_two', role: 'admin' }]);
    expect(foreign[0].id).not.toBe(service.projectId);
  });

  it.each(ways)('listProjects answers 401: a key that the service does not know ($way)', async ({ open }) => {
    const { status, code } = await open(service)('listProjects', {}, { key: 'sk_nobody' });
    expect({ status, code }).toEqual({ status: 401, code: 'UNAUTHORIZED' });
  });

  it.each(ways)('createProject answers 403: a guest ($way)', async ({ open }) => {
    const { status, code } = await open(service)('createProject', { name: 'New' }, { key: 'sk_guest' });
    expect({ status, code }).toEqual({ status: 403, code: 'FORBIDDEN' });
  });

  it.each([
    ['owner', 200],
    ['member', 403],
    ['guest', 403],
    ['stranger', 404],
  ])('let a project be changed by its administrators alone: %s', async (name, status) => {
    const answer = await as(name).patch(`/projects/${service.projectId}`, { description: 'Changed' });
    expect(answer.status).toBe(status);
  });

  it.each([
    ['member', 201],
    ['guest', 403],
    ['stranger', 404],
  ])('let servers be saved by members: %s', async (name, status) => {
    const record = { name: `of ${name}`, enabled: true, transportType: 'http', url: 'http://127.0.0.1:9/mcp' };
    expect((await as(name).post(`/projects/${service.projectId}/servers`, record)).status).toBe(status);
  });

  it.each(['', '/iterations', '/cancel'])('hide runs of an organization on the short path %j', async (path) => {
    const method = path === '/cancel' ? 'post' : 'get';
    const { status, body } = await as('stranger')[method](`/eval-runs/${runId}${path}`);
    expect({ status, body }).toEqual({ status: 404, body: { code: 'NOT_FOUND', message: 'Run not found.' } });
    expect((await as('member')[method](`/eval-runs/${runId}${path}`)).status).toBe(method === 'get' ? 200 : 409);
  });

  it('start no run of another organization on the short path, and none for a guest', async () => {
    const named = { suiteId, projectId: service.projectId };
    expect((await as('stranger').post('/eval-runs', named)).status).toBe(404);
    expect((await as('stranger').post('/eval-runs', { suiteId })).status).toBe(404);
    expect((await as('guest').post('/eval-runs', named)).status).toBe(403);
    expect((await as('guest').post(`/eval-runs/${runId}/cancel`)).status).toBe(403);
    expect((await as('guest').get(`/eval-runs/${runId}`)).status).toBe(200);
  });

  it('are refused without a key', async () => {
    expect((await createApiCaller(service.baseUrl, null).get('/projects')).status).toBe(401);
  });
});
