import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ModelError } from '../../../../src/base/errors.ts';
import type { EmbeddedOptions } from '../../src/open-service.ts';
import { openTestSource, testModels, testProviderKey } from '../../../../test/support/models/model-source.ts';
import { openScriptedProvider } from '../../../../test/support/models/scripted-provider.ts';
import type { ScriptedAnswer } from '../../../../test/support/models/scripted-session.ts';
import { createScriptedSource, type ScriptedSource } from '../../../../test/support/models/scripted-source.ts';
import { startEchoServer } from '../../../../test/support/servers/echo-server.ts';
import {
  startFixtureMcpServer,
  text,
  type FixtureMcpServer,
} from '../../../../test/support/servers/fixture-mcp-server.ts';
import {
  openContractService,
  saveServer,
  saveSuite,
  type ContractService,
} from '../../../../test/support/service/contract-service.ts';

describe('the generation of cases', () => {
  let mcp: FixtureMcpServer;
  let service: ContractService | undefined;
  let models: ScriptedSource;
  beforeAll(async () => {
    mcp = await startEchoServer();
  });
  afterAll(async () => {
    await mcp[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    await service?.[Symbol.asyncDispose]();
    service = undefined;
  });

  const standard = { provider: 'scripted', name: 'standard' };
  const turn = { prompt: 'Say 7 back to me.', expectedToolCalls: [{ toolName: 'echo', arguments: { n: 7 } }] };
  const normal = { title: 'Echoes', turns: [turn] };
  const negative = { title: 'Small talk', turns: [{ prompt: 'How are you?' }], isNegative: true };
  const writes = (cases: unknown): ScriptedAnswer => ({ calls: [{ tool: 'save_cases', input: { cases } }] });

  const open = async (overrides: Partial<EmbeddedOptions>) => {
    const opened = await openContractService({ defaultModel: standard, ...overrides });
    service = opened;
    const serverId = await saveServer(opened, { url: mcp.url });
    const { suiteId } = await saveSuite(opened, serverId);
    const path = `/eval-suites/${suiteId}/cases`;
    return {
      suiteId,
      generate: (body?: unknown, headers?: Record<string, string>) =>
        opened.project.post(`${path}/generate`, body, headers),
      listTitles: async () => (await opened.project.get(path)).body.items.map(({ title }: { title: string }) => title),
    };
  };
  const script = async (...scripts: ReadonlyArray<ReadonlyArray<ScriptedAnswer | Error>>) => {
    models = createScriptedSource(...scripts);
    return await open({ models });
  };

  it('creates the cases that the model writes, which expect what it expects', async () => {
    const { generate, listTitles } = await script([writes([normal, negative])]);
    const { status, body } = await generate();
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        generationModel: 'scripted/standard',
        created: [
          expect.objectContaining({
            title: 'Echoes',
            isNegative: false,
            models: [],
            steps: [
              { id: 'turn-1', kind: 'prompt', prompt: 'Say 7 back to me.' },
              {
                id: 'turn-1-call-1',
                kind: 'assert',
                assertion: { type: 'toolCalledWith', toolName: 'echo', args: { args: { n: 7 } } },
              },
            ],
          }),
          expect.objectContaining({ title: 'Small talk', isNegative: true }),
        ],
        counts: { normal: 1, negative: 1 },
      },
    });
    expect(await listTitles()).toEqual(['Calls echo', 'Echoes', 'Small talk']);
  });

  it('shows the model the tools of the server, and how many cases of which kind are wanted', async () => {
    const { generate } = await script([writes([])]);
    await generate({
      caseMix: { simple: 3, multiTool: 0, multiTurn: 0, complex: 0, negative: 1 },
      varyUserStyles: true,
    });
    const prompt = JSON.stringify(models.asked[0]?.[0]?.prompt);
    expect(prompt).toContain('Write 4 cases');
    expect(prompt).toContain('- 3 × one request that one call of one tool answers');
    expect(prompt).not.toContain('two or more different tools');
    expect(prompt).toContain(String.raw`{\"name\":\"echo\"`);
    expect(prompt).toContain('different people');
    expect(models.asked[0]?.[0]?.toolChoice).toEqual({ type: 'tool', toolName: 'save_cases' });
  });

  it.each([
    ['the standard mix', {}, 'Write 8 cases'],
    ['negative cases alone', { mode: 'negative' }, 'Write 5 cases'],
    ['the standard mix for one that asks for nothing', { caseMix: { simple: 0 } }, 'Write 8 cases'],
    [
      'a mix rather than the mode, completed by the standard one',
      { mode: 'negative', caseMix: { simple: 5 } },
      'Write 11 cases',
    ],
  ])('asks for %s', async (_what, body, expected) => {
    const { generate } = await script([writes([])]);
    await generate(body);
    expect(JSON.stringify(models.asked[0]?.[0]?.prompt)).toContain(expected);
  });

  it('gives the cases the models of the request', async () => {
    const { generate } = await script([writes([normal])]);
    const { body } = await generate({ caseModels: [{ model: 'haiku', provider: 'anthropic' }] });
    expect(body.created[0].models).toEqual([{ model: 'haiku', provider: 'anthropic' }]);
  });

  describe('skips, with the reason, a case', () => {
    it.each([
      ['with an unknown field', { ...normal, colour: 'red' }, 'INVALID_CASE: Unrecognized key: "colour"'],
      ['without turns', { ...normal, turns: [] }, 'INVALID_CASE: turns: Too small: expected array to have >=1 items'],
      [
        'for a tool that no server has',
        { ...normal, turns: [{ ...turn, expectedToolCalls: [{ toolName: 'nope' }] }] },
        'INVALID_CASE: No server has the tool "nope".',
      ],
      [
        'that expects no call',
        { ...normal, turns: [{ prompt: 'Hm.' }] },
        'INVALID_CASE: The case expects no tool call, so that it would pass whatever the model does.',
      ],
      [
        'that is negative and expects a call',
        { ...normal, isNegative: true },
        'INVALID_CASE: A negative case expects no tool calls, and this one does.',
      ],
      [
        'with larger arguments than a case may have',
        {
          ...normal,
          turns: [{ ...turn, expectedToolCalls: Array.from({ length: 21 }, () => ({ toolName: 'echo' })) }],
        },
        'INVALID_CASE: turns.0.expectedToolCalls: Too big: expected array to have <=20 items',
      ],
      [
        'that another case of the suite equals',
        { ...negative },
        'DUPLICATE_CONTENT: Another case of the suite says the same.',
      ],
    ])('%s', async (_what, draft, error) => {
      const { generate, listTitles } = await script([writes([negative, draft])]);
      const { status, body } = await generate();
      expect({ status, skipped: body.skipped, counts: body.counts }).toEqual({
        status: 200,
        skipped: [{ title: draft.title, error }],
        counts: { normal: 0, negative: 1 },
      });
      expect(await listTitles()).toEqual(['Calls echo', 'Small talk']);
    });

    it('that is no object, or nests without end', async () => {
      const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
      const text = `{"cases":[7,{"title":"Deep","turns":${deep}}]}`;
      const { generate } = await script([{ calls: [{ tool: 'save_cases', text }] }]);
      expect((await generate()).body.skipped).toEqual([
        { title: '', error: 'INVALID_CASE: Invalid input: expected object, received number' },
        { title: 'Deep', error: 'INVALID_CASE: The case nests deeper than a case may.' },
      ]);
    });

    it('that was not asked for, all 9,992 of them in one line', async () => {
      const cases = Array.from({ length: 10_000 }, (_, index) => ({
        title: String(index),
        turns: [{ prompt: String(index) }],
        isNegative: true,
      }));
      const { generate, listTitles } = await script([writes(cases)]);
      const { body } = await generate();
      expect(body.counts).toEqual({ normal: 0, negative: 8 });
      expect(body.skipped).toEqual([{ title: '', error: 'The model wrote 9992 more cases than it was asked for.' }]);
      expect(await listTitles()).toHaveLength(9);
    });
  });

  it('takes JSON as text from a model that calls no tool', async () => {
    const { generate } = await script([
      { text: `Here they are:\n\`\`\`json\n${JSON.stringify({ cases: [normal] })}\n\`\`\`` },
    ]);
    expect((await generate()).body.counts).toEqual({ normal: 1, negative: 0 });
  });

  it('asks once more after an answer that cannot be read', async () => {
    const { generate } = await script([{ calls: [{ tool: 'save_cases', text: '{"cases":[' }] }, writes([normal])]);
    expect((await generate()).body.counts).toEqual({ normal: 1, negative: 0 });
    expect(JSON.stringify(models.asked[0]?.[1]?.prompt)).toContain('It is not a JSON object. Call save_cases again.');
  });

  it.each([
    ['no JSON', { text: 'I would rather not.' }, 'It is not a JSON object.'],
    ['no list', { text: '{"cases":{}}' }, 'It has no list `cases`.'],
    ['more than can be read', { text: `{"cases":["${'x'.repeat(2 ** 20)}"]}` }, 'It has more than 1048576 characters.'],
    [
      'what its output limit cut',
      { text: '{"cases":[', finish: 'length' },
      'It was cut at the output limit of the model.',
    ],
    [
      'what can be read of an answer that its output limit cut',
      { text: JSON.stringify({ cases: [normal] }), finish: 'length' },
      'It was cut at the output limit of the model.',
    ],
  ] as const)('fails on a model that answers with %s, and creates nothing', async (_what, answer, problem) => {
    const { generate, listTitles } = await script([answer, answer]);
    const { status, body } = await generate();
    expect({ status, body }).toEqual({
      status: 500,
      body: {
        code: 'INTERNAL_ERROR',
        message: `The answer of the model holds no cases. ${problem}`,
        details: { reason: 'MODEL_ANSWER_UNUSABLE' },
      },
    });
    expect(await listTitles()).toEqual(['Calls echo']);
  });

  it.each([
    ['refused', 422, { code: 'FEATURE_NOT_SUPPORTED', message: 'No.' }],
    ['unavailable', 500, { code: 'INTERNAL_ERROR', message: 'No.', details: { reason: 'MODEL_UNAVAILABLE' } }],
    ['filtered', 500, { code: 'INTERNAL_ERROR', message: 'No.', details: { reason: 'MODEL_ANSWER_FILTERED' } }],
  ] as const)('says why there is no answer: %s', async (kind, status, body) => {
    const { generate } = await script([new ModelError('No.', { kind })]);
    expect(await generate()).toMatchObject({ status, body });
  });

  describe('without a model that can be asked', () => {
    it('names the variable that is missing', async () => {
      const { generate } = await open({
        models: createScriptedSource(),
        defaultModel: { provider: 'other', name: 'x' },
      });
      const { status, body } = await generate();
      expect({ status, body }).toEqual({
        status: 422,
        body: {
          code: 'FEATURE_NOT_SUPPORTED',
          message: 'The generation of cases needs a model: OTHER_API_KEY is not set.',
        },
      });
    });

    it('says that the service runs none', async () => {
      const { generate } = await open({});
      expect((await generate()).body.message).toBe('The generation of cases needs a model: this service runs none.');
    });

    it('takes the suite’s where the service has no default', async () => {
      const { generate } = await open({ models: createScriptedSource(), defaultModel: null });
      expect((await generate()).body.message).toBe('The generation of cases needs a model: NONE_API_KEY is not set.');
    });
  });

  describe('with an idempotency key', () => {
    it.each(['idempotency-key', 'x-svc-idempotency-key', 'x-mcpjam-idempotency-key'])(
      'in %s asks the model once, and gives a repeat the same answer',
      async (header) => {
        const { generate, listTitles } = await script([writes([normal])]);
        const [first, second] = await Promise.all([generate({}, { [header]: 'k' }), generate({}, { [header]: 'k' })]);
        expect(second.body).toEqual(first.body);
        expect((await generate({}, { [header]: 'k' })).body).toEqual(first.body);
        expect(models.requests).toHaveLength(1);
        expect(await listTitles()).toHaveLength(2);
      },
    );

    it('lets the header win over the body', async () => {
      const { generate } = await script([writes([normal])], [writes([negative])]);
      await generate({ idempotencyKey: 'a' }, { 'idempotency-key': 'b' });
      expect((await generate({ idempotencyKey: 'a' })).body.counts).toEqual({ normal: 0, negative: 1 });
    });

    it('refuses it for another request', async () => {
      const { generate } = await script([writes([normal])]);
      await generate({ idempotencyKey: 'a' });
      expect(await generate({ idempotencyKey: 'a', mode: 'negative' })).toMatchObject({
        status: 409,
        body: { code: 'CONFLICT', details: { reason: 'IDEMPOTENCY_CONFLICT' } },
      });
    });

    it('asks again after a failure', async () => {
      const { generate } = await script([new ModelError('No.', { kind: 'unavailable' })], [writes([normal])]);
      expect((await generate({ idempotencyKey: 'a' })).status).toBe(500);
      expect((await generate({ idempotencyKey: 'a' })).body.counts).toEqual({ normal: 1, negative: 0 });
    });
  });

  it.each([
    [{ colour: 'red' }, 400],
    [{ modelApiKeys: { anthropic: 'sk-x' } }, 400],
    [{ mode: 'both' }, 400],
    [{ caseMix: { simple: 11 } }, 400],
    [{ caseMix: { easy: 1 } }, 400],
    [{ caseModels: [{ model: '' }] }, 400],
    [{ idempotencyKey: '' }, 400],
    [{ environmentId: 'env_1' }, 400],
    [{ servers: ['nope'] }, 404],
  ])('refuses %j with %d', async (body, status) => {
    const { generate } = await script([writes([normal])]);
    expect((await generate(body)).status).toBe(status);
    expect(models.requests).toEqual([]);
  });

  it('takes the tools of servers by name, and refuses those that cannot be reached or have none', async () => {
    await using empty = await startFixtureMcpServer({});
    const { generate } = await script([writes([normal])]);
    if (service === undefined) throw new Error('No service is open.');
    await saveServer(service, { name: 'gone' });
    await saveServer(service, { name: 'empty', url: empty.url });
    expect((await generate({ servers: ['demo'] })).status).toBe(200);
    expect(await generate({ servers: ['demo', 'gone'] })).toMatchObject({
      status: 502,
      body: { code: 'SERVER_UNREACHABLE' },
    });
    expect(await generate({ servers: ['empty'] })).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
  });

  it('takes the server and the model of an environment of the suite, and no other servers with it', async () => {
    await using other = await startFixtureMcpServer({ greet: { call: () => text('Hi.') } });
    models = createScriptedSource([
      writes([{ ...normal, turns: [{ ...turn, expectedToolCalls: [{ toolName: 'greet' }] }] }]),
    ]);
    const { suiteId, generate } = await open({ models, defaultModel: null });
    if (service === undefined) throw new Error('No service is open.');
    const { project } = service;
    const serverId = await saveServer(service, { name: 'other', url: other.url });
    const { body: host } = await project.post('/hosts', {
      name: 'A host',
      config: { modelId: 'scripted/of-host', serverIds: [serverId] },
    });
    const { body: environment } = await project.post('/environments', { name: 'Elsewhere', hostId: host.id });
    expect((await generate({ environmentId: environment.id })).body.details).toMatchObject({
      reason: 'ENVIRONMENT_NOT_ATTACHED',
    });
    await project.patch(`/eval-suites/${suiteId}`, { environmentIds: [environment.id] });
    expect(await generate({ environmentId: environment.id, servers: ['demo'] })).toMatchObject({
      status: 400,
      body: { details: { reason: 'ENVIRONMENT_SERVERS_NOT_OVERRIDABLE' } },
    });
    expect(await generate({ environmentId: environment.id })).toMatchObject({
      status: 200,
      body: { generationModel: 'scripted/of-host', counts: { normal: 1, negative: 0 } },
    });
  });

  it('closes its sessions with the server', async () => {
    const { generate } = await script([writes([normal])]);
    const before = mcp.events.length;
    await generate();
    const events = mcp.events.slice(before);
    expect(events.filter((event) => event === 'open').length).toBe(events.filter((event) => event === 'close').length);
  });

  it('works over HTTP with a provider', async () => {
    await using provider = await openScriptedProvider({
      format: 'anthropic',
      answers: [{ toolCalls: [{ name: 'save_cases', arguments: { cases: [normal] } }] }],
    });
    await using source = openTestSource({ format: 'anthropic', baseUrl: provider.baseUrl });
    const { generate } = await open({ models: source, defaultModel: testModels.anthropic });
    const { status, body } = await generate();
    expect({ status, model: body.generationModel, counts: body.counts }).toEqual({
      status: 200,
      model: 'anthropic/claude-haiku-4-5',
      counts: { normal: 1, negative: 0 },
    });
    expect(provider.requests[0]?.headers['x-api-key']).toBe(testProviderKey);
    expect(provider.requests[0]?.body).toMatchObject({ tool_choice: { type: 'tool', name: 'save_cases' } });
  });
});
