import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/base/redaction.ts';
import { type Caller, localCaller } from '../../src/callers.ts';
import { parseChatboxes } from '../../src/chats/chatboxes.ts';
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts';
import { createScriptedSource } from '../../../../test/support/models/scripted-source.ts';
import { type ContractAnswer, ways } from '../../../../test/support/service/answers.ts';
import { createApiCaller } from '../../../../test/support/service/api-caller.ts';
import {
  type ContractService,
  openContractService,
  saveServer,
} from '../../../../test/support/service/contract-service.ts';

const keyOf = (name: string, fields: Partial<Caller> = {}) => ({
  secret: new Secret(`sk_${name}`),
  caller: { ...localCaller, keyId: name, user: { id: name, email: `${name}@localhost`, name }, ...fields },
});

describe('chat sessions', () => {
  let service: ContractService;
  let clock: ManualClock;
  beforeEach(async () => {
    clock = new ManualClock();
    const opened = await openContractService({
      clock,
      models: createScriptedSource([{ text: 'Done.' }]),
      defaultModel: { provider: 'scripted', name: 'standard' },
      keys: [keyOf('ada'), keyOf('bob'), keyOf('eve', { organizationId: 'org_other' })],
    });
    service = { ...opened, apiKey: 'sk_ada' };
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  /** Takes a turn and moves the clock on. */
  const take = async (key: string, text: string, fields: Record<string, unknown> = {}) => {
    const caller = createApiCaller(`${service.baseUrl}/projects/${service.projectId}`, key);
    const { status } = await caller.post('/agent', { messages: [{ role: 'user', content: text }], ...fields });
    expect(status).toBe(200);
    await clock.advance(1000);
  };
  const titlesOf = ({ body }: ContractAnswer) => body.items.map(({ title }: { title: string }) => title);

  it.each(ways)('listChatSessions answers 200: own sessions and shared ones ($way)', async ({ open }) => {
    await take('sk_ada', 'Which suites\n are there?', { conversationId: 'one' });
    await take('sk_ada', 'Hello.');
    await take('sk_bob', 'Secret.', { conversationId: 'one' });
    await take('sk_bob', 'For all.', { slackChannelId: 'channel' });
    await take('sk_ada', 'And more?', { conversationId: 'one' });
    const send = open(service);
    const mine = await send('listChatSessions');
    expect(titlesOf(mine)).toEqual(['Which suites are there?', 'For all.', 'Hello.']);
    expect(mine.body.items[0]).toEqual({
      id: expect.stringMatching(/^chat_/),
      title: 'Which suites are there?',
      status: 'active',
      projectId: service.projectId,
      visibility: 'private',
      lastActivityAt: 4000,
      createdAt: 0,
      isPinned: false,
      isUnread: false,
    });
    expect(mine.body.items[1].visibility).toBe('project');
    expect(titlesOf(await send('listChatSessions', {}, { key: 'sk_bob' }))).toEqual(['For all.', 'Secret.']);
    expect(titlesOf(await send('listChatSessions', {}, { key: 'sk_eve' }))).toEqual([]);
    expect(titlesOf(await send('listChatSessions', { status: 'archived' }))).toEqual([]);
    expect(titlesOf(await send('listChatSessions', { projectId: service.projectId, limit: 1 }))).toHaveLength(1);
  });

  it.each(ways)('listChatSessions answers 200: page by page, each session once ($way)', async ({ open }) => {
    for (const text of ['A', 'B', 'C', 'D', 'E']) {
      const caller = createApiCaller(`${service.baseUrl}/projects/${service.projectId}`, 'sk_ada');
      // All at the same moment.
      await caller.post('/agent', { messages: [{ role: 'user', content: text }] });
    }
    const send = open(service);
    const seen: string[] = [];
    let before: string | undefined;
    for (let page = 0; page < 3; page += 1) {
      const answer = await send('listChatSessions', { limit: 2, ...(before !== undefined && { before }) });
      seen.push(...titlesOf(answer));
      before = answer.body.nextCursor;
    }
    expect({ seen: seen.toSorted(), before }).toEqual({ seen: ['A', 'B', 'C', 'D', 'E'], before: undefined });
    expect(titlesOf(await send('listChatSessions', { before: '0' }))).toEqual([]);
    expect(titlesOf(await send('listChatSessions', { before: '1' }))).toHaveLength(5);
  });

  it.each(ways)('listChatSessions answers 400: fields that cannot be used ($way)', async ({ open }) => {
    for (const fields of [{ status: 'gone' }, { before: 'yesterday' }]) {
      const { status, code } = await open(service)('listChatSessions', fields);
      expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
    }
  });

  it.each(ways)('listChatSessions answers 404: a project of another organization ($way)', async ({ open }) => {
    const fields = { projectId: service.projectId };
    const { status, code } = await open(service)('listChatSessions', fields, { key: 'sk_eve' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it('are not left by a turn that failed', async () => {
    const { status } = await createApiCaller(service.baseUrl, 'sk_ada').post(
      `/projects/${service.projectId}/agent`,
      {},
    );
    expect(status).toBe(400);
    expect((await createApiCaller(service.baseUrl, 'sk_ada').get('/chat-sessions')).body.items).toEqual([]);
  });
});

describe('chatboxes', () => {
  const chatboxes = parseChatboxes(
    JSON.stringify([
      {
        id: 'box_1',
        name: 'Support',
        mode: 'anyone_with_link',
        modelId: 'openai/gpt-5-mini',
        systemPrompt: 'Be kind.',
        servers: ['demo', 'missing'],
        link: { path: '/c/box_1', url: 'https://example.com/c/box_1?token=canary' },
      },
      { id: 'box_2', name: 'Internal' },
    ]),
  );
  let service: ContractService;
  beforeEach(async () => {
    service = await openContractService({ chatboxes });
    await saveServer(service, { url: 'http://127.0.0.1:9/mcp' });
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  it.each(ways)('listChatboxes answers 200: those of the project ($way)', async ({ open }) => {
    const { status, body } = await open(service)('listChatboxes');
    expect(status).toBe(200);
    expect(body.items).toMatchObject([
      { id: 'box_1', name: 'Support', mode: 'anyone_with_link', serverCount: 1, serverNames: ['demo'] },
      { id: 'box_2', mode: 'project_members', serverCount: 0, link: null },
    ]);
    expect((await service.project.get('/scenarios')).body).toEqual((await service.project.get('/chatboxes')).body);
  });

  it.each(ways)('listChatboxes answers 404: no such project ($way)', async ({ open }) => {
    const { status, code } = await open(service)('listChatboxes', { projectId: 'prj_none' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('getChatbox answers 200: its settings ($way)', async ({ open }) => {
    const { status, body } = await open(service)('getChatbox', { chatboxId: 'box_1' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        modelId: 'openai/gpt-5-mini',
        systemPrompt: 'Be kind.',
        requireToolApproval: true,
        servers: [{ name: 'demo', url: 'http://127.0.0.1:9/mcp', useOAuth: false }],
        link: { path: '/c/box_1' },
      },
    });
    expect((await service.project.get('/scenarios/box_1')).body.id).toBe('box_1');
  });

  it.each(ways)('getChatbox answers 404: one that another project has ($way)', async ({ open }) => {
    const { body: other } = await service.root.post('/projects', { name: 'Other' });
    const { status, code } = await open(service)('getChatbox', { projectId: other.id, chatboxId: 'box_1' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
    const missing = await service.project.get('/chatboxes/box_none');
    expect(missing.body).toEqual({ code: 'NOT_FOUND', message: 'Chatbox not found.' });
  });

  it.each([
    ['[{"id": "a"}]', '0.name: '],
    ['{"id": "a"}', 'expected array'],
    ['not JSON', 'expected array'],
    ['[{"id": "a", "name": "A"}, {"id": "a", "name": "B"}]', '1.id: "a" is there twice'],
    ['[{"id": "a", "name": "A", "colour": "red"}]', 'colour'],
  ])('are not read from %s', (text, problem) => {
    expect(() => parseChatboxes(text)).toThrow(problem);
  });
});
