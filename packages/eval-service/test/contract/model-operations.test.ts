import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EmbeddedOptions } from '../../src/open-service.ts';
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts';
import type { ScriptedAnswer } from '../../../../test/support/models/scripted-session.ts';
import { createScriptedSource, type ScriptedSource } from '../../../../test/support/models/scripted-source.ts';
import { startHttpServer } from '../../../../test/support/network/http-server.ts';
import {
  startFixtureMcpServer,
  text,
  type FixtureMcpServer,
} from '../../../../test/support/servers/fixture-mcp-server.ts';
import { type Send, ways } from '../../../../test/support/service/answers.ts';
import {
  type ContractService,
  openContractService,
  saveServer,
  saveSuite,
} from '../../../../test/support/service/contract-service.ts';

const defaultModel = { provider: 'scripted', name: 'standard' };
const stdio = { transportType: 'stdio', command: 'true' };
const messages = [{ role: 'user', content: 'Delete note 7.' }];
const turn = { prompt: 'Delete note 7.', expectedToolCalls: [{ toolName: 'delete_note', arguments: { id: 7 } }] };
const saves: ScriptedAnswer = {
  calls: [{ tool: 'save_cases', input: { cases: [{ title: 'Deletes', turns: [turn] }] } }],
};
const proposes: ScriptedAnswer = { calls: [{ tool: 'delete_note', input: { id: 7 } }] };
const done: ScriptedAnswer = { text: 'Done.' };

let mcp: FixtureMcpServer;
let service: ContractService;
let serverId: string;
let suiteId: string;

beforeEach(async () => {
  mcp = await startFixtureMcpServer({ delete_note: { call: ({ args }) => text(`deleted ${JSON.stringify(args)}`) } });
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await mcp[Symbol.asyncDispose]();
});

async function open(models: ScriptedSource | null, overrides: Partial<EmbeddedOptions> = {}) {
  service = await openContractService({ models, defaultModel, ...overrides });
  serverId = await saveServer(service, { name: 'notes', url: mcp.url });
  ({ suiteId } = await saveSuite(service, serverId));
}
const script = async (...answers: ScriptedAnswer[]) => await open(createScriptedSource(answers));

/** A clock that stands still, and models that never answer; `asked` resolves once one was asked. */
async function openSilent() {
  const clock = new ManualClock();
  const asked = Promise.withResolvers<void>();
  const source = createScriptedSource([]);
  const openSession: ScriptedSource['openSession'] = async (request) => ({
    ...(await source.openSession(request)),
    answer: async (_call, { signal }) => {
      asked.resolve();
      return await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    },
  });
  await open({ ...source, openSession }, { clock });
  return { clock, asked: asked.promise };
}

/** Has a turn propose the call of a tool, and returns the id of the action. */
async function propose(send: Send): Promise<string> {
  const { body } = await send('runAgentTurn', { messages, conversationId: 'c' });
  return String(body.proposedActions[0].actionId);
}
const refused = (status: number, code: string) => ({ status, code });

describe('the generation of cases', () => {
  it.each(ways)('generateEvalCases answers 200: the cases that the model writes ($way)', async ({ open: enter }) => {
    await script(saves);
    const { status, body } = await enter(service)('generateEvalCases', { suiteId });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        generationModel: 'scripted/standard',
        created: [{ title: 'Deletes' }],
        counts: { normal: 1, negative: 0 },
      },
    });
  });

  it.each(ways)('generateEvalCases answers 409: the key of another request ($way)', async ({ open: enter }) => {
    await script(saves);
    const send = enter(service);
    expect(await send('generateEvalCases', { suiteId, idempotencyKey: 'k' })).toMatchObject({ status: 200 });
    const other = { suiteId, idempotencyKey: 'k', mode: 'negative' };
    expect(await send('generateEvalCases', other)).toMatchObject(refused(409, 'CONFLICT'));
  });

  it.each(ways)('generateEvalCases answers 422: a service without models ($way)', async ({ open: enter }) => {
    await open(null);
    const answer = await enter(service)('generateEvalCases', { suiteId });
    expect(answer).toMatchObject(refused(422, 'FEATURE_NOT_SUPPORTED'));
  });

  it.each(ways)('generateEvalCases answers 502: a server that is gone ($way)', async ({ open: enter }) => {
    await script(saves);
    await service.project.patch(`/servers/${serverId}`, { url: 'http://127.0.0.1:9/mcp' });
    const answer = await enter(service)('generateEvalCases', { suiteId });
    expect(answer).toMatchObject(refused(502, 'SERVER_UNREACHABLE'));
  });

  it.each(ways)('generateEvalCases answers 504: a model that never answers ($way)', async ({ open: enter }) => {
    const { clock, asked } = await openSilent();
    const answer = enter(service)('generateEvalCases', { suiteId });
    await asked;
    await clock.advance(180_000);
    expect(await answer).toMatchObject(refused(504, 'TIMEOUT'));
  });
});

