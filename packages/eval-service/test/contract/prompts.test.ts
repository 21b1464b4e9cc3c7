import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ModelError } from '../../../../src/base/errors.ts';
import type { ModelRequest, ModelSource } from '../../../../src/models/language-model.ts';
import { createScriptedSession, type ScriptedAnswer } from '../../../../test/support/models/scripted-session.ts';
import {
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
  type ContractService,
} from '../../../../test/support/service/contract-service.ts';
import { startEchoServer } from '../../../../test/support/servers/echo-server.ts';
import type { FixtureMcpServer } from '../../../../test/support/servers/fixture-mcp-server.ts';

describe('a run with prompts', () => {
  let mcp: FixtureMcpServer;
  let service: ContractService;
  let requests: ModelRequest[];
  beforeAll(async () => {
    mcp = await startEchoServer();
  });
  afterAll(async () => {
    await mcp[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  const open = async (script: ReadonlyArray<ScriptedAnswer | Error>) => {
    requests = [];
    const models: ModelSource = {
      findProblem: ({ model, apiKeys }) =>
        model.provider === 'scripted' || apiKeys.has(model.provider)
          ? null
          : `set ${model.provider.toUpperCase()}_API_KEY.`,
      openSession: async (request) => {
        requests.push(request);
        return { ...createScriptedSession(script), model: request.model };
      },
    };
    service = await openContractService({ models });
    return await saveServer(service, { url: mcp.url });
  };
  const asks = (fields: Record<string, unknown> = {}) => ({
    title: 'Asks',
    steps: [
      { id: 'p1', kind: 'prompt', prompt: 'Echo, please.' },
      { id: 'a1', kind: 'assert', assertion: { type: 'toolCalledAtLeastOnce', toolName: 'echo' } },
    ],
    ...fields,
  });
  const callsEcho: ScriptedAnswer[] = [
    { calls: [{ tool: 'echo', input: {} }], tokens: { input: 7, output: 2 } },
    { text: 'Done.', tokens: { input: 11, output: 3 } },
  ];
  const run = async (serverId: string, tests: unknown[], fields: Record<string, unknown> = {}) => {
    const { suiteId } = await saveSuite(service, serverId, tests, { model: 'scripted/one' });
    const { status, body } = await service.project.post('/eval-runs', { suiteId, ...fields });
    if (status !== 202) return { status, body, ended: null, iterations: [] };
    const ended = await waitForEnd(service, String(body.runId));
    const { body: page } = await service.project.get(`/eval-runs/${String(body.runId)}/iterations`);
    return { status, body, ended, iterations: page.items };
  };

  it('passes, and says which model took part and what it used', async () => {
    const serverId = await open(callsEcho);
    const { ended, iterations } = await run(serverId, [asks({ runs: 2 })]);
    expect(ended).toMatchObject({ status: 'completed', result: 'passed', summary: { total: 2, passed: 2 } });
    expect(iterations[0]).toMatchObject({
      model: 'one',
      provider: 'scripted',
      tokensUsed: 23,
      usage: { modelCalls: 2, replayedCalls: 0, inputTokens: 18, outputTokens: 5 },
      actualToolCalls: [{ toolName: 'echo', arguments: {} }],
    });
    expect(new Set(requests.map(({ iterationNumber }) => iterationNumber))).toEqual(new Set([1, 2]));
  });

  it('fails when the model does not call the tool', async () => {
    const serverId = await open([{ text: 'No.' }]);
    const { ended, iterations } = await run(serverId, [asks()]);
    expect(ended).toMatchObject({ status: 'completed', result: 'failed' });
    expect(iterations[0]?.error).toBe('toolCalledAtLeastOnce: echo was never called; no tool was called.');
  });

  it('runs a case once with each of its models', async () => {
    const serverId = await open(callsEcho);
    const { suiteId, caseIds } = await saveSuite(service, serverId, [asks()]);
    const models = [{ model: 'scripted/one' }, { model: 'two', provider: 'scripted' }];
    await service.project.patch(`/eval-suites/${suiteId}/cases/${caseIds[0]}`, { models });
    const { body } = await service.project.post('/eval-runs', { suiteId });
    await waitForEnd(service, String(body.runId));
    const { body: page } = await service.project.get(`/eval-runs/${String(body.runId)}/iterations`);
    expect(page.items.map((item: { model: string }) => item.model)).toEqual(['one', 'two']);
    expect(requests.map(({ model }) => model.name)).toEqual(['one', 'two']);
  });

  it('uses the keys that come with the request', async () => {
    const serverId = await open(callsEcho);
    const other = asks({ model: 'other/one' });
    const refused = await run(serverId, [other]);
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'FEATURE_NOT_SUPPORTED', message: 'Case "Asks" needs a model: set OTHER_API_KEY.' },
    });
    const { ended } = await run(serverId, [other], { modelApiKeys: { other: 'sk-x' } });
    expect(ended).toMatchObject({ status: 'completed', result: 'passed' });
    expect(requests[0]?.apiKeys.get('other')).toBe('sk-x');
  });

  it('ends without a result when a provider refuses every call', async () => {
    const serverId = await open([new ModelError('scripted refuses the key in SCRIPTED_API_KEY.', { kind: 'refused' })]);
    const { ended, iterations } = await run(serverId, [asks({ runs: 3 })]);
    expect(ended).toMatchObject({
      status: 'failed',
      result: null,
      notes: 'scripted refuses the key in SCRIPTED_API_KEY.',
    });
    expect(iterations.filter((item: { result: string | null }) => item.result !== null)).toEqual([]);
  });
});
