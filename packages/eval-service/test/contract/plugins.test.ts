import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Plugin } from '../../src/plugins/inventory.ts';
import { readPlugins } from '../../src/plugins/read-plugins.ts';
import { describeWeatherPlugin, writeFolder } from '../../../../test/support/plugin-folder.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import { type ContractService, openContractService } from '../../../../test/support/service/contract-service.ts';
import { createWorkspace } from '../../../../test/support/workspace.ts';

describe('plugins', () => {
  let service: ContractService;
  let plugins: Plugin[];
  beforeAll(async () => {
    await using workspace = await createWorkspace();
    await writeFolder(workspace.path, describeWeatherPlugin('https://user:pw@weather.example/mcp?k=secret'));
    plugins = await readPlugins(workspace.path);
    service = await openContractService({ plugins });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  it.each(ways)('listProjectPlugins answers 200: the plugins with their versions ($way)', async ({ open }) => {
    expect(await open(service)('listProjectPlugins')).toMatchObject({
      status: 200,
      body: {
        items: [
          {
            id: plugins[0]?.id,
            name: 'weather',
            description: 'Forecasts.',
            versions: [{ id: plugins[0]?.versions[0]?.id, declaredVersion: '1.0.0', status: 'ready' }],
          },
        ],
      },
    });
  });

  it.each(ways)('listProjectPlugins answers 404: an unknown project ($way)', async ({ open }) => {
    const { status, code } = await open(service)('listProjectPlugins', { projectId: 'prj_none' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)(
    'getPluginVersion answers 200: its components, without what a URL may hide ($way)',
    async ({ open }) => {
      const pluginVersionId = plugins[0]?.versions[0]?.id;
      const { status, body } = await open(service)('getPluginVersion', { pluginVersionId });
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          id: pluginVersionId,
          pluginId: plugins[0]?.id,
          declaredVersion: '1.0.0',
          bundleHash: expect.stringMatching(/^[0-9a-f]{64}$/),
          manifestHash: expect.stringMatching(/^[0-9a-f]{64}$/),
          status: 'ready',
          componentCounts: { skills: 1, servers: 1, apps: 1, assets: 1, unsupported: 1 },
          servers: [
            {
              id: `${pluginVersionId}:forecast`,
              name: 'forecast',
              componentId: `${pluginVersionId}:forecast`,
              componentKey: 'server:forecast',
              declaredName: 'forecast',
              placement: 'remote',
              authenticationPolicy: 'on_use',
              materializedServerId: `${pluginVersionId}:forecast`,
              transportType: 'http',
              url: 'https://weather.example/mcp',
            },
          ],
          skills: [
            {
              id: `${pluginVersionId}:umbrella`,
              name: 'umbrella',
              componentId: `${pluginVersionId}:umbrella`,
              componentKey: 'skill:umbrella',
              declaredName: 'umbrella',
              modelRef: 'weather/umbrella',
              materializedSkillId: `${pluginVersionId}:umbrella`,
            },
          ],
          createdAt: expect.any(Number),
          readyAt: expect.any(Number),
        },
      });
    },
  );

  it.each(ways)('getPluginVersion answers 404: an unknown version ($way)', async ({ open }) => {
    const { status, code } = await open(service)('getPluginVersion', { pluginVersionId: 'plv_none' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it('listProjectPlugins answers an empty list in a service without plugins', async () => {
    await using bare = await openContractService();
    expect((await bare.project.get('/plugins')).body).toEqual({ items: [] });
  });
});
