import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ModelError } from '../../../../src/base/errors.ts';
import type { EmbeddedOptions } from '../../src/open-service.ts';
import { openTestSource, testModels, testProviderKey } from '../../../../test/support/models/model-source.ts';
import { openScriptedProvider } from '../../../../test/support/models/scripted-provider.ts';
import type { ScriptedAnswer } from '../../../../test/support/models/scripted-session.ts';
import { createScriptedSource, type ScriptedSource } from '../../../../test/support/models/scripted-source.ts';
import {
  startFixtureMcpServer,
  text,
  type FixtureMcpServer,
} from '../../../../test/support/servers/fixture-mcp-server.ts';
import {
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
  type ContractService,
} from '../../../../test/support/service/contract-service.ts';

const readOnly = { readOnlyHint: true };
const standard = { provider: 'scripted', name: 'standard' };
const canary = 'note-canary-7';
const readTool = { annotations: readOnly, call: () => text(canary) };
const readsNote = {
  title: 'Reads',
  turns: [{ prompt: 'Read it.', expectedToolCalls: [{ toolName: 'read_note' }] }],
};

function startNotes(): Promise<FixtureMcpServer> {
  return startFixtureMcpServer({
    read_note: { annotations: readOnly, description: 'Reads a note.', call: () => text(canary) },
    delete_note: { call: ({ args }) => text(`deleted ${JSON.stringify(args)}`) },
    'bad name!': { annotations: readOnly, call: () => ({ ...text('It broke.'), isError: true }) },
    drop: { annotations: readOnly, call: ({ dropConnections }) => (dropConnections(), text('never seen')) },
  });
}

let mcp: FixtureMcpServer;
let service: ContractService;
let models: ScriptedSource;
beforeAll(async () => {
  mcp = await startNotes();
});
afterAll(async () => {
  await mcp[Symbol.asyncDispose]();
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
});

async function open(overrides: Partial<EmbeddedOptions>) {
  service = await openContractService({ defaultModel: standard, ...overrides });
  return await saveServer(service, { name: 'notes', url: mcp.url });
}
async function script(...scripts: ReadonlyArray<ReadonlyArray<ScriptedAnswer | Error>>) {
  models = createScriptedSource(...scripts);
  return await open({ models });
}
const asks = (fields: Record<string, unknown> = {}) => ({
  messages: [{ role: 'user', content: 'What does the note say?' }],
  ...fields,
});
const take = (fields: Record<string, unknown> = {}) => service.project.post('/agent', asks(fields));
const calls = (tool: string, input: unknown = {}): ScriptedAnswer => ({ calls: [{ tool, input }] });
const done: ScriptedAnswer = { text: 'Done.' };
const readPrompt = (session: number, call: number) => JSON.stringify(models.asked[session]?.[call]?.prompt);
const listOffered = (session: number) => (models.asked[session]?.[0]?.tools ?? []).map(({ name }) => name);
const approve = (actionId: string) => service.project.post(`/proposed-actions/${actionId}/execute`);

