import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostProfiles } from '../../src/hosts/catalog.ts';
import { showSurface } from '../../src/hosts/show-surface.ts';
import type { Surface } from '../../src/model/surface.ts';
import { createSurface, findHost } from './find-host.ts';

const show = (id: string, surface: Surface, name = 'notes') => showSurface(findHost(id), [{ name, surface }]);
const kindsOf = (id: string, surface: Surface) => [...new Set(show(id, surface).changes.map(({ kind }) => kind))];

describe('the names of tools', () => {
  const long = 'a'.repeat(80);

  it.each([
    ['claude-code', 'mcp__notes__files_read_all'],
    ['codex', 'mcp__notes.files_read_all'],
    ['gemini-cli', 'mcp_notes_files.read_all'],
    ['opencode', 'notes_files_read_all'],
    ['goose', 'notes__files.read all'],
    ['generic', 'files_read_all'],
  ])('get the prefix of %s, and its characters', (id, expected) => {
    const { tools, changes } = show(id, createSurface([{ name: 'files.read all' }]));
    expect(tools).toMatchObject([{ name: expected }]);
    expect(changes.some(({ kind }) => kind === 'renamed')).toBe(id !== 'goose');
  });

  it.each(['claude-code', 'codex', 'gemini-cli', 'opencode', 'goose', 'generic'])(
    'without other characters are no change in %s',
    (id) => {
      expect(kindsOf(id, createSurface([{ name: 'read' }]))).not.toContain('renamed');
    },
  );

  it.each([
    ['claude-code', 92, null],
    ['codex', 84, null],
    ['gemini-cli', 63, 'cut'],
    ['qwen-code', 63, 'cut'],
    ['copilot-cli', 64, 'cut'],
    ['generic', 64, 'cut'],
  ])('over the limit of %s have %i characters', (id, length, kind) => {
    const { tools, changes } = show(id, createSurface([{ name: long }]));
    const shown = tools[0]?.name ?? '';
    if (kind === null) expect(shown.endsWith(long)).toBe(true);
    else expect(shown).toHaveLength(length);
    expect(changes.some((change) => change.kind === 'cut')).toBe(kind !== null);
  });

  it('of namespace and tool together are cut by Codex over 128 characters, and not at 128', () => {
    const [whole, over] = ['b'.repeat(128 - 'mcp__notes__'.length), 'a'.repeat(129 - 'mcp__notes__'.length)];
    const { tools, changes } = show('codex', createSurface([{ name: whole }, { name: over }]));
    expect(tools.map(({ name }) => name?.length)).toEqual([whole, whole].map((name) => `mcp__notes.${name}`.length));
    expect(tools[0]?.name).toBe(`mcp__notes.${whole}`);
    expect(changes.filter(({ kind }) => kind === 'cut')).toMatchObject([
      { tool: over, message: 'cuts names to 128 characters' },
    ]);
  });

  it('of server and tool together make Cursor drop the tool over 60 characters, and not at 60', () => {
    const view = show('cursor', createSurface([{ name: 'b'.repeat(55) }, { name: 'a'.repeat(56) }]));
    expect(view.tools).toMatchObject([
      { state: 'shown', name: 'b'.repeat(55) },
      { state: 'unlisted', name: null },
    ]);
    expect(view.changes).toMatchObject([{ kind: 'dropped', message: 'drops tools with names over 60 characters' }]);
  });

  it('that become the same clash, and others do not', () => {
    const same = show('claude-code', createSurface([{ name: 'a.b' }, { name: 'a/b' }, { name: 'ab' }]));
    const clashing = same.changes.filter(({ kind }) => kind === 'clashing').map(({ tool }) => tool);
    expect(clashing).toEqual(['a.b', 'a/b']);
    expect(kindsOf('goose', createSurface([{ name: 'a.b' }, { name: 'a/b' }]))).not.toContain('clashing');
  });

  it('of several servers have the server in front', () => {
    const surface = createSurface([{ name: 'read' }]);
    const servers = [
      { name: 'one', surface },
      { name: 'two', surface },
    ];
    expect(showSurface(findHost('goose'), servers).tools.map(({ label, name }) => [label, name])).toEqual([
      ['one/read', 'one__read'],
      ['two/read', 'two__read'],
    ]);
    // The name of the server is no part of the name in the gate's own prompts.
    expect(showSurface(findHost('generic'), servers).changes.map(({ kind }) => kind)).toContain('clashing');
  });
});

