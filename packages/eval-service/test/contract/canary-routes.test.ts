import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logger.ts';
import { systemClock } from '../../../../src/base/time.ts';
import { parseChatboxes } from '../../src/chats/chatboxes.ts';
import { readPlugins } from '../../src/plugins/read-plugins.ts';
import { openContainerEngines } from '../../../../src/server/container-engine.ts';
import { buildOpenApi, openApiSchema } from '../../../../src/service/openapi.ts';
import { createHurriedClock } from '../../../../test/support/clocks/bent-clock.ts';
import { createScriptedSource } from '../../../../test/support/models/scripted-source.ts';
import { describeWeatherPlugin, writeFolder } from '../../../../test/support/plugin-folder.ts';
import { startFixtureMcpServer, text } from '../../../../test/support/servers/fixture-mcp-server.ts';
import { answersWithUrl, canaryOf, findCanaries } from '../../../../test/support/service/canaries.ts';
import { inlineTest, openContractService, waitForEnd } from '../../../../test/support/service/contract-service.ts';
import { openStandInEngine } from '../../../../test/support/service/stand-in-engine.ts';

/** The routes that are no operations, as `<method> <path>`. */
const undescribed = [
  'GET /projects/{projectId}/scenarios',
  'GET /projects/{projectId}/scenarios/{chatboxId}',
  'PUT /eval-artifact-uploads/{token}',
];

/** Every route of the OpenAPI description, by its operation; ids are in braces. */
const routes = new Map(
  Object.entries(openApiSchema.parse(buildOpenApi()).paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, string] => [
      String(operation['operationId']),
      `${method.toUpperCase()} ${path}`,
    ]),
  ),
);

const { steps } = inlineTest();
const results = [{ caseTitle: 'Echoes', passed: true, externalIterationId: 'i1' }];
const blueprint = `FROM debian@sha256:${'a'.repeat(64)}\nRUN true\n`;
const messages = [{ role: 'user', content: 'Greet.' }];
const turn = { prompt: 'Greet.', expectedToolCalls: [{ toolName: 'echo', arguments: {} }] };
const query = `?k=${encodeURIComponent(canaryOf('query'))}`;

