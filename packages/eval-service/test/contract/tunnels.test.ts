import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tunnelClosedSchema, tunnelGrantSchema } from '../../../../src/service/wire.ts';
import {
  openContractService,
  saveServer,
  type ContractService,
} from '../../../../test/support/service/contract-service.ts';

describe('tunnels', () => {
  let service: ContractService;
  beforeEach(async () => {
    service = await openContractService();
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  it('are granted with everything that both sides need, and nothing else', async () => {
    const { status, body } = await service.project.post('/tunnels', { name: '  demo ', unknown: 1 });
    expect(status).toBe(201);
    tunnelGrantSchema.parse(body);
    const { origin, host } = new URL(service.baseUrl);
    expect(body).toEqual({
      serverId: expect.stringMatching(/^srv_/),
      name: 'demo',
      existed: false,
      slug: expect.stringMatching(/^[0-9a-f]{12}$/),
      url: expect.stringMatching(new RegExp(`^${origin}/api/mcp/adapter-http/${body.serverId}\\?k=k_[\\w-]{43}$`)),
      connectToken: expect.stringMatching(/^ct_[\w-]{43}$/),
      connectTokenExpiresAt: expect.any(Number),
      relayWsUrl: `ws://${host}/agent`,
      secretVersion: 1,
    });
    expect(body.connectTokenExpiresAt).toBeGreaterThan(Date.now());
    const saved = await service.project.get(`/servers/${body.serverId}`);
    expect(saved.body).toMatchObject({ name: 'demo', enabled: true, transportType: 'http', url: body.url });
  });

  it('keep server and slug, and change every secret, when they are granted again', async () => {
    const first = (await service.project.post('/tunnels', { name: 'demo' })).body;
    const again = (await service.project.post('/tunnels', { name: 'demo' })).body;
    const { serverId, name, existed, slug, secretVersion, previousTransportType } = again;
    expect({ serverId, name, existed, slug, secretVersion, previousTransportType }).toEqual({
      serverId: first.serverId,
      name: 'demo',
      existed: true,
      slug: first.slug,
      secretVersion: 2,
      previousTransportType: 'http',
    });
    // Another secret alone is no other place.
    expect(again).not.toHaveProperty('previousUrl');
    expect([again.url === first.url, again.connectToken === first.connectToken]).toEqual([false, false]);
  });

  it('return the record that they overwrote, so that a client can restore it', async () => {
    const serverId = await saveServer(service, { name: 'mine', url: 'https://example.test/mcp?a=1' });
    const { body } = await service.project.post('/tunnels', { name: 'mine' });
    const expected = { previousUrl: 'https://example.test/mcp?a=1', previousTransportType: 'http' };
    expect(body).toMatchObject({ serverId, existed: true, ...expected });
    const stdio = { name: 'local', enabled: true, transportType: 'stdio', command: 'node' };
    await service.project.post('/servers', stdio);
    const second = (await service.project.post('/tunnels', { name: 'local' })).body;
    expect(second).toMatchObject({ existed: true, previousTransportType: 'stdio' });
    expect(second).not.toHaveProperty('previousUrl');
  });

  it.each([{}, { name: '' }, { name: '   ' }, { name: 'x'.repeat(129) }, { name: 5 }])(
    'need a name: %j',
    async (body) => {
      const answer = await service.project.post('/tunnels', body);
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    },
  );

  it('are closed, also twice, and leave the record', async () => {
    const { serverId } = (await service.project.post('/tunnels', { name: 'demo' })).body;
    for (let time = 0; time < 2; time += 1) {
      const { status, body } = await service.project.post(`/tunnels/${serverId}/close`);
      tunnelClosedSchema.parse(body);
      expect({ status, body }).toEqual({ status: 200, body: { serverId, status: 'closed' } });
    }
    expect((await service.project.get(`/servers/${serverId}`)).status).toBe(200);
    expect((await service.project.post('/tunnels', { name: 'demo' })).body.secretVersion).toBe(2);
  });

  it('of another project, or of none, are not found', async () => {
    expect((await service.project.post('/tunnels/srv_x/close')).status).toBe(404);
    expect((await service.root.post('/projects/prj_x/tunnels', { name: 'demo' })).status).toBe(404);
    const { serverId } = (await service.project.post('/tunnels', { name: 'demo' })).body;
    const other = (await service.root.post('/projects', { name: 'Other' })).body;
    expect((await service.root.post(`/projects/${other.id}/tunnels/${serverId}/close`)).status).toBe(404);
  });
});
