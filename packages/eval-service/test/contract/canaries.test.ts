import { expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logger.ts';
import { parseChatboxes } from '../../src/chats/chatboxes.ts';
import { listPathFields } from '../../../../src/service/operations/operation.ts';
import { listOperations } from '../../../../src/service/operations/table.ts';
import { answersWithUrl, canaryOf, findCanaries } from '../../../../test/support/service/canaries.ts';
import {
  inlineTest,
  openContractService,
  saveSuite,
  waitForEnd,
} from '../../../../test/support/service/contract-service.ts';
import { startFixtureMcpServer, text } from '../../../../test/support/servers/fixture-mcp-server.ts';

/** Writes that only read from the service's point of view. */
const reads = new Set([
  'validateServer',
  'runDoctor',
  'checkOAuth',
  'listTools',
  'listPrompts',
  'listResources',
  'readResource',
  'callTool',
  'getPrompt',
  'exportServer',
]);
const bodies: Record<string, unknown> = {
  callTool: { toolName: 'echo' },
  readResource: { uri: 'test://none' },
  getPrompt: { promptName: 'none' },
};

it('finds a canary in each form', () => {
  const canary = canaryOf('header');
  for (const form of [canary, encodeURIComponent(canary), Buffer.from(`user:${canary}`).toString('base64')]) {
    expect(findCanaries(`before ${form} after`)).toEqual(['header']);
  }
  expect(findCanaries('nothing')).toEqual([]);
});

it('answers no read with a secret that it stores, and logs none', async () => {
  const log: string[] = [];
  const write = (message: string) => log.push(message);
  const group = (title: string, lines: readonly string[]) => log.push([title, ...lines].join('\n'));
  const logger = { ...silentLogger, debug: write, info: write, warning: write, error: write, group };
  await using server = await startFixtureMcpServer({ echo: { call: () => text('hi') } });
  const chatbox = { id: 'box', name: 'A chatbox', servers: ['running'] };
  const chatboxes = parseChatboxes(JSON.stringify([chatbox]));
  await using service = await openContractService({ logger, chatboxes });
  const { project } = service;
  const query = `?k=${encodeURIComponent(canaryOf('query'))}`;
  const secrets = { headers: { authorization: `Bearer ${canaryOf('header')}` }, clientSecret: canaryOf('client') };
  const records = [
    { name: 'running', transportType: 'http', url: server.url + query, ...secrets },
    { name: 'stopped', transportType: 'http', url: `http://127.0.0.1:9/mcp${query}`, ...secrets },
    {
      name: 'local',
      transportType: 'stdio',
      command: canaryOf('command'),
      args: [canaryOf('argument')],
      env: { KEY: canaryOf('env') },
      clientSecret: canaryOf('client'),
    },
    { name: 'granted', transportType: 'http', url: server.url, useOAuth: true },
  ];
  /** The ids of the paths that answered a success. */
  const answeredFor = new Set<string>();
  const serverIds: string[] = [];
  const said: Array<{ from: string; answer: string }> = [];
  for (const record of records) {
    const { status, body } = await project.post('/servers', { enabled: true, ...record });
    expect({ status, body }).toMatchObject({ status: 201 });
    said.push({ from: 'createProjectServer', answer: JSON.stringify(body) });
    serverIds.push(String(body.id));
    const changed = await project.patch(`/servers/${body.id}`, { name: record.name });
    said.push({ from: 'updateProjectServer', answer: JSON.stringify(changed.body) });
  }
  const tokens = { access_token: canaryOf('token'), refresh_token: canaryOf('refresh'), expires_in: 3600 };
  const clientInformation = { clientId: 'client', clientSecret: canaryOf('grant') };
  const grant = { serverUrl: server.url, clientInformation, tokens };
  const imported = await project.post(`/servers/${serverIds[3]}/oauth/import-tokens`, grant);
  said.push({ from: 'importOAuthTokens', answer: JSON.stringify(imported.body) });
  expect(imported).toMatchObject({ status: 200 });

  const ids: Record<string, string> = { projectId: service.projectId, chatboxId: chatbox.id };
  const host = await project.post('/hosts', { name: 'A host', template: 'claude' });
  const environment = await project.post('/environments', { name: 'An environment', hostId: host.body.id });
  ids['hostId'] = String(host.body.id);
  ids['environmentId'] = String(environment.body.id);
  for (const serverId of serverIds) {
    const { suiteId, caseIds } = await saveSuite(service, serverId, [inlineTest()], { name: `Suite of ${serverId}` });
    const run = await project.post('/eval-runs', { suiteId, modelApiKeys: { openai: canaryOf('model') } });
    said.push({ from: 'createEvalRun', answer: JSON.stringify(run.body) });
    Object.assign(ids, { serverId, suiteId, caseId: caseIds[0] });
    if (run.status === 202) {
      const runId = String(run.body.runId);
      await waitForEnd(service, runId);
      const iterations = await project.get(`/eval-runs/${runId}/iterations`);
      Object.assign(ids, { runId, iterationId: iterations.body.items[0]?.id });
    }
    for (const { name, method, path, query: asked } of listOperations()) {
      if (method !== 'GET' && !reads.has(name)) continue;
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, id: string) => ids[id] ?? 'none');
      const search = new URLSearchParams({
        ...('projectId' in asked.shape && { projectId: service.projectId }),
        ...('includeContent' in asked.shape && { includeContent: 'true' }),
      }).toString();
      const target = search === '' ? filled : `${filled}?${search}`;
      const answered =
        method === 'GET' ? await service.root.get(target) : await service.root.post(target, bodies[name] ?? {});
      if (answered.status < 300) for (const id of listPathFields(path)) answeredFor.add(id);
      said.push({ from: name, answer: JSON.stringify([answered.headers, answered.body]) });
    }
  }
  // So that the reads found what was stored.
  expect([...answeredFor]).toEqual(expect.arrayContaining(['serverId', 'suiteId', 'caseId', 'runId', 'iterationId']));
  expect([...answeredFor]).toEqual(expect.arrayContaining(['hostId', 'environmentId', 'chatboxId']));
  const found = [...said, ...log.map((answer) => ({ from: 'log', answer }))]
    .map(({ from, answer }) => {
      const shown = findCanaries(answer).filter((place) => place !== 'query' || !answersWithUrl.has(from));
      return { from, canaries: shown, answer };
    })
    .filter((entry) => entry.canaries.length > 0);
  expect(found).toEqual([]);
});
