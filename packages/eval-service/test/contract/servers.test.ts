import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deletedSchema, serverPageSchema, serverSchema } from '../../../../src/service/wire.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import {
  openContractService,
  saveServer,
  type ContractService,
} from '../../../../test/support/service/contract-service.ts';

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

describe('operations on server records', () => {
  let service: ContractService;
  beforeEach(async () => {
    service = await openContractService();
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });
  const stdio = { name: 'local', enabled: true, transportType: 'stdio', command: 'canary-command', args: ['canary'] };

  it.each(ways)('listProjectServers answers 200: the servers of the project ($way)', async ({ open }) => {
    const id = await saveServer(service);
    const { status, body } = await open(service)('listProjectServers');
    expect({ status, body }).toMatchObject({ status: 200, body: { items: [{ id, hasClientSecret: false }] } });
  });

  it.each(ways)('createProjectServer answers 201: a server over stdio ($way)', async ({ open }) => {
    const send = open(service);
    const { status, body } = await send('createProjectServer', { ...stdio, env: { KEY: 'canary' } });
    expect({ status, body }).toMatchObject({ status: 201, body: { transportType: 'stdio', url: null } });
    const { body: read } = await send('getProjectServer', { serverId: body.id });
    expect(JSON.stringify([body, read])).not.toContain('canary');
  });

  it.each(ways)('createProjectServer answers 400: no URL over HTTP ($way)', async ({ open }) => {
    const { status, code } = await open(service)('createProjectServer', { ...record, url: undefined });
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each(ways)('createProjectServer answers 409: a name that is taken ($way)', async ({ open }) => {
    await saveServer(service);
    const { status, code } = await open(service)('createProjectServer', record);
    expect({ status, code }).toEqual({ status: 409, code: 'CONFLICT' });
  });

  it.each(ways)('getProjectServer answers 200: the record without its secrets ($way)', async ({ open }) => {
    const send = open(service);
    const { body } = await send('createProjectServer', { ...record, clientSecret: 'canary' });
    const read = await send('getProjectServer', { serverId: body.id });
    expect(read).toMatchObject({ status: 200, body: { name: 'demo', hasClientSecret: true } });
    expect(JSON.stringify(read.body)).not.toContain('canary');
  });

  it.each(
    ways.flatMap((way) =>
      ['getProjectServer', 'updateProjectServer', 'deleteProjectServer'].map((name) => ({ ...way, name })),
    ),
  )('$name answers 404: a server of another project ($way)', async ({ open, name }) => {
    const serverId = await saveServer(service);
    const { body: other } = await service.root.post('/projects', { name: 'Other' });
    const { status, code } = await open(service)(name, { projectId: other.id, serverId });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('updateProjectServer answers 200: only the given fields change ($way)', async ({ open }) => {
    const serverId = await saveServer(service);
    const { status, body } = await open(service)('updateProjectServer', { serverId, enabled: false });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { name: 'demo', enabled: false, url: 'http://127.0.0.1:9/mcp' },
    });
  });

  it.each(ways)('updateProjectServer answers 400: a secret that is set and cleared ($way)', async ({ open }) => {
    const send = open(service);
    const { body } = await send('createProjectServer', { ...record, clientSecret: 'first' });
    const changes = { serverId: body.id, clientSecret: 'second', clearClientSecret: true };
    expect(await send('updateProjectServer', changes)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
    const { body: read } = await send('getProjectServer', { serverId: body.id });
    expect(read.updatedAt).toBe(body.updatedAt);
  });

  it.each(ways)('updateProjectServer answers 409: the name of another server ($way)', async ({ open }) => {
    await saveServer(service, { name: 'one' });
    const serverId = await saveServer(service, { name: 'two' });
    const { status, code } = await open(service)('updateProjectServer', { serverId, name: 'one' });
    expect({ status, code }).toEqual({ status: 409, code: 'CONFLICT' });
  });

  it.each(ways)('deleteProjectServer answers 200: its name is free again ($way)', async ({ open }) => {
    const send = open(service);
    const serverId = await saveServer(service);
    expect(await send('deleteProjectServer', { serverId })).toMatchObject({ status: 200, body: { id: serverId } });
    expect(await send('deleteProjectServer', { serverId })).toMatchObject({ status: 404 });
    expect((await send('listProjectServers')).body.items).toEqual([]);
    expect((await send('createProjectServer', record)).status).toBe(201);
  });

  it.each(ways)('deleteProjectServer answers 400: a body ($way)', async ({ open }) => {
    const serverId = await saveServer(service);
    const { status, code } = await open(service)('deleteProjectServer', { serverId, force: true });
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it('end the tunnel of a server that is deleted', async () => {
    const { body: tunnel } = await service.project.post('/tunnels', { name: 'tunnelled' });
    await service.project.delete(`/servers/${tunnel.serverId}`);
    expect((await fetch(tunnel.url)).status).toBe(401);
  });
});

describe('the row of a deleted server', () => {
  it('is kept without what was secret in it', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'servers-'));
    try {
      {
        await using service = await openContractService({ dataDir });
        const secret = { headers: { 'x-key': 'canary' }, clientSecret: 'canary', url: 'http://127.0.0.1:9/?k=canary' };
        const { body } = await service.project.post('/servers', { ...record, ...secret });
        await service.project.delete(`/servers/${body.id}`);
      }
      const database = new DatabaseSync(join(dataDir, 'embedded.db'));
      const rows = database.prepare('select name, record from servers').all();
      database.close();
      expect(rows).toMatchObject([{ name: 'demo' }]);
      expect(JSON.stringify(rows)).not.toContain('canary');
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });
});