describe('a turn of the agent', () => {
  it('answers with the text of the model and what it used', async () => {
    await script([
      { text: 'I will look.', calls: [{ tool: 'read_note', input: {} }], tokens: { input: 7, output: 2 } },
      { text: 'It is a canary.', tokens: { input: 11, output: 3 } },
    ]);
    const { status, body } = await take();
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        reply: 'I will look.\nIt is a canary.',
        toolCalls: [{ operation: 'call_server_tool', server: 'notes', tool: 'read_note' }],
        createdResources: [],
        proposedActions: [],
        usage: { inputTokens: 18, outputTokens: 5 },
      },
    });
    expect(readPrompt(0, 1)).toContain(canary);
  });

  it('goes on with the history of the request', async () => {
    await script([done]);
    const messages = [
      { role: 'user', content: 'Hello.' },
      { role: 'assistant', content: 'Hi.' },
      { role: 'user', content: 'What now?' },
    ];
    await take({ messages });
    expect(models.asked[0]?.[0]?.prompt.slice(1)).toEqual(
      messages.map(({ role, content }) => ({ role, content: [{ type: 'text', text: content }] })),
    );
  });

  it('reads the suites of its project', async () => {
    const serverId = await script([calls('list_eval_suites'), done]);
    const { suiteId } = await saveSuite(service, serverId);
    const { body } = await take();
    expect(body.toolCalls).toEqual([{ operation: 'list_eval_suites' }]);
    expect(readPrompt(0, 1)).toContain(suiteId);
  });

  it('knows the servers of its project without their URLs, which may hold keys', async () => {
    const serverId = await script([calls('list_project_servers'), done]);
    await saveServer(service, { name: 'tunnel', url: 'http://127.0.0.1:9/mcp?k=secret-canary' });
    await take();
    expect(readPrompt(0, 1)).toContain(serverId);
    expect(readPrompt(0, 1)).not.toContain('secret-canary');
  });

  it.each([
    ['an id that leads elsewhere', 'get_eval_suite', { suiteId: '../servers' }, 'suiteId: Expected an id'],
    ['an unknown field', 'list_eval_suites', { project: 'other' }, 'Unrecognized key: "project"'],
    ['a suite that does not exist', 'get_eval_suite', { suiteId: 'ste_x' }, 'Suite not found.'],
    ['a tool that does not exist', 'drop_table', {}, 'There is no tool'],
    ['a tool that fails', 'bad_name_', {}, 'It broke.'],
    ['a server that breaks the connection', 'drop', {}, 'gave no answer'],
  ])('answers the model with an error for %s', async (_what, tool, input, problem) => {
    await script([calls(tool, input), done]);
    expect((await take()).body.reply).toBe('Done.');
    expect(readPrompt(0, 1)?.replaceAll('\\', '')).toContain(problem);
  });

  it.each([
    ['no JSON', '{"suiteId":'],
    ['no object', '[]'],
    ['nested without end', `{"suiteId":${'['.repeat(5000)}${']'.repeat(5000)}}`],
  ])('answers arguments that are %s with an error', async (_what, input) => {
    await script([{ calls: [{ tool: 'get_eval_suite', text: input }] }, done]);
    expect((await take()).body.reply).toBe('Done.');
    expect(readPrompt(0, 1)).toContain('are not a JSON object, or nest too deep');
  });

  it('ends early at the limit of calls, and says so', async () => {
    await script(Array.from({ length: 16 }, () => calls('list_eval_suites')));
    const { status, body } = await take();
    expect({ status, calls: body.toolCalls.length }).toEqual({ status: 200, calls: 15 });
    expect(body.reply).toMatch(/^The turn ended early\. /);
  });

  it('creates suites and cases, and refers to them', async () => {
    const serverId = await script();
    const { suiteId } = await saveSuite(service, serverId);
    models.scripts.push([
      calls('create_eval_suite', { name: 'New', serverIds: [serverId], cases: [readsNote] }),
      calls('create_eval_cases', { suiteId, cases: [readsNote] }),
      done,
    ]);
    const { body } = await take();
    const [suite, added, ...others] = body.createdResources;
    expect(others).toEqual([]);
    expect(suite).toMatchObject({ type: 'eval_suite', name: 'New' });
    expect(suite.url).toBe(`${service.baseUrl}/projects/${service.projectId}/eval-suites/${suite.id}`);
    const { body: settings } = await service.project.get(`/eval-suites/${suite.id}`);
    expect(settings).toMatchObject({ name: 'New', executionConfig: { model: 'scripted/standard' } });
    expect(added).toMatchObject({ type: 'eval_case', name: 'Reads' });
    expect((await service.project.get(`/eval-suites/${suiteId}/cases/${added.id}`)).status).toBe(200);
    expect(body.proposedActions).toEqual([]);
  });

  it('creates no case that would pass whatever the model does', async () => {
    const serverId = await script();
    const cases = [{ title: 'Empty', turns: [{ prompt: 'Hm.' }] }];
    models.scripts.push([calls('create_eval_suite', { name: 'New', serverIds: [serverId], cases }), done]);
    expect((await take()).body.createdResources).toEqual([]);
    expect(readPrompt(0, 1)).toContain('would pass whatever the model does');
  });

  it('reports what a failed turn created', async () => {
    const serverId = await script();
    models.scripts.push([
      calls('create_eval_suite', { name: 'New', serverIds: [serverId], cases: [readsNote] }),
      new ModelError('It is down.', { kind: 'unavailable' }),
    ]);
    expect(await take()).toMatchObject({
      status: 500,
      body: {
        code: 'INTERNAL_ERROR',
        message: 'It is down.',
        details: { reason: 'MODEL_UNAVAILABLE', createdResources: [{ type: 'eval_suite', name: 'New' }] },
      },
    });
  });
});

