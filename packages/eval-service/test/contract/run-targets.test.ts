import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/time.ts';
import type { Plugin } from '../../src/plugins/inventory.ts';
import { readPlugins } from '../../src/plugins/read-plugins.ts';
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts';
import { createScriptedSource, type ScriptedSource } from '../../../../test/support/models/scripted-source.ts';
import { describeWeatherPlugin, writeFolder } from '../../../../test/support/plugin-folder.ts';
import {
  type ContractService,
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
} from '../../../../test/support/service/contract-service.ts';
import { startEchoServer } from '../../../../test/support/servers/echo-server.ts';
import type { FixtureMcpServer } from '../../../../test/support/servers/fixture-mcp-server.ts';
import { createWorkspace } from '../../../../test/support/workspace.ts';

const asks = {
  title: 'Asks',
  steps: [
    { id: 'p1', kind: 'prompt', prompt: 'Hello?' },
    { id: 'a1', kind: 'assert', assertion: { type: 'finalAssistantMessageNonEmpty' } },
  ],
};

describe('where a run takes place', () => {
  let mcp: FixtureMcpServer;
  let plugins: Plugin[];
  let models: ScriptedSource;
  let service: ContractService;
  let reachable: string;
  let unreachable: string;
  beforeAll(async () => {
    mcp = await startEchoServer();
    await using workspace = await createWorkspace();
    await writeFolder(workspace.path, describeWeatherPlugin(mcp.url));
    plugins = await readPlugins(workspace.path);
    models = createScriptedSource([{ text: 'Yes.' }]);
  });
  afterAll(async () => {
    await mcp[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  const open = async (overrides: Parameters<typeof openContractService>[0] = {}) => {
    models = createScriptedSource([{ text: 'Yes.' }]);
    service = await openContractService({ models, plugins, ...overrides });
    reachable = await saveServer(service, { url: mcp.url });
    unreachable = await saveServer(service, { name: 'dead' });
  };
  const saveHost = async (config: Record<string, unknown>): Promise<string> =>
    (await service.project.post('/hosts', { name: 'Host', config: { modelId: 'scripted/host', ...config } })).body.id;
  const saveEnvironment = async (fields: Record<string, unknown>): Promise<string> =>
    (await service.project.post('/environments', { name: `E ${JSON.stringify(fields)}`, ...fields })).body.id;
  const patch = async (suiteId: string, body: unknown) => await service.project.patch(`/eval-suites/${suiteId}`, body);
  const create = async (body: unknown) => await service.project.post('/eval-runs', body);
  const runOnce = async (body: unknown) => {
    const created = await create(body);
    expect(created).toMatchObject({ status: 202 });
    return { created: created.body, ended: await waitForEnd(service, created.body.runId) };
  };
  const listModels = () => models.requests.map(({ model }) => `${model.provider}/${model.name}`);

  it('is the only environment of the suite: its servers, model and prompt, which the run shows', async () => {
    await open();
    const hostId = await saveHost({ serverIds: [reachable], systemPrompt: 'You are the host.', temperature: 0.3 });
    const environmentId = await saveEnvironment({ hostId, modelId: 'scripted/own' });
    const { suiteId } = await saveSuite(service, unreachable, [asks], { model: 'scripted/suite' });
    await patch(suiteId, { environmentIds: [environmentId], executionConfig: { systemPrompt: 'You are the suite.' } });
    const { created, ended } = await runOnce({ suiteId });
    const environment = { id: environmentId, name: expect.any(String), revision: 1 };
    expect(created).toMatchObject({ environment, servers: [{ id: reachable }] });
    expect(ended).toMatchObject({ result: 'passed', source: 'api', environment });
    expect(listModels()).toEqual(['scripted/own']);
    const [call] = models.asked[0] ?? [];
    expect(call).toMatchObject({ temperature: 0.3, prompt: [{ role: 'system', content: 'You are the host.' }, {}] });
  });

  it('is the environment that the request names; its revision stays that of the run', async () => {
    await open();
    const hostId = await saveHost({ serverIds: [reachable] });
    const environmentIds = [
      await saveEnvironment({ hostId }),
      await saveEnvironment({ hostId, modelId: 'scripted/two' }),
    ];
    const [, second = ''] = environmentIds;
    const { suiteId } = await saveSuite(service, unreachable, [asks]);
    await patch(suiteId, { environmentIds });
    const { ended } = await runOnce({ suiteId, environmentId: second });
    expect(listModels()).toEqual(['scripted/two']);
    await service.project.patch(`/environments/${second}`, { expectedRevision: 1, description: 'New' });
    const { body } = await service.project.get(`/eval-runs/${ended.id}`);
    expect(body.environment).toMatchObject({ id: second, revision: 1 });
  });

  it('reaches the servers of pinned plugins', async () => {
    await open();
    const pluginVersionIds = [plugins[0]?.versions[0]?.id];
    const environmentId = await saveEnvironment({ hostId: await saveHost({}), pluginVersionIds });
    const { suiteId } = await saveSuite(service, unreachable, [inlineTest('echo')]);
    await patch(suiteId, { environmentIds: [environmentId] });
    const { created, ended } = await runOnce({ suiteId });
    expect(created.servers).toEqual([{ id: `${pluginVersionIds[0]}:forecast`, name: 'forecast' }]);
    expect(ended.result).toBe('passed');
  });

  it('is a host of the suite: with its servers, or with those that the suite gives it', async () => {
    await open();
    const hostId = await saveHost({ serverIds: [unreachable], systemPrompt: 'You are the host.' });
    const { suiteId } = await saveSuite(service, unreachable, [asks], { model: 'scripted/suite' });
    await patch(suiteId, { hosts: [{ host: hostId, servers: ['demo'] }] });
    const { created, ended } = await runOnce({ suiteId, namedHostId: hostId });
    expect(created).toMatchObject({ environment: null, servers: [{ id: reachable }] });
    expect(ended.result).toBe('passed');
    expect(listModels()).toEqual(['scripted/host']);
    await patch(suiteId, { hosts: [{ host: hostId }] });
    expect(await create({ suiteId, namedHostId: hostId })).toMatchObject({ status: 502 });
  });

  it('is the suite itself, whose settings its prompts get', async () => {
    await open();
    const own = { ...asks, title: 'Own', advancedConfig: { system: 'You are the case.' } };
    const { suiteId } = await saveSuite(service, reachable, [asks, own], { model: 'none/none' });
    const executionConfig = { model: 'scripted/suite', systemPrompt: 'You are the suite.', temperature: 0.1 };
    await patch(suiteId, { executionConfig });
    const { created } = await runOnce({ suiteId });
    expect(created.environment).toBeNull();
    expect(new Set(listModels())).toEqual(new Set(['scripted/suite']));
    const systems = models.asked.map(([call]) => [call?.temperature, call?.prompt[0]?.content]);
    expect(systems).toHaveLength(2);
    expect(systems).toContainEqual([0.1, 'You are the case.']);
    expect(systems).toContainEqual([0.1, 'You are the suite.']);
  });

  it('is refused where the request and the suite do not agree', async () => {
    await open();
    const hostId = await saveHost({ serverIds: [reachable] });
    const environmentIds = [await saveEnvironment({ hostId }), await saveEnvironment({ hostId, modelId: 'a/b' })];
    const [environmentId] = environmentIds;
    const { suiteId } = await saveSuite(service, reachable, [inlineTest('echo')]);
    const { suiteId: plain } = await saveSuite(service, reachable, [inlineTest('echo')]);
    await patch(suiteId, { environmentIds, hosts: [{ host: hostId }] });
    const refuse = async (body: unknown) => {
      const answer = await create(body);
      return { status: answer.status, details: answer.body.details };
    };
    expect(await refuse({ suiteId })).toEqual({
      status: 400,
      details: { reason: 'ENVIRONMENT_REQUIRED', environmentIds },
    });
    expect(await refuse({ suiteId: plain, environmentId })).toEqual({
      status: 400,
      details: { reason: 'ENVIRONMENT_NOT_ATTACHED', environmentId, environmentIds: [] },
    });
    for (const body of [{ suiteId }, { suiteId, environmentId }]) {
      expect(await refuse({ ...body, serverIds: [reachable] })).toEqual({
        status: 400,
        details: { reason: 'ENVIRONMENT_SERVERS_NOT_OVERRIDABLE' },
      });
    }
    expect(await refuse({ suiteId, environmentId, namedHostId: hostId })).toEqual({
      status: 400,
      details: { reason: 'HETEROGENEOUS_TARGETS' },
    });
    expect(await refuse({ suiteId: plain, namedHostId: hostId })).toEqual({
      status: 400,
      details: { reason: 'HOST_NOT_ATTACHED', hostId, hostIds: [] },
    });
    const tests = [inlineTest('echo', { runs: 1, model: 'a/b', provider: 'a' })];
    const created = { suiteName: 'New', tests, serverIds: [reachable] };
    for (const field of ['environmentId', 'namedHostId']) {
      const { status, body } = await create({ ...created, [field]: 'x' });
      expect({ status, message: body.message }).toEqual({
        status: 400,
        message: `${field}: Only allowed with suiteId`,
      });
    }
    await service.project.post(`/environments/${environmentId}/archive`, { expectedRevision: 1 });
    expect(await refuse({ suiteId, environmentId })).toEqual({ status: 409, details: { code: 'ENV_ARCHIVED' } });
    const { body: runs } = await service.project.get(`/eval-suites/${suiteId}/runs`);
    expect(runs.items).toEqual([]);
  });

  it('is refused in an environment without a model, where a case asks one and names none', async () => {
    await open({ defaultModel: { provider: 'scripted', name: 'default' } });
    const hostId = await saveHost({ serverIds: [reachable] });
    await service.project.patch(`/hosts/${hostId}`, { config: { modelId: null } });
    const { suiteId } = await saveSuite(service, reachable, [asks], { model: 'scripted/suite' });
    await patch(suiteId, { environmentIds: [await saveEnvironment({ hostId })] });
    const { status, body } = await create({ suiteId });
    expect({ status, details: body.details }).toEqual({
      status: 409,
      details: { reason: 'environment_model_required' },
    });
    const own = { ...asks, model: 'scripted/case' };
    const { suiteId: other } = await saveSuite(service, reachable, [own, inlineTest('echo')]);
    await patch(other, { environmentIds: [await saveEnvironment({ hostId, description: 'x' })] });
    await runOnce({ suiteId: other });
    expect(listModels()).toEqual(['scripted/case']);
  });

  it('is refused where the environment has a sandbox image', async () => {
    await open();
    const hostId = await saveHost({ serverIds: [reachable] });
    const boxed = await saveEnvironment({ hostId, sandboxImageId: 'img_1' });
    const { suiteId } = await saveSuite(service, reachable, [inlineTest('echo')]);
    await patch(suiteId, { environmentIds: [boxed] });
    expect(await create({ suiteId })).toMatchObject({ status: 422 });
  });

  it('gives models the selected skills of the environment after the system prompt, unless the run excludes them', async () => {
    await open();
    const hostId = await saveHost({ systemPrompt: 'Be brief.' });
    const version = plugins[0]?.versions[0]?.id;
    const skillSelection = { mode: 'explicit', skillIds: [`${version}:umbrella`] };
    const skilled = await saveEnvironment({ hostId, pluginVersionIds: [version], skillSelection });
    const own = { ...asks, title: 'Asks otherwise', advancedConfig: { system: 'Be kind.' } };
    const { suiteId } = await saveSuite(service, reachable, [asks, own]);
    await patch(suiteId, { environmentIds: [skilled] });
    const skills = `# Skills\n\nFollow these instructions where they apply.\n\n## umbrella\n\nTake an umbrella when it rains.`;
    const listSystems = () =>
      models.asked
        .flat()
        .flatMap(({ prompt }) => prompt.flatMap((message) => (message.role === 'system' ? [message.content] : [])))
        .toSorted();
    await runOnce({ suiteId });
    expect(listSystems()).toEqual([`Be brief.\n\n${skills}`, `Be kind.\n\n${skills}`]);
    models.asked.length = 0;
    await runOnce({ suiteId, skillsOverride: 'exclude' });
    expect(listSystems()).toEqual(['Be brief.', 'Be kind.']);
  });

  describe('by a schedule', () => {
    const minute = 60_000;
    const waitForRuns = async (suiteId: string, count: number) => {
      for (let attempt = 0; attempt < 1000; attempt += 1) {
        const { body } = await service.project.get(`/eval-suites/${suiteId}/runs`);
        if (body.items.length >= count) return body.items;
        await systemClock.sleep(10);
      }
      throw new Error(`There are no ${count} runs.`);
    };

    it('is the pinned environment; of a due time there is one run, across restarts of the service', async () => {
      await using workspace = await createWorkspace();
      const clock = new ManualClock();
      await open({ clock, dataDir: workspace.path });
      const hostId = await saveHost({ serverIds: [reachable] });
      const environmentIds = [await saveEnvironment({ hostId }), await saveEnvironment({ hostId, modelId: 'a/b' })];
      const { suiteId } = await saveSuite(service, unreachable, [inlineTest('echo')]);
      await patch(suiteId, { environmentIds });
      const enable = { enabled: true, intervalMinutes: 30, environmentId: environmentIds[1] };
      await service.project.patch(`/eval-suites/${suiteId}/schedule`, enable);
      await clock.advance(30 * minute);
      const [run] = await waitForRuns(suiteId, 1);
      expect(run).toMatchObject({ source: 'schedule', environment: { id: environmentIds[1] } });
      expect(await waitForEnd(service, run.id)).toMatchObject({ status: 'completed', result: 'passed' });

      for (const due of [60, 90]) {
        await service[Symbol.asyncDispose]();
        await clock.advance(30 * minute);
        service = await openContractService({ clock, dataDir: workspace.path });
        const runs = await waitForRuns(suiteId, due / 30);
        expect(runs).toHaveLength(due / 30);
        await waitForEnd(service, runs[0].id);
      }
    });
  });
});
