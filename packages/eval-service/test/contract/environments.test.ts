import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/base/redaction.ts';
import type { Plugin } from '../../src/plugins/inventory.ts';
import { readPlugins } from '../../src/plugins/read-plugins.ts';
import { describeWeatherPlugin, writeFolder } from '../../../../test/support/plugin-folder.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import { holdKey } from '../../../../test/support/service/callers.ts';
import {
  type ContractService,
  openContractService,
  saveServer,
} from '../../../../test/support/service/contract-service.ts';
import { createWorkspace } from '../../../../test/support/workspace.ts';

describe('environments', () => {
  let service: ContractService;
  let plugins: Plugin[];
  let serverId: string;
  let hostId: string;
  let names = 0;
  beforeAll(async () => {
    await using workspace = await createWorkspace();
    const staging = { 'weather/versions/2.0.0/assets/a.txt': 'Without a manifest.' };
    await writeFolder(workspace.path, { ...describeWeatherPlugin('https://weather.example/mcp'), ...staging });
    plugins = await readPlugins(workspace.path);
    const keys = [holdKey('owner', 'org_one', 'admin'), holdKey('member', 'org_one', 'member')];
    service = await openContractService({ keys, apiKey: new Secret('sk_owner'), plugins });
    serverId = await saveServer(service);
    hostId = await saveHost({ serverIds: [serverId] });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  const saveHost = async (config: Record<string, unknown>): Promise<string> => {
    const { body } = await service.project.post('/hosts', { name: 'Host', config: { modelId: 'a/b', ...config } });
    return body.id;
  };
  const pluginVersionId = () => plugins[0]?.versions[0]?.id ?? '';
  const nextName = () => `Environment ${(names += 1)}`;
  const create = async (fields: Record<string, unknown> = {}) =>
    (await service.project.post('/environments', { name: nextName(), hostId, ...fields })).body;
  const write = async (id: string, expectedRevision: number, what: 'archive' | 'restore') =>
    (await service.project.post(`/environments/${id}/${what}`, { expectedRevision })).body;
  const resolve = async (id: string) => await service.project.get(`/environments/${id}/resolve`);

  it.each(ways)('createEnvironment answers 201: at revision 1 ($way)', async ({ open }) => {
    const said = {
      name: nextName(),
      description: 'For pull requests.',
      hostId,
      modelId: 'c/d',
      pluginVersionIds: [pluginVersionId()],
      skillSelection: { mode: 'explicit', skillIds: [] },
    };
    const { status, body } = await open(service)('createEnvironment', said);
    const times = { createdAt: expect.any(Number), updatedAt: expect.any(Number) };
    const { projectId } = service;
    const made = { id: expect.stringMatching(/^env_/), projectId, ...said, revision: 1, archived: false, ...times };
    expect({ status, body }).toEqual({ status: 201, body: made });
  });

  it.each(ways)('createEnvironment answers 400: an unknown field ($way)', async ({ open }) => {
    const { status } = await open(service)('createEnvironment', { name: nextName(), hostId, colour: 'red' });
    expect(status).toBe(400);
  });

  it.each(ways)('createEnvironment answers 403: a member who is no administrator ($way)', async ({ open }) => {
    const { status } = await open(service)('createEnvironment', { name: nextName(), hostId }, { key: 'sk_member' });
    expect(status).toBe(403);
  });

  it.each(ways)('createEnvironment answers 404: an unknown host ($way)', async ({ open }) => {
    const { status, code } = await open(service)('createEnvironment', { name: nextName(), hostId: 'hst_none' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each([
    [{ serverAttachmentId: 'att_none' }, 'Server attachment not found.'],
    [{ pluginVersionIds: ['plv_none'] }, 'Plugin version "plv_none" not found.'],
  ])('createEnvironment finds no %j', async (fields, message) => {
    const { status, body } = await service.project.post('/environments', { name: nextName(), hostId, ...fields });
    expect({ status, message: body.message }).toEqual({ status: 404, message });
  });

  it.each(ways)('createEnvironment answers 409: the name of a live one ($way)', async ({ open }) => {
    const { id, name } = await create();
    const { status, code } = await open(service)('createEnvironment', { name, hostId });
    expect({ status, code }).toEqual({ status: 409, code: 'CONFLICT' });
    const { body } = await service.project.post('/environments', { name, hostId });
    expect(body.details).toEqual({ code: 'ENV_NAME_TAKEN', environmentId: id });
  });

  it('createEnvironment refuses a version of a plugin that is not ready', async () => {
    const pluginVersionIds = [plugins[0]?.versions[1]?.id];
    const { status, body } = await service.project.post('/environments', { name: 'Staged', hostId, pluginVersionIds });
    expect({ status, details: body.details }).toMatchObject({
      status: 409,
      details: { code: 'ENV_PLUGIN_VERSION_NOT_READY' },
    });
  });

  it.each(ways)('listEnvironments answers 200: archived ones only on request ($way)', async ({ open }) => {
    const [live, archived] = [await create(), await create()];
    await write(archived.id, 1, 'archive');
    const list = async (fields = {}) => {
      const { body } = await open(service)('listEnvironments', fields);
      return body.items.map(({ id }: { id: string }) => id).slice(-2);
    };
    expect((await list()).at(-1)).toBe(live.id);
    expect(await list({ includeArchived: true })).toEqual([live.id, archived.id]);
    expect((await list({ includeArchived: false })).at(-1)).toBe(live.id);
  });

  it.each(ways)('listEnvironments answers 404: an unknown project ($way)', async ({ open }) => {
    expect(await open(service)('listEnvironments', { projectId: 'prj_none' })).toMatchObject({ status: 404 });
  });

  it.each(ways)('getEnvironment answers 200: archived ones, too ($way)', async ({ open }) => {
    const { id } = await create();
    await write(id, 1, 'archive');
    const { status, body } = await open(service)('getEnvironment', { environmentId: id });
    expect({ status, body }).toMatchObject({ status: 200, body: { id, archived: true, revision: 2 } });
    expect(body.archivedAt).toBe(body.updatedAt);
  });

  it.each(
    ways.flatMap((way) => [
      { ...way, name: 'getEnvironment', fields: {} },
      { ...way, name: 'resolveEnvironment', fields: {} },
      ...['updateEnvironment', 'archiveEnvironment', 'restoreEnvironment'].map((name) => ({
        ...way,
        name,
        fields: { expectedRevision: 1 },
      })),
    ]),
  )('$name answers 404: an environment of another project ($way)', async ({ open, name, fields }) => {
    const { body: project } = await service.root.post('/projects', { name: 'Other' });
    const { id: environmentId } = await create();
    const { status, code } = await open(service)(name, { projectId: project.id, environmentId, ...fields });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(
    ways.flatMap((way) =>
      ['updateEnvironment', 'archiveEnvironment', 'restoreEnvironment'].map((name) => ({ ...way, name })),
    ),
  )('$name answers 400: no expected revision ($way)', async ({ open, name }) => {
    const { id: environmentId } = await create();
    expect(await open(service)(name, { environmentId })).toMatchObject({ status: 400 });
    const byMember = { environmentId, expectedRevision: 1 };
    expect(await open(service)(name, byMember, { key: 'sk_member' })).toMatchObject({ status: 403 });
  });

  it.each(ways)(
    'updateEnvironment answers 200: null removes what is pinned, the rest stays ($way)',
    async ({ open }) => {
      const { body: host } = await service.project.get(`/hosts/${hostId}`);
      const pinned = {
        description: 'Kept.',
        serverAttachmentId: host.config.serverAttachmentId,
        skillSelection: { mode: 'explicit', skillIds: [`${pluginVersionId()}:umbrella`] },
        pluginVersionIds: [pluginVersionId()],
        sandboxImageId: 'img_1',
      };
      const before = await create({ ...pinned, modelId: 'c/d' });
      expect(before).toMatchObject(pinned);
      const {
        serverAttachmentId: _att,
        skillSelection: _skill,
        pluginVersionIds: _plug,
        sandboxImageId: _img,
        ...rest
      } = before;
      const { status, body } = await open(service)('updateEnvironment', {
        environmentId: before.id,
        expectedRevision: 1,
        serverAttachmentId: null,
        skillSelection: null,
        pluginVersionIds: null,
        sandboxImageId: null,
      });
      expect({ status, body }).toEqual({
        status: 200,
        body: { ...rest, revision: 2, updatedAt: expect.any(Number) },
      });
      const renamed = await open(service)('updateEnvironment', {
        environmentId: before.id,
        expectedRevision: 2,
        name: `${before.name} again`,
      });
      expect(renamed.body).toMatchObject({ name: `${before.name} again`, description: 'Kept.', modelId: 'c/d' });
    },
  );

  it.each(ways)('updateEnvironment answers 409: a stale revision or a name that is taken ($way)', async ({ open }) => {
    const [{ id: environmentId }, { name }] = [await create(), await create()];
    const send = open(service);
    expect(await send('updateEnvironment', { environmentId, expectedRevision: 0 })).toMatchObject({
      status: 409,
      code: 'CONFLICT',
    });
    expect(await send('updateEnvironment', { environmentId, expectedRevision: 1, name })).toMatchObject({
      status: 409,
    });
    const stale = await service.project.patch(`/environments/${environmentId}`, { expectedRevision: 7, name: 'x' });
    expect(stale.body).toEqual({
      code: 'CONFLICT',
      message: 'The environment is at revision 1, not 7; read it again.',
      details: { code: 'ENV_REVISION_STALE', revision: 1, expectedRevision: 7 },
    });
    expect((await service.project.get(`/environments/${environmentId}`)).body.revision).toBe(1);
  });

  it.each(ways)('archiveEnvironment answers 200: the name is free again ($way)', async ({ open }) => {
    const { id, name } = await create();
    const { status, body } = await open(service)('archiveEnvironment', { environmentId: id, expectedRevision: 1 });
    expect({ status, body }).toMatchObject({ status: 200, body: { archived: true, revision: 2 } });
    expect((await create({ name })).revision).toBe(1);
  });

  it.each(ways)('archiveEnvironment answers 409: a stale revision ($way)', async ({ open }) => {
    const { id: environmentId } = await create();
    const answer = await open(service)('archiveEnvironment', { environmentId, expectedRevision: 0 });
    expect(answer).toMatchObject({ status: 409, code: 'CONFLICT' });
  });

  it.each(ways)('restoreEnvironment answers 200: as it was before ($way)', async ({ open }) => {
    const { id, name } = await create();
    await write(id, 1, 'archive');
    const { status, body } = await open(service)('restoreEnvironment', { environmentId: id, expectedRevision: 2 });
    expect({ status, body }).toMatchObject({ status: 200, body: { name, archived: false, revision: 3 } });
    expect(body).not.toHaveProperty('archivedAt');
  });

  it.each(ways)('restoreEnvironment answers 409: the name was taken meanwhile ($way)', async ({ open }) => {
    const { id, name } = await create();
    await write(id, 1, 'archive');
    const { id: holder } = await create({ name });
    const { status } = await open(service)('restoreEnvironment', { environmentId: id, expectedRevision: 2 });
    expect(status).toBe(409);
    expect((await write(id, 2, 'restore')).details).toEqual({ code: 'ENV_NAME_TAKEN', environmentId: holder });
  });

  const stateTable = [
    ['live', 'get', 200, null],
    ['live', 'update', 200, null],
    ['live', 'resolve', 200, null],
    ['live', 'archive', 200, null],
    ['live', 'restore', 409, 'ENV_NOT_ARCHIVED'],
    ['archived', 'get', 200, null],
    ['archived', 'update', 409, 'ENV_ARCHIVED'],
    ['archived', 'resolve', 409, 'ENV_ARCHIVED'],
    ['archived', 'archive', 409, 'ENV_ARCHIVED'],
    ['archived', 'restore', 200, null],
    ['restored', 'get', 200, null],
    ['restored', 'update', 200, null],
    ['restored', 'resolve', 200, null],
    ['restored', 'archive', 200, null],
    ['restored', 'restore', 409, 'ENV_NOT_ARCHIVED'],
  ] as const;
  const reach = async (state: string, action: string, { isStale = false } = {}) => {
    let { id, revision } = await create();
    if (state !== 'live') ({ revision } = await write(id, revision, 'archive'));
    if (state === 'restored') ({ revision } = await write(id, revision, 'restore'));
    const path = `/environments/${id}`;
    const expectedRevision = isStale ? revision - 1 : revision;
    if (action === 'get') return await service.project.get(path);
    if (action === 'resolve') return await service.project.get(`${path}/resolve`);
    if (action === 'update') return await service.project.patch(path, { expectedRevision, description: 'New' });
    return await service.project.post(`${path}/${action}`, { expectedRevision });
  };

  it.each(stateTable)('a %s one answers %s with %i %s', async (state, action, status, code) => {
    const answer = await reach(state, action);
    expect({ status: answer.status, code: answer.body.details?.code ?? null }).toEqual({ status, code });
  });

  it.each(stateTable.filter(([, action]) => action !== 'get' && action !== 'resolve'))(
    'a %s one answers %s of an older revision with 409 ENV_REVISION_STALE',
    async (state, action) => {
      const answer = await reach(state, action, { isStale: true });
      expect({ status: answer.status, code: answer.body.details.code }).toEqual({
        status: 409,
        code: 'ENV_REVISION_STALE',
      });
    },
  );

  it.each(ways)(
    'resolveEnvironment answers 200: a closed set of servers, with those of plugins ($way)',
    async ({ open }) => {
      const optional = await saveServer(service, { name: nextName() });
      const { body: disabled } = await service.project.post('/servers', {
        name: nextName(),
        enabled: false,
        transportType: 'http',
        url: 'http://127.0.0.1:9/mcp',
      });
      const own = await saveHost({ serverIds: [serverId], optionalServerIds: [optional, disabled.id] });
      const { id, name } = await create({ hostId: own, pluginVersionIds: [pluginVersionId()] });
      const { status, body } = await open(service)('resolveEnvironment', { environmentId: id });
      const pluginServer = `${pluginVersionId()}:forecast`;
      expect({ status, body }).toMatchObject({
        status: 200,
        body: {
          environment: { id, name, revision: 1 },
          hostId: own,
          hostName: 'Host',
          hostConfigId: expect.stringMatching(/^hcf_/),
          effectiveModelId: 'a/b',
          modelSource: 'host',
          selectedServerIds: [serverId, optional, disabled.id],
          effectiveServerIds: [serverId, optional, pluginServer],
          pluginVersions: [{ id: pluginVersionId(), pluginName: 'weather', declaredVersion: '1.0.0' }],
          servers: [
            { id: serverId, name: 'demo', source: 'host' },
            { id: optional, source: 'host' },
            { id: pluginServer, name: 'forecast', source: 'plugin', pluginVersionId: pluginVersionId() },
          ],
        },
      });
    },
  );

  it('resolveEnvironment prefers the model of the environment, and names none where there is none', async () => {
    const own = await create({ modelId: 'c/d' });
    expect((await resolve(own.id)).body).toMatchObject({
      modelId: 'c/d',
      effectiveModelId: 'c/d',
      modelSource: 'environment',
    });
    const modelless = await saveHost({ serverIds: [serverId] });
    await service.project.patch(`/hosts/${modelless}`, { config: { modelId: null } });
    const { body } = await resolve((await create({ hostId: modelless })).id);
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['effectiveModelId']));
  });

  it('resolveEnvironment shows the same config for hosts that share one', async () => {
    const { body: twin } = await service.project.post(`/hosts/${hostId}/duplicate`, {});
    const [one, two] = [await create(), await create({ hostId: twin.id })];
    const [first, second] = [(await resolve(one.id)).body, (await resolve(two.id)).body];
    expect(second.hostConfigId).toBe(first.hostConfigId);
    expect(second.hostId).not.toBe(first.hostId);
  });

  it('resolveEnvironment uses the pinned servers, whatever the host has later', async () => {
    const other = await saveServer(service, { name: nextName() });
    const own = await saveHost({ serverIds: [serverId] });
    const { body: host } = await service.project.get(`/hosts/${own}`);
    const { serverAttachmentId } = host.config;
    const [pinned, floating] = [await create({ hostId: own, serverAttachmentId }), await create({ hostId: own })];
    await service.project.post(`/hosts/${own}/servers`, { serverIds: [other] });
    expect((await resolve(pinned.id)).body).toMatchObject({ serverAttachmentId, effectiveServerIds: [serverId] });
    expect((await resolve(floating.id)).body.effectiveServerIds).toEqual([other]);
  });

  it.each(ways)('resolveEnvironment answers 409: nothing to run against ($way)', async ({ open }) => {
    const { id: environmentId } = await create({ hostId: await saveHost({}) });
    expect(await open(service)('resolveEnvironment', { environmentId })).toMatchObject({
      status: 409,
      code: 'CONFLICT',
    });
    expect((await resolve(environmentId)).body.details).toEqual({ code: 'ENV_NO_SERVERS' });
  });

  it.each([
    ['is deleted', (id: string) => service.project.delete(`/servers/${id}`)],
    ['is disabled', (id: string) => service.project.patch(`/servers/${id}`, { enabled: false })],
  ])('resolveEnvironment refuses a needed server that %s', async (_what, spoil) => {
    const lost = await saveServer(service, { name: nextName() });
    const { id } = await create({ hostId: await saveHost({ serverIds: [lost] }) });
    expect((await resolve(id)).status).toBe(200);
    await spoil(lost);
    expect((await resolve(id)).body.details).toEqual({ code: 'ENV_SERVER_UNAVAILABLE', serverId: lost });
  });

  it('resolveEnvironment refuses two servers of one name, and a skill that no plugin has', async () => {
    const namesake = await saveServer(service, { name: 'forecast' });
    const clashing = await saveHost({ serverIds: [namesake] });
    const { id } = await create({ hostId: clashing, pluginVersionIds: [pluginVersionId()] });
    expect((await resolve(id)).body.details).toEqual({ code: 'ENV_SERVER_NAME_TAKEN' });
    const skillSelection = { mode: 'explicit', skillIds: ['other'] };
    const { body } = await resolve((await create({ skillSelection })).id);
    expect(body.details).toEqual({ code: 'ENV_SKILL_NOT_FOUND', skillId: 'other' });
  });

  it('an environment whose pinned version is gone is refused, and restored without it', async () => {
    await using workspace = await createWorkspace();
    const dataDir = workspace.path;
    const open = async (list: Plugin[]) => await openContractService({ dataDir, plugins: list });
    let environmentId = '';
    {
      await using first = await open(plugins);
      const server = await saveServer(first);
      const { body: host } = await first.project.post('/hosts', {
        name: 'Host',
        config: { modelId: 'a/b', serverIds: [server] },
      });
      const pluginVersionIds = [pluginVersionId()];
      const { body } = await first.project.post('/environments', { name: 'Pinned', hostId: host.id, pluginVersionIds });
      environmentId = body.id;
    }
    await using second = await open([]);
    const path = `/environments/${environmentId}`;
    const refused = await second.project.get(`${path}/resolve`);
    expect(refused.body.details).toEqual({
      code: 'ENV_PLUGIN_VERSION_NOT_FOUND',
      pluginVersionId: pluginVersionId(),
    });
    await second.project.post(`${path}/archive`, { expectedRevision: 1 });
    const { body } = await second.project.post(`${path}/restore`, { expectedRevision: 2 });
    expect(body).not.toHaveProperty('pluginVersionIds');
    expect((await second.project.get(`${path}/resolve`)).status).toBe(200);
  });
});
