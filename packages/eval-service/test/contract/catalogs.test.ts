import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logger.ts';
import { createRedactor, Secret } from '../../../../src/base/redaction.ts';
import { systemClock } from '../../../../src/base/time.ts';
import { createProviderSource, type ProviderSource } from '../../../../src/models/provider-source.ts';
import { readProviders } from '../../../../src/models/providers.ts';
import { hostTemplates } from '../../../../src/service/operations/hosts.ts';
import { createApiCaller } from '../../../../test/support/service/api-caller.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import { holdKey } from '../../../../test/support/service/callers.ts';
import { type ContractService, openContractService } from '../../../../test/support/service/contract-service.ts';

describe('catalogs', () => {
  let service: ContractService;
  let models: ProviderSource;
  beforeAll(async () => {
    const environment = { ANTHROPIC_API_KEY: 'sk-ant-canary', OPENAI_BASE_URL: 'https://inside.example/v1' };
    const options = { clock: systemClock, random: Math.random, logger: silentLogger, redactor: createRedactor() };
    models = createProviderSource({ providers: readProviders({ environment }), ...options });
    const keys = [holdKey('owner', 'org_one', 'admin'), holdKey('guest', 'org_one', 'guest')];
    const defaultModel = { provider: 'anthropic', name: 'claude-test' };
    service = await openContractService({ keys, apiKey: new Secret('sk_owner'), models, defaultModel });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await models[Symbol.asyncDispose]();
  });

  it.each(ways)('getHostCompatCatalog answers 200: the bundled catalog ($way)', async ({ open }) => {
    const { status, body } = await open(service)('getHostCompatCatalog');
    expect({ status, body }).toMatchObject({ status: 200, body: { schemaVersion: 2, source: 'bundled' } });
    expect(Object.keys(body.catalog.hostsById).toSorted()).toEqual(hostTemplates.toSorted());
    expect(body.contentHash).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each(ways)('listHarnessBuiltinTools answers 200: of each known harness ($way)', async ({ open }) => {
    for (const harnessId of ['claude-code', 'codex']) {
      const { status, body } = await open(service)('listHarnessBuiltinTools', { harnessId });
      expect(status).toBe(200);
      expect(body.items).toContainEqual(expect.objectContaining({ name: expect.any(String), readOnly: true }));
    }
  });

  it.each(ways)('listHarnessBuiltinTools answers 404: an unknown harness ($way)', async ({ open }) => {
    const { status, code } = await open(service)('listHarnessBuiltinTools', { harnessId: 'netscape' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect((await service.root.get('/harness/netscape/builtin-tools')).body.message).toBe('Harness not found.');
  });

  it.each(ways)('listModels answers 200: what can be asked, and no secret ($way)', async ({ open }) => {
    const { status, body } = await open(service)('listModels');
    expect(status).toBe(200);
    expect(body.providers).toEqual(
      expect.arrayContaining([
        { id: 'anthropic', isConfigured: true },
        { id: 'openai', isConfigured: false },
      ]),
    );
    expect(body.models[0]).toEqual({
      id: 'anthropic/claude-test',
      provider: 'anthropic',
      name: 'claude-test',
      isAvailable: true,
      isDefault: true,
    });
    // Where clients look for the entries of a page.
    expect(body.items).toEqual(body.models);
    expect(JSON.stringify(body)).not.toMatch(/canary|inside\.example/);
  });

  it.each(['/host-catalog', '/harness/codex/builtin-tools', '/models'])('answers %s without a key', async (path) => {
    expect((await createApiCaller(service.baseUrl, null).get(path)).status).toBe(200);
  });

  it('listModels says of a service without models that it can ask none', async () => {
    await using bare = await openContractService();
    const { body } = await bare.root.get('/models');
    expect(body.providers.some(({ isConfigured }: { isConfigured: boolean }) => isConfigured)).toBe(false);
  });

  it.each(ways)('listOrganizations answers 200: that of the key ($way)', async ({ open }) => {
    const { status, body } = await open(service)('listOrganizations', {}, { key: 'sk_guest' });
    expect({ status, body }).toMatchObject({ status: 200, body: { items: [{ id: 'org_one', myRole: 'guest' }] } });
  });

  it.each(ways)('getProjectCapabilities answers 200: by the role of the key ($way)', async ({ open }) => {
    const can = async (key: string) => (await open(service)('getProjectCapabilities', {}, { key })).body.can;
    expect(await can('sk_owner')).toMatchObject({ read: true, write: true, manageEnvironments: true });
    expect(await can('sk_guest')).toMatchObject({ read: true, write: false, manageEnvironments: false });
  });

  it.each(ways)('getProjectCapabilities answers 404: an unknown project ($way)', async ({ open }) => {
    const { status, code } = await open(service)('getProjectCapabilities', { projectId: 'prj_none' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });
});