describe('tools that a model does not get, or later', () => {
  const anything = { type: 'object', properties: { value: true } };

  it.each(['gemini-cli', 'opencode'])('%s drops all tools of a server with a property schema `true`', (id) => {
    const { tools, changes } = show(id, createSurface([{ name: 'read' }, { name: 'set', inputSchema: anything }]));
    expect(tools.map(({ state }) => state)).toEqual(['unlisted', 'unlisted']);
    expect(changes.filter(({ kind }) => kind === 'dropped')).toMatchObject([
      {
        tool: 'read',
        message: expect.stringContaining('(in set)'),
        fact: { kind: 'measured', path: 'schemas.refused' },
      },
      { tool: 'set' },
    ]);
  });

  it('drops no tool for the schema `{}`, nor in a host that accepts `true`', () => {
    const empty = createSurface([{ name: 'set', inputSchema: { type: 'object', properties: { value: {} } } }]);
    expect(kindsOf('gemini-cli', empty)).not.toContain('dropped');
    expect(kindsOf('claude-code', createSurface([{ name: 'set', inputSchema: anything }]))).not.toContain('dropped');
  });

  it('are dropped in one server, and not in another', () => {
    const servers = [
      { name: 'one', surface: createSurface([{ name: 'set', inputSchema: anything }]) },
      { name: 'two', surface: createSurface([{ name: 'read' }]) },
    ];
    expect(showSurface(findHost('gemini-cli'), servers).tools.map(({ state }) => state)).toEqual(['unlisted', 'shown']);
  });

  it.each([
    ['claude-code', 'deferred'],
    ['qwen-code', 'deferred'],
    ['codex', 'shown'],
    ['goose', 'shown'],
  ])('%s has them %s', (id, state) => {
    const { tools, changes } = show(id, createSurface([{ name: 'read' }]));
    expect(tools).toMatchObject([{ state }]);
    expect(changes.some(({ kind }) => kind === 'deferred')).toBe(id !== 'goose');
  });

  it.each([
    ['claude-code', 'hidden'],
    ['gemini-cli', 'exposed'],
  ])('%s has tools for apps %s', (id, kind) => {
    const ofApp = { name: 'refresh', _meta: { ui: { visibility: ['app'] } } };
    const ofBoth = { name: 'show', _meta: { ui: { visibility: ['app', 'model'] } } };
    const { changes } = show(id, createSurface([ofApp, ofBoth]));
    expect(changes.filter((change) => change.kind === kind).map(({ tool }) => tool)).toEqual(['refresh']);
  });

  it('VS Code refuses the 129th tool', () => {
    const tools = Array.from({ length: 129 }, (_, index) => ({ name: `t${index}` }));
    expect(kindsOf('vscode', createSurface(tools))).toEqual(['refused']);
    expect(kindsOf('vscode', createSurface(tools.slice(1)))).toEqual([]);
  });
});

describe('texts', () => {
  it.each([
    ['claude-code', 4096],
    ['codex', 250],
    ['copilot-cli', 0],
    ['goose', 5000],
  ])('instructions of 5000 characters are %i in %s', (id, length) => {
    const { instructions } = show(id, createSurface([], 'x'.repeat(5000)));
    expect(instructions.map((text) => text?.length)).toEqual([
      length === 4096 || length === 250 || length === 0 ? length : 5000,
    ]);
  });

  it('says when a host never shows instructions, and nothing of a server without them', () => {
    expect(kindsOf('copilot-cli', createSurface([], 'Read first.'))).toEqual(['never-shown']);
    expect(kindsOf('copilot-cli', createSurface([]))).toEqual([]);
    expect(show('cursor', createSurface([], 'Read first.')).instructions).toEqual([null]);
  });

  it('cuts a description that is not deferred', () => {
    const profile = findHost('claude-code');
    const { deferral, ...tools } = profile.tools;
    const server = { name: 'a', surface: createSurface([{ name: 'read', description: 'x'.repeat(5000) }]) };
    expect(deferral).toBeDefined();
    expect(showSurface({ ...profile, tools }, [server]).tools[0]?.description).toHaveLength(4096);
    expect(showSurface(profile, [server]).tools[0]?.description).toHaveLength(5000);
  });
});