describe('a turn of the agent', () => {
  it.each(ways)('runAgentTurn answers 200: the reply of the model ($way)', async ({ open: enter }) => {
    await script(done);
    const { status, body } = await enter(service)('runAgentTurn', { messages });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { reply: 'Done.', toolCalls: [], proposedActions: [] },
    });
  });

  it.each(ways)('runAgentTurn answers 400: no messages ($way)', async ({ open: enter }) => {
    await script(done);
    const answer = await enter(service)('runAgentTurn', { messages: [] });
    expect(answer).toMatchObject(refused(400, 'VALIDATION_ERROR'));
  });

  it.each(ways)('runAgentTurn answers 422: a service without models ($way)', async ({ open: enter }) => {
    await open(null);
    const answer = await enter(service)('runAgentTurn', { messages });
    expect(answer).toMatchObject(refused(422, 'FEATURE_NOT_SUPPORTED'));
  });

  it.each(ways)('runAgentTurn answers 504: a model that never answers ($way)', async ({ open: enter }) => {
    const { clock, asked } = await openSilent();
    const answer = enter(service)('runAgentTurn', { messages });
    await asked;
    await clock.advance(90_000);
    expect(await answer).toMatchObject(refused(504, 'TIMEOUT'));
  });
});

describe('an action that the agent proposed', () => {
  it.each(ways)('executeProposedAction answers 200: the result of the tool ($way)', async ({ open: enter }) => {
    await script(proposes, done);
    const send = enter(service);
    const { status, body } = await send('executeProposedAction', { actionId: await propose(send) });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: 'succeeded', kind: 'external', result: { content: [{ text: 'deleted {"id":7}' }] } },
    });
  });

  it.each(ways)('executeProposedAction answers 409: it was executed before ($way)', async ({ open: enter }) => {
    await script(proposes, done);
    const send = enter(service);
    const actionId = await propose(send);
    await send('executeProposedAction', { actionId });
    expect(await send('executeProposedAction', { actionId })).toMatchObject(refused(409, 'CONFLICT'));
    expect(mcp.events.filter((event) => event === 'call delete_note')).toHaveLength(1);
  });

  it.each(ways)(
    'executeProposedAction answers 422: a server that may not be started ($way)',
    async ({ open: enter }) => {
      await script(proposes, done);
      const send = enter(service);
      const actionId = await propose(send);
      await service.project.patch(`/servers/${serverId}`, stdio);
      const answer = await send('executeProposedAction', { actionId });
      expect(answer).toMatchObject(refused(422, 'FEATURE_NOT_SUPPORTED'));
    },
  );

  it.each(ways)('executeProposedAction answers 502: a server that is gone ($way)', async ({ open: enter }) => {
    await script(proposes, done);
    const send = enter(service);
    const actionId = await propose(send);
    await service.project.patch(`/servers/${serverId}`, { url: 'http://127.0.0.1:9/mcp' });
    const answer = await send('executeProposedAction', { actionId });
    expect(answer).toMatchObject(refused(502, 'SERVER_UNREACHABLE'));
  });

  it.each(ways)('executeProposedAction answers 504: a server that never answers ($way)', async ({ open: enter }) => {
    const clock = new ManualClock();
    const arrived = Promise.withResolvers<void>();
    await using silent = await startHttpServer(() => arrived.resolve());
    await open(createScriptedSource([proposes, done]), { clock });
    const send = enter(service);
    const actionId = await propose(send);
    await service.project.patch(`/servers/${serverId}`, { url: `${silent.origin}/mcp` });
    const answer = send('executeProposedAction', { actionId });
    await arrived.promise;
    await clock.advance(200_000);
    expect(await answer).toMatchObject(refused(504, 'TIMEOUT'));
  });
});