/** A service with something of everything, and a server that it can reach. */
async function openFullService(log: string[]) {
  const stack = new AsyncDisposableStack();
  const server = stack.use(
    await startFixtureMcpServer(
      { echo: { call: () => text('hi') } },
      {
        capabilities: { tools: {}, prompts: {}, resources: {} },
        prepare: (mcp) => {
          mcp.setRequestHandler('prompts/list', () => ({ prompts: [{ name: 'greet' }] }));
          mcp.setRequestHandler('prompts/get', () => ({ messages: [] }));
          mcp.setRequestHandler('resources/list', () => ({ resources: [{ uri: 'demo://one', name: 'one' }] }));
          mcp.setRequestHandler('resources/read', ({ params }) => ({ contents: [{ uri: params.uri, text: 'One' }] }));
        },
      },
    ),
  );
  const standIn = stack.use(await openStandInEngine());
  await standIn.install('docker', { build: 'echo built' });
  // An engine that does not answer within 4 s is none, and on a busy machine the stand-in needs longer.
  const clock = createHurriedClock({ fromMs: 3999, toMs: 10_001, instead: 120_000 });
  const containers = stack.use(openContainerEngines({ clock, environment: standIn.environment }));
  const folder = await mkdtemp(join(tmpdir(), 'canary-plugins-'));
  stack.defer(async () => await rm(folder, { recursive: true }));
  const hidden = `?k=${encodeURIComponent(canaryOf('plugin'))}`;
  await writeFolder(folder, describeWeatherPlugin(`https://user:pw@weather.example/mcp${hidden}`));
  const plugins = await readPlugins(folder);
  const models = createScriptedSource(
    [{ calls: [{ tool: 'save_cases', input: { cases: [{ title: 'Greets', turns: [turn] }] } }] }],
    [{ calls: [{ tool: 'echo', input: {} }] }, { text: 'Done.' }],
    [{ text: 'Nothing.' }],
  );
  const write = (message: string) => log.push(message);
  const group = (title: string, lines: readonly string[]) => log.push([title, ...lines].join('\n'));
  const chatboxes = parseChatboxes(JSON.stringify([{ id: 'box', name: 'A chatbox', servers: ['running'] }]));
  const service = stack.use(
    await openContractService({
      models,
      defaultModel: { provider: 'scripted', name: 'standard' },
      logger: { ...silentLogger, debug: write, info: write, warning: write, error: write, group },
      chatboxes,
      containers,
      plugins,
    }),
  );
  return { ...service, server, plugins, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

it('every route answers a success without a secret that the service stores', async () => {
  const log: string[] = [];
  await using service = await openFullService(log);
  const { server, plugins } = service;
  const said: Array<{ from: string; answer: string }> = [];
  const succeeded = new Set<string>();
  const ids: Record<string, string> = {
    projectId: service.projectId,
    chatboxId: 'box',
    harnessId: 'claude-code',
    pluginVersionId: String(plugins[0]?.versions[0]?.id),
  };

  const send = async (name: string, route: string, fields: Record<string, unknown>) => {
    const [method = '', path = ''] = route.split(' ');
    const url = new URL(service.baseUrl + path.replaceAll(/\{(\w+)\}/g, (_, id: string) => ids[id] ?? 'none'));
    if (method === 'GET') for (const [key, value] of Object.entries(fields)) url.searchParams.set(key, String(value));
    const { statusCode, headers, body } = await request(url, {
      method,
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
      body: method === 'GET' || Object.keys(fields).length === 0 ? null : JSON.stringify(fields),
    });
    const answer = await body.text();
    said.push({ from: name, answer: JSON.stringify(headers) + answer });
    if (statusCode < 300) succeeded.add(name);
    return JSON.parse(answer);
  };
  /** Asks an operation, also by its short path where it has one; keeps the id of the answer as `keep`. */
  const ask = async (name: string, fields: Record<string, unknown> = {}, keep: string | null = null) => {
    const answer = await send(name, routes.get(name) ?? '', fields);
    const short = routes.get(`${name}Short`);
    const inBody = name === 'createEvalRun' ? { projectId: ids['projectId'] } : {};
    if (short !== undefined) await send(`${name}Short`, short, { ...inBody, ...fields });
    if (keep !== null) ids[keep] = String(answer[keep] ?? answer.id);
    return answer;
  };
  const until = async (name: string, isReached: (answer: ReturnType<typeof JSON.parse>) => boolean) => {
    while (!isReached(await ask(name))) await systemClock.sleep(10);
  };

  const secrets = { headers: { authorization: `Bearer ${canaryOf('header')}` }, clientSecret: canaryOf('client') };
  const record = { enabled: true, transportType: 'http', url: server.url + query, ...secrets };
  await ask('createProjectServer', { ...record, name: 'running' }, 'serverId');
  const serverId = String(ids['serverId']);
  const tokens = { access_token: canaryOf('token'), refresh_token: canaryOf('refresh'), expires_in: 3600 };
  const clientInformation = { clientId: 'client', clientSecret: canaryOf('grant') };
  await ask('importOAuthTokens', { serverUrl: server.url + query, clientInformation, tokens });
  await ask('updateProjectServer', { name: 'running' });
  for (const name of ['validateServer', 'runDoctor', 'checkOAuth', 'listTools', 'listPrompts', 'listResources']) {
    await ask(name);
  }
  await ask('exportServer');
  await ask('callTool', { toolName: 'echo' });
  await ask('readResource', { uri: 'demo://one' });
  await ask('getPrompt', { promptName: 'greet' });

  await ask('createHost', { name: 'A host', template: 'claude' }, 'hostId');
  await ask('updateHost', { name: 'The host' });
  await ask('setHostServers', { serverIds: [serverId] });
  const { pluginVersionId } = ids;
  const pinned = { name: 'Pinned', hostId: ids['hostId'], pluginVersionIds: [pluginVersionId] };
  await ask('createEnvironment', pinned, 'environmentId');
  await ask('resolveEnvironment');
  await ask('archiveEnvironment', { expectedRevision: 1 });
  await ask('restoreEnvironment', { expectedRevision: 2 });
  await ask('updateEnvironment', { expectedRevision: 3, pluginVersionIds: null, modelId: 'scripted/standard' });

  const suite = { name: 'A suite', serverIds: [serverId], model: 'none/none', tests: [inlineTest()] };
  await ask('createEvalSuite', suite, 'suiteId');
  await ask('updateEvalSuite', { description: 'Described.' });
  await ask('generateEvalCases');
  await ask('createEvalCase', { title: 'Second', steps }, 'caseId');
  await ask('updateEvalCase', { title: 'Renamed' });
  await ask('createEvalCases', { cases: [{ title: 'Third', steps }] });
  for (let round = 0; round < 2; round += 1) {
    const run = { suiteId: ids['suiteId'], caseIds: [ids['caseId']], modelApiKeys: { openai: canaryOf('model') } };
    await ask('createEvalRun', run, 'runId');
    await waitForEnd(service, String(ids['runId']));
  }
  ids['iterationId'] = (await ask('listEvalRunIterations')).items[0].id;
  await ask('attachEvalSuiteEnvironment', { environmentId: ids['environmentId'] });
  await ask('updateEvalSuiteSchedule', { enabled: true, intervalMinutes: 60 });
  const { proposedActions } = await ask('runAgentTurn', { messages, conversationId: 'c' });
  ids['actionId'] = proposedActions[0].actionId;
  await ask('executeProposedAction');
  await ask('createEvalRunGroup', { suiteId: ids['suiteId'], targets: [{ environmentId: ids['environmentId'] }] });
  await ask('judgeEvalRun');
  await ask('requestEvalRunInsights');
  await until(
    'getEvalRun',
    ({ judges, insights }) => ![judges.goalCompletion.status, insights.status].includes('pending'),
  );

  await ask('createSandboxImage', { name: 'Tools', blueprint }, 'imageId');
  await ask('updateSandboxImage', { name: 'The tools' });
  await ask('validateSandboxImageBlueprint', { blueprint });
  await ask('buildSandboxImage');
  await until('listSandboxImageBuilds', ({ items }) => items[0].status === 'ready');
  await ask('promoteSandboxImage');
  await ask('useSandboxImage');
  await ask('resetComputer');

  const ingested = { suiteName: 'Elsewhere', externalRunId: 'first' };
  const { runId } = await ask('startEvalIngestRun', ingested);
  await ask('ingestEvalRunIterations', { runId, results });
  await ask('finalizeEvalIngestRun', { runId, externalRunId: 'first' });
  await ask('reportEvalRun', { ...ingested, externalRunId: 'second', results });
  const { uploadUrl } = await ask('createEvalIngestUploadUrl');
  ids['token'] = String(uploadUrl).split('/').at(-1) ?? '';
  for (const route of undescribed) await send(route, route, route.startsWith('PUT') ? { an: 'artifact' } : {});

  // Everything that can be read, now that there is something of each kind.
  for (const [name, route] of routes) {
    if (!route.startsWith('GET ') || name.endsWith('Short')) continue;
    await ask(name, name === 'exportTracesOtlp' ? { projectId: service.projectId, includeContent: true } : {});
  }

  await ask('createTunnel', { name: 'running' });
  await ask('closeTunnel');
  for (const each of ['first', 'second']) {
    const open = await ask('startEvalIngestRun', { suiteName: 'Elsewhere', externalRunId: `cancelled ${each}` });
    ids['runId'] = open.runId;
    if (each === 'first') await ask('cancelEvalRun');
  }
  for (const name of ['duplicateHost', 'deleteEvalCase', 'deleteSandboxImage', 'deleteProjectServer']) await ask(name);
  await ask('updateEvalSuite', { environmentIds: null });
  await ask('updateEvalSuiteSchedule', { enabled: false });
  await ask('deleteEvalSuite');
  await ask('deleteHost', { force: true });
  await ask('createProject', { name: 'Another' }, 'projectId');
  await ask('updateProject', { name: 'The other' });
  await ask('deleteProject');

  const found = [...said, ...log.map((answer) => ({ from: 'log', answer }))]
    .map((entry) => ({
      ...entry,
      canaries: findCanaries(entry.answer).filter((place) => place !== 'query' || !answersWithUrl.has(entry.from)),
    }))
    .filter(({ canaries }) => canaries.length > 0);
  expect(found).toEqual([]);
  // A route that this test does not know has never succeeded here.
  expect([...routes.keys(), ...undescribed].filter((name) => !succeeded.has(name))).toEqual([]);
});