describe('schemas', () => {
  const inputSchema = {
    type: 'object',
    properties: {
      minimum: { type: 'integer', minimum: 1, default: 2, description: 'The least.' },
      mode: { enum: ['a'] },
    },
  };
  const surface = createSurface([{ name: 'read', inputSchema }]);

  it('lose bounds and defaults in Codex, but no property with such a name', () => {
    expect(show('codex', surface).tools[0]?.inputSchema).toEqual({
      type: 'object',
      properties: { minimum: { type: 'integer', description: 'The least.' }, mode: { enum: ['a'] } },
    });
    expect(kindsOf('codex', surface)).toContain('rewritten');
    expect(kindsOf('codex', createSurface([{ name: 'read' }]))).not.toContain('rewritten');
  });

  it('have bounds in the description in Copilot CLI', () => {
    expect(show('copilot-cli', surface).tools[0]?.inputSchema).toMatchObject({
      properties: { minimum: { default: 2, description: 'The least. (minimum: 1)' } },
    });
  });

  it('are closed by opencode unless they are', () => {
    expect(show('opencode', surface).tools[0]?.inputSchema).toEqual({ ...inputSchema, additionalProperties: false });
    const closed = createSurface([{ name: 'read', inputSchema: { type: 'object', additionalProperties: false } }]);
    expect(kindsOf('opencode', closed)).toEqual([]);
  });

  it.each(['claude-code', 'goose', 'qwen-code'])('stay as they are in %s', (id) => {
    expect(show(id, surface).tools[0]?.inputSchema).toEqual(inputSchema);
  });
});

describe('results with an output schema', () => {
  const surface = createSurface([{ name: 'read', outputSchema: { type: 'object' } }]);

  it.each([
    ['claude-code', 'and not its texts'],
    ['codex', 'and not its texts'],
    ['gemini-cli', 'and nothing of a result without texts'],
    ['goose', 'and a placeholder'],
    ['opencode', 'and not its `structuredContent`'],
  ])('lose a part in %s', (id, words) => {
    const lost = show(id, surface).changes.filter(({ kind }) => kind === 'lost');
    expect(lost).toMatchObject([{ tool: 'read', message: expect.stringContaining(words) }]);
    expect(kindsOf(id, createSurface([{ name: 'read' }]))).not.toContain('lost');
  });

  it.each(['qwen-code', 'copilot-cli', 'generic', 'cursor'])('lose nothing that is known in %s', (id) => {
    expect(kindsOf(id, surface)).not.toContain('lost');
  });
});

describe('showSurface', () => {
  const schema = fc
    .object({
      maxDepth: 4,
      withNullPrototype: false,
      key: fc.constantFrom('properties', 'minimum', 'items', 'anyOf', 'a'),
      values: [fc.boolean(), fc.string(), fc.integer()],
    })
    .map((value): Record<string, unknown> => ({ ...value }));
  const tool = fc.record({
    name: fc.string({ maxLength: 120 }),
    description: fc.string(),
    inputSchema: schema,
    outputSchema: schema,
  });
  const servers = fc.array(
    fc.record({
      name: fc.string({ maxLength: 40 }),
      surface: fc.tuple(fc.array(tool), fc.string()).map(([tools, text]) => createSurface(tools, text)),
    }),
    { maxLength: 3 },
  );

  it('never throws, keeps names within the limit, and answers the same again', () => {
    fc.assert(
      fc.property(servers, fc.constantFrom(...hostProfiles), (served, profile) => {
        const before = JSON.stringify(served);
        const view = showSurface(profile, served);
        expect(showSurface(profile, served)).toEqual(view);
        expect(JSON.stringify(served)).toBe(before);
        const { limit, long, namespace } = profile.names.value;
        const isCut = ['cut-end', 'cut-middle', 'hash'].includes(long) && namespace === null;
        for (const { state, name } of view.tools) {
          expect(name === null).toBe(state === 'unlisted');
          if (isCut && limit !== null) expect((name ?? '').length).toBeLessThanOrEqual(limit);
        }
        const labels = new Set(view.tools.map(({ label }) => label));
        for (const { tool: label } of view.changes) expect(label === null || labels.has(label)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
