import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/base/redaction.ts';
import { hostTemplates } from '../../../../src/service/operations/hosts.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import { holdKey } from '../../../../test/support/service/callers.ts';
import {
  type ContractService,
  openContractService,
  saveServer,
  saveSuite,
} from '../../../../test/support/service/contract-service.ts';

describe('hosts', () => {
  let service: ContractService;
  let serverId: string;
  let otherId: string;
  beforeAll(async () => {
    const keys = [holdKey('owner', 'org_one', 'admin'), holdKey('member', 'org_one', 'member')];
    service = await openContractService({ keys, apiKey: new Secret('sk_owner') });
    serverId = await saveServer(service);
    otherId = await saveServer(service, { name: 'other' });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });
  const config = { modelId: 'a/b', systemPrompt: 'Be short.', temperature: 0.5, capabilities: { apps: true } };
  const create = async (fields: Record<string, unknown> = { name: 'Host', config }) =>
    (await service.project.post('/hosts', fields)).body;

  it.each(ways)('createHost answers 201: a full config, of which unknown fields are kept ($way)', async ({ open }) => {
    const said = { ...config, extra: { a: [1] }, serverIds: [serverId], optionalServerIds: [otherId] };
    const { status, body } = await open(service)('createHost', { name: 'Full', config: said });
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        id: expect.stringMatching(/^hst_/),
        name: 'Full',
        config: { ...said, serverAttachmentId: expect.stringMatching(/^att_/) },
      },
    });
  });

  it.each(hostTemplates)('createHost takes the template %s', async (template) => {
    const { config: made } = await create({ name: template, template, theme: 'dark' });
    expect(made).toMatchObject({ template, theme: 'dark', serverIds: [], capabilities: { apps: expect.any(Boolean) } });
    expect(made.modelId).toMatch(/^[a-z]+\/\S+$/);
    expect(made.systemPrompt).not.toBe('');
  });

  it.each([
    ['neither a template nor a config', {}, 'template: Required, or else config'],
    ['both', { template: 'claude', config }, 'config: Not allowed with template'],
    ['a theme without a template', { config, theme: 'dark' }, 'theme: Only allowed with template'],
    ['a config without a model', { config: {} }, 'config.modelId: Invalid input: expected string, received undefined'],
    [
      'one server twice',
      () => ({ config: { ...config, serverIds: [serverId], optionalServerIds: [serverId] } }),
      /^optionalServerIds: Server "srv_\w+" is in serverIds, too; send it in one of them$/,
    ],
  ])('createHost refuses %s', async (_what, fields, message) => {
    const sent = typeof fields === 'function' ? fields() : fields;
    const { status, body } = await service.project.post('/hosts', { name: 'Host', ...sent });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
    expect(body.message).toMatch(message);
  });

  it.each(ways)('createHost answers 400: an unknown template ($way)', async ({ open }) => {
    const { status, code } = await open(service)('createHost', { name: 'Host', template: 'netscape' });
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each(ways)('createHost answers 404: a server that the project lacks ($way)', async ({ open }) => {
    const said = { ...config, serverIds: ['srv_none'] };
    const { status, code } = await open(service)('createHost', { name: 'Host', config: said });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('listHosts answers 200: oldest first ($way)', async ({ open }) => {
    const [first, second] = [await create(), await create()];
    const { status, body } = await open(service)('listHosts');
    const ids = body.items.map(({ id }: { id: string }) => id);
    expect({ status, last: ids.slice(-2) }).toEqual({ status: 200, last: [first.id, second.id] });
  });

  it.each(ways)('getHost answers 200: the host as it was created ($way)', async ({ open }) => {
    const host = await create();
    expect(await open(service)('getHost', { hostId: host.id })).toMatchObject({ status: 200, body: host });
  });

  it.each(
    ways.flatMap((way) => [
      ...['getHost', 'updateHost', 'deleteHost', 'duplicateHost'].map((name) => ({ ...way, name, fields: {} })),
      { ...way, name: 'setHostServers', fields: { serverIds: [] } },
    ]),
  )('$name answers 404: a host of another project ($way)', async ({ open, name, fields }) => {
    const { body: project } = await service.root.post('/projects', { name: 'Other' });
    const { id: hostId } = await create();
    const { status, code } = await open(service)(name, { projectId: project.id, hostId, ...fields });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('listHosts answers 404: an unknown project ($way)', async ({ open }) => {
    expect(await open(service)('listHosts', { projectId: 'prj_none' })).toMatchObject({ status: 404 });
  });

  it.each(ways)(
    'updateHost answers 200: sent fields change, null removes one, the rest stays ($way)',
    async ({ open }) => {
      const host = await create({ name: 'Host', config: { ...config, serverIds: [serverId] } });
      const changes = { modelId: 'c/d', systemPrompt: null, extra: 1 };
      const { status, body } = await open(service)('updateHost', { hostId: host.id, name: 'Renamed', config: changes });
      expect({ status, body }).toMatchObject({ status: 200, body: { name: 'Renamed' } });
      expect(body.config).toEqual({
        modelId: 'c/d',
        temperature: 0.5,
        capabilities: { apps: true },
        extra: 1,
        serverIds: [serverId],
        optionalServerIds: [],
        serverAttachmentId: expect.any(String),
      });
    },
  );

  it.each(ways)('updateHost answers 200: a config that was read can be written back ($way)', async ({ open }) => {
    const host = await create();
    const { body } = await open(service)('updateHost', { hostId: host.id, config: host.config });
    const { serverAttachmentId: _before, ...before } = host.config;
    const { serverAttachmentId: _after, ...after } = body.config;
    expect(after).toEqual(before);
  });

  it.each(ways)('updateHost answers 400: a temperature out of bounds ($way)', async ({ open }) => {
    const { id: hostId } = await create();
    const { status } = await open(service)('updateHost', { hostId, config: { temperature: 3 } });
    expect(status).toBe(400);
  });

  it.each(ways)('setHostServers answers 200: what is attached is replaced ($way)', async ({ open }) => {
    const { id: hostId } = await create({ name: 'Host', config: { ...config, serverIds: [serverId] } });
    const sent = { serverIds: [otherId, otherId], optionalServerIds: [serverId] };
    const { status, body } = await open(service)('setHostServers', { hostId, ...sent });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { config: { ...config, serverIds: [otherId], optionalServerIds: [serverId] } },
    });
    const without = await open(service)('setHostServers', { hostId, serverIds: [] });
    expect(without.body.config).toMatchObject({ serverIds: [], optionalServerIds: [] });
  });

  it.each(ways)('setHostServers answers 400: a missing list ($way)', async ({ open }) => {
    const { id: hostId } = await create();
    expect(await open(service)('setHostServers', { hostId })).toMatchObject({ status: 400 });
  });

  it.each(ways)('setHostServers answers 403: a member who is no administrator ($way)', async ({ open }) => {
    const { id: hostId } = await create();
    const options = { key: 'sk_member' };
    const { status, code } = await open(service)('setHostServers', { hostId, serverIds: [] }, options);
    expect({ status, code }).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect(await open(service)('duplicateHost', { hostId }, options)).toMatchObject({ status: 403 });
    expect(await open(service)('updateHost', { hostId, name: 'Mine' }, options)).toMatchObject({ status: 200 });
  });

  it.each(ways)(
    'duplicateHost answers 201: the config is shared until one of them changes ($way)',
    async ({ open }) => {
      const host = await create();
      const { status, body } = await open(service)('duplicateHost', { hostId: host.id });
      expect({ status, body }).toMatchObject({ status: 201, body: { name: 'Host copy', config: host.config } });
      await service.project.patch(`/hosts/${host.id}`, { config: { modelId: 'new/one' } });
      const { body: copy } = await service.project.get(`/hosts/${body.id}`);
      expect(copy.config).toEqual(host.config);
      const named = await open(service)('duplicateHost', { hostId: host.id, name: 'Twin' });
      expect(named.body).toMatchObject({ name: 'Twin', config: { modelId: 'new/one' } });
    },
  );

  it.each(ways)('duplicateHost answers 400: an empty name ($way)', async ({ open }) => {
    const { id: hostId } = await create();
    expect(await open(service)('duplicateHost', { hostId, name: ' ' })).toMatchObject({ status: 400 });
  });

  it.each(ways)('deleteHost answers 200: a host that nothing uses ($way)', async ({ open }) => {
    const { id: hostId } = await create();
    expect(await open(service)('deleteHost', { hostId })).toMatchObject({ status: 200, body: { deleted: true } });
    expect(await open(service)('getHost', { hostId })).toMatchObject({ status: 404 });
  });

  it.each(ways)('deleteHost answers 400: force that is no boolean ($way)', async ({ open }) => {
    const { id: hostId } = await create();
    expect(await open(service)('deleteHost', { hostId, force: 'yes' })).toMatchObject({ status: 400 });
  });

  it.each(ways)('deleteHost answers 409: an environment uses it, unless it is forced ($way)', async ({ way, open }) => {
    const { id: hostId } = await create();
    const name = `Staging ${way}`;
    const { body: environment } = await service.project.post('/environments', { name, hostId });
    const { status, code } = await open(service)('deleteHost', { hostId });
    expect({ status, code }).toEqual({ status: 409, code: 'CONFLICT' });
    const refused = await service.project.delete(`/hosts/${hostId}`);
    expect(refused.body.message).toBe(`The host is used by the environment "${name}"; send force to delete it.`);
    expect(await open(service)('deleteHost', { hostId, force: true })).toMatchObject({ status: 200 });
    const { body } = await service.project.get(`/environments/${environment.id}/resolve`);
    expect(body.details).toEqual({ code: 'ENV_HOST_NOT_FOUND' });
  });

  it.each(ways)('deleteHost answers 409: a suite uses it, unless it is forced ($way)', async ({ open }) => {
    const [used, kept] = [await create(), await create()];
    const { suiteId } = await saveSuite(service, serverId);
    await service.project.patch(`/eval-suites/${suiteId}`, { hosts: [{ host: used.id }, { host: kept.id }] });
    expect(await open(service)('deleteHost', { hostId: used.id })).toMatchObject({ status: 409, code: 'CONFLICT' });
    expect(await open(service)('deleteHost', { hostId: used.id, force: true })).toMatchObject({ status: 200 });
    const { body } = await service.project.get(`/eval-suites/${suiteId}`);
    expect(body.hosts).toEqual([{ id: kept.id, name: 'Host' }]);
  });

  it('deleteHost counts no archived environment as a use', async () => {
    const { id: hostId } = await create();
    const { body } = await service.project.post('/environments', { name: 'Archived one', hostId });
    await service.project.post(`/environments/${body.id}/archive`, { expectedRevision: 1 });
    expect((await service.project.delete(`/hosts/${hostId}`)).status).toBe(200);
  });
});