describe('the tools of a turn', () => {
  it('are those that need no approval, where there is no conversation to approve in', async () => {
    await script([done]);
    await take();
    expect(listOffered(0)).toEqual(expect.arrayContaining(['list_eval_suites', 'read_note', 'bad_name_']));
    for (const name of ['run_eval_suite', 'delete_note']) expect(listOffered(0)).not.toContain(name);
  });

  it('are all of them in a conversation', async () => {
    await script([done]);
    await take({ conversationId: 'c' });
    expect(listOffered(0)).toEqual(expect.arrayContaining(['list_eval_suites', 'run_eval_suite', 'delete_note']));
  });

  it('carry the name of their server where two servers have one of that name', async () => {
    await script([calls('other__read_note'), done]);
    await saveServer(service, { name: 'other', url: mcp.url });
    const { body } = await take();
    expect(listOffered(0)).toEqual(expect.arrayContaining(['notes__read_note', 'other__read_note']));
    expect(listOffered(0)).not.toContain('read_note');
    expect(body.toolCalls).toEqual([{ operation: 'call_server_tool', server: 'other', tool: 'read_note' }]);
  });

  it('never replace an operation, nor exceed what providers take', async () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`t${index}`, readTool]));
    await using crowded = await startFixtureMcpServer({ list_eval_suites: readTool, ...many });
    await script([calls('list_eval_suites'), done]);
    await saveServer(service, { name: 'crowded', url: crowded.url });
    expect((await take()).body.toolCalls).toEqual([{ operation: 'list_eval_suites' }]);
    expect(listOffered(0)).toContain('crowded__list_eval_suites');
    expect(new Set(listOffered(0)).size).toBe(128);
  });

  it('lack those of a server that cannot be reached, and the model knows', async () => {
    await script([done]);
    await saveServer(service, { name: 'gone' });
    expect((await take()).status).toBe(200);
    expect(readPrompt(0, 0)).toContain('could not be reached');
  });
});

