import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ways } from '../../../../test/support/service/answers.ts';
import {
  type ContractService,
  openContractService,
  saveServer,
} from '../../../../test/support/service/contract-service.ts';
import {
  type FixtureMcpServer,
  refuse,
  startFixtureMcpServer,
  text,
} from '../../../../test/support/servers/fixture-mcp-server.ts';

const resource = { uri: 'demo://one', name: 'one' };
const prompt = { name: 'greet', arguments: [{ name: 'who' }] };

function startFullServer(era: 'legacy' | 'modern'): Promise<FixtureMcpServer> {
  const tools = {
    first: { call: ({ args }) => ({ ...text(JSON.stringify(args)), _meta: { trace: 'kept' }, extra: { kept: true } }) },
    fails: { call: () => ({ ...text('No such order'), isError: true, structuredContent: { code: 7 } }) },
    never: { call: () => new Promise(() => {}) },
    broken: { call: () => refuse(-32_603, 'The index is broken') },
  } satisfies Parameters<typeof startFixtureMcpServer>[0];
  return startFixtureMcpServer(tools, {
    era,
    capabilities: { tools: {}, prompts: {}, resources: {} },
    list: (all, cursor) =>
      cursor === undefined
        ? { tools: all.slice(0, 3), nextCursor: 'p 2' }
        : { tools: cursor === 'p 2' ? all.slice(3) : refuse(-32_602, 'No such page') },
    prepare: (server) => {
      server.setRequestHandler('prompts/list', () => ({ prompts: [prompt] }));
      server.setRequestHandler('prompts/get', ({ params }) =>
        params.name === 'greet'
          ? {
              description: 'Greets',
              messages: [{ role: 'user', content: { type: 'text', text: `Hello ${params.arguments?.['who']}` } }],
            }
          : refuse(-32_602, 'Unknown prompt'),
      );
      server.setRequestHandler('resources/list', () => ({ resources: [resource] }));
      server.setRequestHandler('resources/read', ({ params }) =>
        params.uri === resource.uri ? { contents: [{ uri: params.uri, text: 'One' }] } : refuse(-32_002, 'Gone'),
      );
    },
  });
}

const inputs: Record<string, Record<string, unknown>> = {
  listTools: {},
  listPrompts: {},
  listResources: {},
  readResource: { uri: resource.uri },
  callTool: { toolName: 'first' },
  getPrompt: { promptName: 'greet' },
  exportServer: {},
};
const each = (names = Object.keys(inputs)) => ways.flatMap((way) => names.map((name) => ({ ...way, name })));

