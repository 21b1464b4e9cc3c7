import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deletedSchema, serverPageSchema, serverSchema } from '../../../src/service/wire.ts';
import { openContractService, saveServer, type ContractService } from '../../support/service/contract-service.ts';

const record = { name: 'demo', enabled: true, transportType: 'http', url: 'https://example.test/mcp?k=secret' };

describe('server records', () => {
  let service: ContractService;
  beforeEach(async () => {
    service = await openContractService();
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  it('are created and read back without their headers and secrets', async () => {
    const created = await service.project.post('/servers', {
      ...record,
      headers: { authorization: 'Bearer canary' },
      clientSecret: 'canary',
      oauthScopes: ['read'],
    });
    expect(created.status).toBe(201);
    const { id, createdAt, updatedAt, ...rest } = created.body;
    expect(rest).toEqual({
      projectId: service.projectId,
      ...record,
      useOAuth: false,
      hasClientSecret: true,
      oauthScopes: ['read'],
    });
    const read = await service.project.get(`/servers/${id}`);
    expect(read).toMatchObject({ status: 200, body: { id, createdAt, updatedAt } });
    expect(JSON.stringify(read.body)).not.toContain('canary');
    serverSchema.parse(read.body);
  });

  it('are listed in the order of creation, on one page', async () => {
    await saveServer(service, { name: 'b' });
    await saveServer(service, { name: 'a' });
    const { body } = await service.project.get('/servers');
    expect(serverPageSchema.parse(body).items.map(({ name }) => name)).toEqual(['b', 'a']);
    expect(Object.keys(body)).toEqual(['items']);
  });

  it('over stdio are kept, and have no URL', async () => {
    const stdio = { name: 'local', enabled: true, transportType: 'stdio', command: 'node', args: ['x.js'] };
    const { status, body } = await service.project.post('/servers', stdio);
    expect({ status, url: body.url }).toEqual({ status: 201, url: null });
  });

  it.each([
    [{ ...record, colour: 'red' }, 'Unrecognized key: "colour"'],
    [{ ...record, name: ' ' }, 'name: Too small: expected string to have >=1 characters'],
    [{ ...record, url: undefined }, 'url: Required where transportType is http'],
    [{ ...record, url: 'file:///etc/passwd' }, 'url: Expected an http or https URL'],
    [{ ...record, transportType: 'stdio', url: undefined }, 'command: Required where transportType is stdio'],
    [{ ...record, headers: { a: 1 } }, 'headers.a: Invalid input: expected string, received number'],
  ])('are refused as %j', async (body, message) => {
    const answer = await service.project.post('/servers', body);
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 400,
      body: { code: 'VALIDATION_ERROR', message },
    });
  });

  it('have names that are unique in their project', async () => {
    await saveServer(service, { name: 'demo' });
    const other = await saveServer(service, { name: 'other' });
    const clash = { code: 'CONFLICT', message: 'The project has a server named "demo" already.' };
    expect(await service.project.post('/servers', record)).toMatchObject({ status: 409, body: clash });
    expect(await service.project.patch(`/servers/${other}`, { name: 'demo' })).toMatchObject({
      status: 409,
      body: clash,
    });
    expect((await service.project.patch(`/servers/${other}`, { name: 'other' })).status).toBe(200);
  });

  it('are changed field by field', async () => {
    const id = await saveServer(service);
    const { status, body } = await service.project.patch(`/servers/${id}`, { enabled: false, clientSecret: 's' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { name: 'demo', enabled: false, hasClientSecret: true },
    });
    const cleared = await service.project.patch(`/servers/${id}`, { clearClientSecret: true });
    expect(cleared.body).toMatchObject({ enabled: false, hasClientSecret: false });
  });

  it('stay complete when they are changed', async () => {
    const id = await saveServer(service);
    const { status, body } = await service.project.patch(`/servers/${id}`, { transportType: 'stdio' });
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: 'command: Required where transportType is stdio',
    });
  });

  it.each([[undefined], [{}]])('are deleted with the body %j', async (sent) => {
    const id = await saveServer(service);
    const deleted = await service.project.delete(`/servers/${id}`, sent);
    expect(deletedSchema.parse(deleted.body)).toEqual({ id, deleted: true });
    expect((await service.project.get(`/servers/${id}`)).status).toBe(404);
  });

  it('are not deleted with any other body', async () => {
    const id = await saveServer(service);
    expect((await service.project.delete(`/servers/${id}`, { force: true })).status).toBe(400);
    expect((await service.project.get(`/servers/${id}`)).status).toBe(200);
  });

  it('of another project are not found', async () => {
    const id = await saveServer(service);
    const { body: other } = await service.root.post('/projects', { name: 'Other' });
    const foreign = await service.root.get(`/projects/${other.id}/servers/${id}`);
    const missing = await service.project.get('/servers/srv_missing');
    expect(foreign).toMatchObject({ status: 404, body: { code: 'NOT_FOUND', message: 'Server not found.' } });
    expect(missing.body).toEqual(foreign.body);
    expect((await service.root.get('/projects/prj_missing/servers')).body).toEqual({
      code: 'NOT_FOUND',
      message: 'Project not found.',
    });
  });
});