describe('an action of the agent', () => {
  const deletes = calls('delete_note', { id: 7 });

  it('awaits its approval, is executed with it, and is known to the next turn', async () => {
    await script([deletes, done], [done]);
    const { body } = await take({ conversationId: 'c' });
    const [action] = body.proposedActions;
    expect(body.proposedActions).toEqual([
      {
        actionId: action.actionId,
        operation: 'call_server_tool',
        description: 'Call "delete_note" of "notes" with {"id":7}',
        buttonLabel: 'Call the tool',
        kind: 'external',
        confirmSeverity: 'external',
        target: { type: 'server_tool', selector: 'delete_note' },
      },
    ]);
    expect(mcp.events).not.toContain('call delete_note');
    const executed = await approve(action.actionId);
    expect(executed).toMatchObject({
      status: 200,
      body: { operation: 'call_server_tool', status: 'succeeded', kind: 'external' },
    });
    expect(executed.body.result.content).toEqual([{ type: 'text', text: 'deleted {"id":7}' }]);
    expect(mcp.events.filter((event) => event === 'call delete_note')).toHaveLength(1);
    await take({ conversationId: 'c' });
    expect(readPrompt(1, 0)).toContain('was approved; it is succeeded. Result: ');
    expect(readPrompt(1, 0)).toContain('deleted');
  });

  it('is not known to other conversations', async () => {
    await script([deletes, done], [done]);
    await take({ conversationId: 'c' });
    await take({ slackChannelId: 'd' });
    expect(readPrompt(1, 0)).not.toContain('delete_note');
  });

  it('is executed once', async () => {
    await script([deletes, done]);
    const { actionId } = (await take({ conversationId: 'c' })).body.proposedActions[0];
    const before = mcp.events.length;
    const answers = await Promise.all([approve(actionId), approve(actionId)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    expect((await approve(actionId)).body.message).toBe('The action was approved before; it is succeeded.');
    expect(mcp.events.slice(before).filter((event) => event === 'call delete_note')).toHaveLength(1);
  });

  it('is proposed once, however often the model asks', async () => {
    await script([deletes, deletes, done], [deletes, done]);
    const first = await take({ conversationId: 'c' });
    const second = await take({ conversationId: 'c' });
    expect(first.body.proposedActions).toHaveLength(1);
    expect(second.body.proposedActions).toEqual(first.body.proposedActions);
  });

  it('runs a suite', async () => {
    const serverId = await script();
    const test = {
      title: 'Reads',
      steps: [
        { id: 's', kind: 'toolCall', serverName: '', toolName: 'read_note', arguments: {} },
        { id: 'a', kind: 'assert', assertion: { type: 'noToolErrors' } },
      ],
    };
    const { suiteId } = await saveSuite(service, serverId, [test]);
    models.scripts.push([calls('run_eval_suite', { suiteId }), done]);
    const { body } = await take({ conversationId: 'c' });
    expect(body.proposedActions).toMatchObject([
      { operation: 'run_eval_suite', kind: 'start', target: { selector: suiteId } },
    ]);
    const executed = await approve(body.proposedActions[0].actionId);
    expect(await waitForEnd(service, executed.body.result.runId)).toMatchObject({ result: 'passed' });
  });

  it('can be approved again after a refusal', async () => {
    const serverId = await script();
    const { suiteId } = await saveSuite(service, serverId);
    models.scripts.push([calls('run_eval_suite', { suiteId }), done]);
    const { actionId } = (await take({ conversationId: 'c' })).body.proposedActions[0];
    await service.project.delete(`/eval-suites/${suiteId}`);
    expect(await approve(actionId)).toMatchObject({ status: 404, body: { message: 'Suite not found.' } });
    expect(await approve(actionId)).toMatchObject({ status: 404 });
  });

  it('is offered for each suite that a turn creates', async () => {
    const serverId = await script();
    models.scripts.push([calls('create_eval_suite', { name: 'New', serverIds: [serverId], cases: [readsNote] }), done]);
    const { body } = await take({ conversationId: 'c' });
    expect(body.proposedActions).toMatchObject([
      { operation: 'run_eval_suite', description: `Run eval suite ${body.createdResources[0].id}` },
    ]);
  });

  it('does not exist under another id', async () => {
    await script();
    expect(await approve('act_x')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  });

  it('takes nothing from the request', async () => {
    await script([deletes, done]);
    const { actionId } = (await take({ conversationId: 'c' })).body.proposedActions[0];
    const path = `/proposed-actions/${actionId}/execute`;
    expect((await service.project.post(path, { args: { id: 8 } })).status).toBe(400);
    expect((await service.project.post(path, {})).status).toBe(200);
  });
});

describe('a turn with an idempotency key', () => {
  it('is taken once', async () => {
    await script([{ text: 'One.' }], [{ text: 'Two.' }]);
    const answers = await Promise.all([take({ idempotencyKey: 'k' }), take({ idempotencyKey: 'k' })]);
    expect(answers.map(({ body }) => body.reply)).toEqual(['One.', 'One.']);
    expect((await take({ idempotencyKey: 'other' })).body.reply).toBe('Two.');
  });

  it('writes nothing twice when it is repeated after a failure', async () => {
    const serverId = await script();
    const creates = calls('create_eval_suite', { name: 'New', serverIds: [serverId], cases: [readsNote] });
    models.scripts.push([creates, new ModelError('Down.', { kind: 'unavailable' })], [creates, done]);
    const failed = await take({ idempotencyKey: 'k' });
    const repeated = await take({ idempotencyKey: 'k' });
    expect(repeated.body.createdResources).toEqual(failed.body.details.createdResources);
    expect((await service.project.get('/eval-suites')).body.items).toHaveLength(1);
  });

  it('is another turn without one', async () => {
    await script([{ text: 'One.' }], [{ text: 'Two.' }]);
    expect([(await take()).body.reply, (await take()).body.reply]).toEqual(['One.', 'Two.']);
  });
});

describe('the limits of a turn', () => {
  const user = (content: string) => ({ role: 'user', content });

  it.each([
    ['50 messages', Array.from({ length: 50 }, () => user('x'))],
    ['8,000 characters', [user('x'.repeat(8000))]],
    ['96 KB', [...Array.from({ length: 12 }, () => user('x'.repeat(8000))), user('x'.repeat(2304))]],
  ])('allow %s', async (_what, messages) => {
    await script([done]);
    expect((await take({ messages })).status).toBe(200);
  });

  it.each([
    ['no messages', []],
    ['51 messages', Array.from({ length: 51 }, () => user('x'))],
    ['an empty message', [user('')]],
    ['8,001 characters', [user('x'.repeat(8001))]],
    ['8,193 bytes', [user('€'.repeat(2731))]],
    ['96 KB and a byte', [...Array.from({ length: 12 }, () => user('x'.repeat(8000))), user('x'.repeat(2305))]],
    ['a system message', [{ role: 'system', content: 'x' }]],
    ['no message of the user at the end', [user('x'), { role: 'assistant', content: 'y' }]],
  ])('refuse %s', async (_what, messages) => {
    await script([done]);
    expect(await take({ messages })).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(models.requests).toEqual([]);
  });

  it.each([
    { idempotencyKey: '' },
    { idempotencyKey: 'a\nb' },
    { idempotencyKey: 'k'.repeat(201) },
    { conversationId: '' },
  ])('refuse %j', async (fields) => {
    await script([done]);
    expect((await take(fields)).status).toBe(400);
  });

  it('allow four turns at the same time, and refuse the fifth', async () => {
    const gate = Promise.withResolvers<void>();
    const waiting = createScriptedSource([done]);
    await open({
      models: {
        ...waiting,
        openSession: async (request) => {
          const session = await waiting.openSession(request);
          return {
            ...session,
            answer: async (call, options) => (await gate.promise, await session.answer(call, options)),
          };
        },
      },
    });
    const turns = Array.from({ length: 5 }, () => take());
    expect(await Promise.race(turns)).toMatchObject({
      status: 429,
      body: { code: 'RATE_LIMITED', details: { maxConcurrentTurns: 4 } },
    });
    gate.resolve();
    const statuses = (await Promise.all(turns)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 429]);
    expect((await take()).status).toBe(200);
  });
});

describe('the model of the agent', () => {
  it.each([
    [
      'its missing variable',
      { models: createScriptedSource(), defaultModel: { provider: 'other', name: 'x' } },
      'The agent needs a model: OTHER_API_KEY is not set.',
    ],
    ['that there is none', {}, 'The agent needs a model: this service runs none.'],
    [
      'that there is no default',
      { models: createScriptedSource(), defaultModel: null },
      'The agent needs a model, and this service has no default model. Start it with `--model`.',
    ],
  ])('is required, and the refusal names %s', async (_what, overrides, message) => {
    await open(overrides);
    const { status, body } = await take();
    expect({ status, body }).toEqual({ status: 422, body: { code: 'FEATURE_NOT_SUPPORTED', message } });
  });

  it('works over HTTP with a provider, whose key appears nowhere', async () => {
    await using provider = await openScriptedProvider({
      format: 'compatible',
      answers: [
        { toolCalls: [{ name: 'read_note', arguments: {} }] },
        { text: 'It is a canary.' },
        { status: 401, body: `No ${testProviderKey}.` },
      ],
    });
    await using source = openTestSource({ format: 'compatible', baseUrl: provider.baseUrl });
    await open({ models: source, defaultModel: testModels.compatible });
    const { status, body } = await take();
    expect({ status, reply: body.reply }).toEqual({ status: 200, reply: 'It is a canary.' });
    expect(JSON.stringify(provider.requests[1]?.body)).toContain(canary);
    const refused = await take();
    expect(refused).toMatchObject({ status: 422, body: { code: 'FEATURE_NOT_SUPPORTED' } });
    expect(JSON.stringify([body, refused.body])).not.toContain(testProviderKey);
    expect(refused.body.message).toContain('OPENAI_API_KEY');
  });
});