describe.each(['legacy', 'modern'] as const)('what a server of the %s era offers', (era) => {
  let service: ContractService;
  let server: FixtureMcpServer;
  let serverId: string;
  beforeAll(async () => {
    service = await openContractService();
    server = await startFullServer(era);
    serverId = await saveServer(service, { url: server.url });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it.each(ways)('listTools answers 200: page by page, with cursors of the server ($way)', async ({ open }) => {
    const send = open(service);
    const { body: first } = await send('listTools', { serverId });
    expect(first).toMatchObject({
      items: [{ name: 'first' }, { name: 'fails' }, { name: 'never' }],
      nextCursor: 'p 2',
    });
    const { body: last } = await send('listTools', { serverId, cursor: first.nextCursor });
    expect(last).toMatchObject({ items: [{ name: 'broken' }] });
    expect(last).not.toHaveProperty('nextCursor');
  });

  it.each(ways)('listTools answers 400: a cursor that the server refuses ($way)', async ({ open }) => {
    const { status, code } = await open(service)('listTools', { serverId, cursor: 'p 3' });
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each(ways)('listPrompts answers 200: the prompts ($way)', async ({ open }) => {
    expect((await open(service)('listPrompts', { serverId })).body).toMatchObject({ items: [prompt] });
  });

  it.each(ways)('listResources answers 200: the resources ($way)', async ({ open }) => {
    expect((await open(service)('listResources', { serverId })).body).toMatchObject({ items: [resource] });
  });

  it.each(ways)('readResource answers 200: the contents ($way)', async ({ open }) => {
    const { body } = await open(service)('readResource', { serverId, uri: resource.uri });
    expect(body).toMatchObject({ contents: [{ uri: resource.uri, text: 'One' }] });
  });

  it.each(ways)('callTool answers 200: the result as it came ($way)', async ({ open }) => {
    const { body } = await open(service)('callTool', { serverId, toolName: 'first', parameters: { a: [1] } });
    expect(body).toMatchObject({
      content: [{ type: 'text', text: '{"a":[1]}' }],
      _meta: { trace: 'kept' },
      extra: { kept: true },
    });
  });

  it.each(ways)('callTool answers 200: a result that is an error of the tool ($way)', async ({ open }) => {
    const { status, body } = await open(service)('callTool', { serverId, toolName: 'fails' });
    expect({ status, body }).toMatchObject({ status: 200, body: { isError: true, structuredContent: { code: 7 } } });
  });

  it.each(ways)('callTool answers 502: an error that is no result ($way)', async ({ open }) => {
    const { status, code } = await open(service)('callTool', { serverId, toolName: 'broken' });
    expect({ status, code }).toEqual({ status: 502, code: 'SERVER_UNREACHABLE' });
  });

  it.each(ways)('callTool answers 400: a tool that the server does not know ($way)', async ({ open }) => {
    const { status, code } = await open(service)('callTool', { serverId, toolName: 'unknown' });
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each(ways)('callTool answers 504: a tool that does not return ($way)', async ({ open }) => {
    const record = {
      name: `slow ${Math.random()}`,
      enabled: true,
      transportType: 'http',
      url: server.url,
      timeout: 500,
    };
    const { body } = await service.project.post('/servers', record);
    const { status, code } = await open(service)('callTool', { serverId: body.id, toolName: 'never' });
    expect({ status, code }).toEqual({ status: 504, code: 'TIMEOUT' });
  });

  it.each(ways)('getPrompt answers 200: the prompt with its arguments ($way)', async ({ open }) => {
    const { body } = await open(service)('getPrompt', { serverId, promptName: 'greet', arguments: { who: 'Ada' } });
    expect(body).toMatchObject({ description: 'Greets', messages: [{ content: { text: 'Hello Ada' } }] });
  });

  it.each(ways)('getPrompt answers 400: a prompt that the server does not know ($way)', async ({ open }) => {
    const { status, code } = await open(service)('getPrompt', { serverId, promptName: 'unknown' });
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each(ways)('exportServer answers 200: all pages of all lists ($way)', async ({ open }) => {
    const { body } = await open(service)('exportServer', { serverId });
    expect(body).toMatchObject({ serverId, prompts: [prompt], resources: [resource] });
    expect(body.tools).toHaveLength(4);
    expect(Date.parse(body.exportedAt)).toBeGreaterThan(0);
  });
});

describe('what a server does not offer', () => {
  let service: ContractService;
  let server: FixtureMcpServer;
  beforeAll(async () => {
    service = await openContractService();
    server = await startFixtureMcpServer({}, { capabilities: { logging: {} } });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it.each(each(['listTools', 'listPrompts', 'listResources', 'readResource', 'callTool', 'getPrompt']))(
    '$name answers 422: a server without the capability ($way)',
    async ({ open, name }) => {
      const serverId = await saveServer(service, { url: server.url, name: `bare ${Math.random()}` });
      const { status, code } = await open(service)(name, { serverId, ...inputs[name] });
      expect({ status, code }).toEqual({ status: 422, code: 'FEATURE_NOT_SUPPORTED' });
    },
  );

  it.each(each())('$name answers 502: a server that cannot be reached ($way)', async ({ open, name }) => {
    const serverId = await saveServer(service, {
      name: `gone ${Math.random()}`,
      url: 'http://127.0.0.1:9/mcp?k=canary',
    });
    const { status, code, body } = await open(service)(name, { serverId, ...inputs[name] });
    expect({ status, code }).toEqual({ status: 502, code: 'SERVER_UNREACHABLE' });
    expect(JSON.stringify(body ?? '')).not.toContain('canary');
  });

  it.each(each())('$name answers 404: a server that does not exist ($way)', async ({ open, name }) => {
    const { status, code } = await open(service)(name, { serverId: 'srv_missing', ...inputs[name] });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(each())('$name answers 400: a server that is disabled ($way)', async ({ open, name }) => {
    const serverId = await saveServer(service, { name: `off ${Math.random()}` });
    await service.project.patch(`/servers/${serverId}`, { enabled: false });
    const { status, code } = await open(service)(name, { serverId, ...inputs[name] });
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each(ways)('readResource answers 404: a resource that the server does not have ($way)', async ({ open }) => {
    await using full = await startFullServer('legacy');
    const serverId = await saveServer(service, { name: `full ${Math.random()}`, url: full.url });
    const { status, code } = await open(service)('readResource', { serverId, uri: 'demo://gone' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });
});
