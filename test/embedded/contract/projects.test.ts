import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/base/redaction.ts';
import type { Role } from '../../../src/embedded/callers.ts';
import { createApiCaller } from '../../support/service/api-caller.ts';
import { type ContractService, openContractService } from '../../support/service/contract-service.ts';

function holdKey(name: string, organizationId: string, role: Role) {
  const user = { id: `user_${name}`, email: `${name}@localhost`, name };
  return { secret: new Secret(`sk_${name}`), caller: { keyId: `key_${name}`, user, organizationId, role } };
}

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
    expect((await as('stranger').get('/projects')).body.items).toEqual([]);
    expect((await as('stranger').get(`/projects/${service.projectId}/servers`)).status).toBe(404);
    expect((await as('guest').get(`/projects/${service.projectId}/servers`)).status).toBe(200);
  });
});
