import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { normalizeSurface } from '../../src/surface/normalize.ts';
import { readSurface } from '../../src/surface/read.ts';
import { startEverythingServer } from '../support/servers/everything-server.ts';
import { refuse, startFixtureMcpServer, text, type FixtureTool } from '../support/servers/fixture-mcp-server.ts';
import { capabilities, prepareLibrary } from '../support/servers/library-server.ts';

const { signal } = new AbortController();

const read = async (url: string, protocol: 'legacy' | 'modern' | 'auto' = 'auto') =>
  await readSurface({ url, serverName: 'fixture', protocol }, { clock: systemClock, signal });

const answer = () => text('done');

const tools: Record<string, FixtureTool> = {
  search: {
    description: 'Searches notes.',
    inputSchema: {
      type: 'object',
      required: ['words', 'limit'],
      properties: { words: {}, limit: { type: 'integer' } },
    },
    annotations: { readOnlyHint: true },
    call: answer,
  },
  add: { description: 'Adds a note.', call: answer },
};

describe('reading the surface of a server', () => {
  it.each(['legacy', 'modern'] as const)('keeps what it shows, by name, in the %s era', async (era) => {
    await using server = await startFixtureMcpServer(tools, { era, capabilities, prepare: prepareLibrary });
    const { surface, handshake } = await read(server.url);
    expect(handshake.protocol).toBe(era);
    expect(surface.tools.map(({ name }) => name)).toEqual(['add', 'search']);
    expect(surface.tools[1]).toEqual({
      name: 'search',
      description: 'Searches notes.',
      inputSchema: {
        type: 'object',
        required: ['limit', 'words'],
        properties: { limit: { type: 'integer' }, words: {} },
      },
      annotations: { readOnlyHint: true },
    });
    expect(surface.prompts).toEqual([{ name: 'greet', arguments: [] }]);
    expect(surface.resources.map(({ uri }) => uri)).toEqual(['note://1', 'note://2']);
    expect(surface.resourceTemplates).toEqual([{ uriTemplate: 'note://{id}', name: 'note' }]);
    expect(surface.capabilities).toEqual({ completions: {}, prompts: {}, resources: { subscribe: true }, tools: {} });
  });

  it('reads every page of a list', async () => {
    await using server = await startFixtureMcpServer(tools, {
      era: 'legacy',
      list: (all, cursor) => {
        const at = Number(cursor ?? 0);
        const next = at + 1 < all.length ? { nextCursor: String(at + 1) } : {};
        return { tools: all.slice(at, at + 1), ...next };
      },
    });
    const { surface } = await read(server.url);
    expect(surface.tools.map(({ name }) => name)).toEqual(['add', 'search']);
  });

  it('takes a list that the server declares and does not know for an empty one, and no other refusal', async () => {
    const declared = { capabilities: { tools: {}, prompts: {} } };
    await using server = await startFixtureMcpServer(tools, { era: 'legacy', ...declared });
    expect((await read(server.url)).surface.prompts).toEqual([]);
    const prepare: NonNullable<Parameters<typeof startFixtureMcpServer>[1]>['prepare'] = (broken) =>
      broken.setRequestHandler('prompts/list', () => refuse(-32603, 'no prompts today'));
    await using broken = await startFixtureMcpServer(tools, { era: 'legacy', ...declared, prepare });
    await expect(read(broken.url)).rejects.toThrow('no prompts today');
  });

  it('reads the lists again where they change while it reads', async () => {
    const growing = { ...tools };
    await using server = await startFixtureMcpServer(growing, {
      era: 'legacy',
      capabilities: { tools: { listChanged: true }, prompts: {} },
      prepare: (prepared) =>
        prepared.setRequestHandler('prompts/list', async (_, { mcpReq }) => {
          if (growing['late'] === undefined) {
            growing['late'] = { call: answer };
            await mcpReq.notify({ method: 'notifications/tools/list_changed' });
          }
          return { prompts: [] };
        }),
    });
    const { surface } = await read(server.url, 'legacy');
    expect(surface.tools.map(({ name }) => name)).toEqual(['add', 'late', 'search']);
  });

  it('shows what the reference server hides from clients that offer nothing', async () => {
    await using server = await startEverythingServer();
    const target = { url: server.url, serverName: 'everything', protocol: 'legacy' as const };
    const names = async (options: { abilities?: object } = {}) =>
      (await readSurface(target, { clock: systemClock, signal, ...options })).surface.tools.map(({ name }) => name);
    const [all, few] = [await names(), await names({ abilities: {} })];
    expect(few).not.toContain('trigger-sampling-request');
    expect(all).toEqual(expect.arrayContaining([...few, 'trigger-sampling-request', 'trigger-elicitation-request']));
  });
});

describe('a normalized surface', () => {
  const listed = { capabilities: {}, instructions: null, tools: [], prompts: [], resources: [], resourceTemplates: [] };

  it('is the same whatever the order of items, members and sets', () => {
    const tool = (inputSchema: object) => ({ name: 'a', inputSchema });
    const one = { type: ['string', 'null'], properties: { b: { enum: [2, 1] }, a: {} }, required: ['b', 'a'] };
    const other = { required: ['a', 'b'], properties: { a: {}, b: { enum: [2, 1] } }, type: ['null', 'string'] };
    const print = (tools: object[]) => JSON.stringify(normalizeSurface({ ...listed, tools }));
    expect(print([tool(one), { name: 'b', inputSchema: {} }])).toBe(
      print([{ name: 'b', inputSchema: {} }, tool(other)]),
    );
  });

  it('has nothing that changes by itself, and nothing that neither a model nor a program reads', () => {
    const resource = {
      uri: 'a://b',
      name: 'b',
      size: 3,
      icons: [],
      annotations: { lastModified: '2026-01-01', priority: 1 },
    };
    expect(normalizeSurface({ ...listed, resources: [resource] }).resources).toEqual([
      { uri: 'a://b', name: 'b', annotations: { priority: 1 } },
    ]);
  });
});
