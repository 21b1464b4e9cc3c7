import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractLimits } from '../../../../src/service/api-limits.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import { createApiCaller } from '../../../../test/support/service/api-caller.ts';
import { holdKey } from '../../../../test/support/service/callers.ts';
import {
  type ContractService,
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
} from '../../../../test/support/service/contract-service.ts';

const keys = [
  holdKey('owner', 'org_one', 'admin'),
  holdKey('member', 'org_one', 'member'),
  holdKey('guest', 'org_one', 'guest'),
  holdKey('stranger', 'org_two', 'admin'),
];

describe('projects', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await openContractService({ keys });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });
  const as = (name: string) => createApiCaller(service.baseUrl, `sk_${name}`);

  it('are changed by an administrator, field by field', async () => {
    const created = await as('owner').post('/projects', { name: 'One', description: 'First' });
    const { status, body } = await as('owner').patch(`/projects/${created.body.id}`, { name: 'Two' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: created.body.id, name: 'Two', description: 'First', organizationId: 'org_one' });
    const { body: list } = await as('member').get('/projects');
    expect(list.items).toContainEqual(expect.objectContaining({ id: created.body.id, name: 'Two', role: 'member' }));
  });

  it.each([
    ['member', 403, 'FORBIDDEN'],
    ['guest', 403, 'FORBIDDEN'],
    ['stranger', 404, 'NOT_FOUND'],
  ])('are not changed by a %s', async (name, status, code) => {
    const answer = await as(name).patch(`/projects/${service.projectId}`, { name: 'Mine' });
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
    const { body } = await as('owner').get('/projects');
    expect(body.items).toContainEqual(expect.objectContaining({ id: service.projectId, name: 'Default' }));
  });

  it('do not exist for a key of another organization', async () => {
    const { body } = await as('stranger').get('/projects');
    expect(body.items).toMatchObject([{ name: 'Default', organizationId: 'org_two' }]);
    expect(body.items[0].id).not.toBe(service.projectId);
    expect((await as('stranger').get(`/projects/${service.projectId}/servers`)).status).toBe(404);
    expect((await as('guest').get(`/projects/${service.projectId}/servers`)).status).toBe(200);
  });
});

describe('a deletion of a project', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await openContractService({ keys });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });
  const ownKey = { key: 'sk_owner' };
  const openProject = async (): Promise<ContractService> => {
    const owner = createApiCaller(service.baseUrl, 'sk_owner');
    const { body } = await owner.post('/projects', { name: 'Short-lived' });
    const project = createApiCaller(`${service.baseUrl}/projects/${body.id}`, 'sk_owner');
    return { ...service, projectId: body.id, root: owner, project };
  };

  it.each(ways)('deleteProject answers 200: everything in it is gone ($way)', async ({ open }) => {
    const made = await openProject();
    const serverId = await saveServer(made);
    const { suiteId } = await saveSuite(made, serverId, [inlineTest()]);
    const ingested = {
      suiteName: 'Ingested',
      externalRunId: 'ext',
      results: [{ caseTitle: 'One', passed: true, externalIterationId: 'i1', trace: { messages: [] } }],
    };
    const { status: reported } = await made.project.post('/eval-ingest/report', ingested);
    const { body: tunnel } = await made.project.post('/tunnels', { name: 'tunnelled' });
    expect(reported).toBeLessThan(300);
    const send = open(service);
    const { projectId } = made;
    const { status, body } = await send('deleteProject', { projectId }, ownKey);
    expect({ status, body }).toMatchObject({ status: 200, body: { id: projectId, deleted: true } });
    for (const path of ['/servers', `/eval-suites/${suiteId}`, '/eval-suites']) {
      expect((await made.project.get(path)).status).toBe(404);
    }
    expect((await fetch(tunnel.url)).status).toBe(401);
    const { body: list } = await send('listProjects', {}, ownKey);
    expect(list.items.map(({ id }: { id: string }) => id)).not.toContain(projectId);
  });

  it('leaves no row in any table', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'projects-'));
    try {
      {
        await using kept = await openContractService({ dataDir });
        const { body } = await kept.root.post('/projects', { name: 'canary' });
        const project = createApiCaller(`${kept.baseUrl}/projects/${body.id}`, kept.apiKey);
        const made = { ...kept, projectId: body.id, project };
        const serverId = await saveServer(made, { name: 'canary' });
        const suite = { name: 'canary', serverIds: [serverId], model: 'none/none', tests: [inlineTest()] };
        await project.post('/eval-suites', suite, { 'idempotency-key': 'canary' });
        const results = [{ caseTitle: 'canary', passed: true, externalIterationId: 'i', trace: { messages: [] } }];
        await project.post('/eval-ingest/report', { suiteName: 'canary', externalRunId: 'canary', results });
        expect((await kept.root.delete(`/projects/${body.id}`)).status).toBe(200);
      }
      const database = new DatabaseSync(join(dataDir, 'embedded.db'));
      const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
      const rows = tables.flatMap(({ name }) => database.prepare(`select * from ${String(name)}`).all());
      database.close();
      expect(rows).toMatchObject([{ name: 'Default' }]);
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });

  it.each(ways)('deleteProject answers 403: a member ($way)', async ({ open }) => {
    const { status, code } = await open(service)('deleteProject', {}, { key: 'sk_member' });
    expect({ status, code }).toEqual({ status: 403, code: 'FORBIDDEN' });
  });

  it.each(ways)('deleteProject answers 404: a project of another organization ($way)', async ({ open }) => {
    const { status, code } = await open(service)('deleteProject', {}, { key: 'sk_stranger' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('deleteProject answers 400: a body ($way)', async ({ open }) => {
    const { status, code } = await open(service)('deleteProject', { force: true }, ownKey);
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });
});

describe('the number of projects', () => {
  it.each(ways)('createProject answers 403: as many as the organization may have ($way)', async ({ open }) => {
    await using service = await openContractService({ keys, limits: { ...contractLimits, maxProjects: 2 } });
    const send = open(service);
    const create = () => send('createProject', { name: 'One more' }, { key: 'sk_owner' });
    const { status, body } = await create();
    expect(status).toBe(201);
    expect(await create()).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect((await send('createProject', { name: 'Theirs' }, { key: 'sk_stranger' })).status).toBe(201);
    await send('deleteProject', { projectId: body.id }, { key: 'sk_owner' });
    expect((await create()).status).toBe(201);
  });
});
