import { describe, expect, it } from 'vitest';
import { type Line, compareFacts, formatLine } from '../../bench/hosts/compare.ts';
import {
  type Facts,
  readDeferral,
  readDescription,
  readForApps,
  readInstructions,
  readLimit,
  readLongResult,
  readNames,
  readRefused,
  readResults,
  readSchemaChanges,
} from '../../bench/hosts/facts.ts';
import { boundedSchema, countWords, image, instructions, longNames, oddName } from '../../bench/hosts/probe.ts';
import { createSeen, type Seen, type Turn } from '../../bench/hosts/scripts.ts';
import type { SeenPart, SeenRequest, SeenTool } from '../../bench/hosts/seen.ts';
import type { HostProfile } from '../../src/hosts/profile.ts';

const createRequest = (members: Partial<SeenRequest> = {}): SeenRequest => ({
  model: 'm',
  isStream: false,
  system: '',
  messages: [],
  tools: [],
  otherTools: '',
  results: [],
  ...members,
});

const createTool = (name: string, members: Partial<SeenTool> = {}): SeenTool => ({
  namespace: null,
  name,
  description: '',
  schema: {},
  ...members,
});

const see = (members: Partial<SeenRequest>): Seen => ({ ...createSeen(), first: createRequest(members) });
const say = (text: string) => [{ role: 'user', parts: [{ kind: 'text' as const, text }] }];
const noRequest = { missing: 'No request reached the provider.' };

function createTurn(parts: SeenPart[], members: Partial<Turn> = {}, isError: boolean | null = null): Turn {
  return { result: { id: 'call_1', parts, isError }, added: [], after: createRequest(), ...members };
}

const text = (words: string): SeenPart => ({ kind: 'text', text: words });

describe('names', () => {
  const nameAll = (name: (tool: string) => string) =>
    readNames(
      see({ tools: ['say', oddName].map((tool) => createTool(name(tool))) }),
      see({ tools: ['say', ...longNames].map((tool) => createTool(name(tool))) }),
    );

  it('are kept whole', () => {
    expect(nameAll((tool) => `probe__${tool}`)).toEqual({
      value: { pattern: '{server}__{tool}', namespace: null, kept: null, limit: null, long: 'kept' },
    });
  });

  it.each([
    ['cut-end', (name: string) => name.slice(0, 64)],
    ['cut-middle', (name: string) => (name.length > 64 ? `${name.slice(0, 30)}...${name.slice(-30)}` : name)],
    ['hash', (name: string) => (name.length > 64 ? `${name.slice(0, 55)}_0123abcd` : name)],
  ])('are cut: %s', (long, cut) => {
    const shown = nameAll((tool) => cut(`mcp_probe_${tool.replaceAll(/[^A-Za-z0-9_.-]/g, '_')}`));
    expect(shown).toEqual({
      value: { pattern: 'mcp_{server}_{tool}', namespace: null, kept: 'A-Za-z0-9_.-', limit: 64, long },
    });
  });

  it('are read from a list of deferred tools, from which one is dropped', () => {
    const list = (names: readonly string[]) =>
      say(`Deferred:\n${names.map((name) => `mcp__probe__${name}`).join('\n')}`);
    const short = longNames.filter(({ length }) => length <= 60);
    const shown = readNames(
      see({ messages: list(['say', 'odd_a_b_c_d']) }),
      see({ messages: list(['say', ...short]) }),
    );
    expect(shown).toMatchObject({ value: { kept: 'A-Za-z0-9_', limit: 72, long: 'tool-dropped' } });
  });

  it('are not measured without a tool of the server', () => {
    expect(readNames(createSeen(), createSeen())).toEqual(noRequest);
    expect(readNames(see({ tools: [createTool('shell')] }), createSeen())).toHaveProperty('missing');
    expect(readNames(see({ tools: [createTool('probe__say')] }), see({}))).toHaveProperty('missing');
  });
});

describe('tools', () => {
  it('are shown at once, deferred, or not in the request', () => {
    expect(readDeferral(see({ tools: [createTool('probe__say')] }))).toEqual({ value: { kind: 'none' } });
    expect(readDeferral(see({ messages: say('mcp__probe__say') }))).toEqual({
      value: { kind: 'search', characters: 0 },
    });
    const part = countWords('d', 150).trimEnd();
    const listed = say(`mcp__probe__say\nmcp__probe__described: ${part}...`);
    expect(readDeferral(see({ messages: listed }))).toEqual({ value: { kind: 'search', characters: part.length + 3 } });
    expect(readDeferral(see({ tools: [createTool('exec')] }))).toHaveProperty('missing');
  });

  it('for apps are shown or hidden', () => {
    expect(readForApps(see({ tools: [createTool('probe__app_only')] }))).toEqual({ value: 'shown' });
    expect(readForApps(see({ tools: [createTool('probe__say')] }))).toEqual({ value: 'hidden' });
  });
});

describe('texts', () => {
  it('are cut with or without dots', () => {
    const long = countWords('i', 500);
    expect(readLimit(long, `before ${long} after`)).toEqual({ limit: null });
    expect(readLimit(long, `before ${long.slice(0, 247)}... after`)).toEqual({ limit: 250 });
    expect(readLimit(long, `before ${long.slice(0, 250)}\n`)).toEqual({ limit: 250 });
    expect(readLimit(long, `before ${long.slice(0, 250)}…`)).toEqual({ limit: 250 });
    expect(readLimit(long, 'before and after')).toBeNull();
  });

  it('of instructions are in one part of the request', () => {
    const cut = `The server says: ${instructions.slice(0, 4096)}`;
    expect(readInstructions(see({ system: cut }))).toEqual({ value: { shown: 'system-prompt', limit: 4096 } });
    expect(readInstructions(see({ messages: say(cut) }))).toEqual({ value: { shown: 'message', limit: 4096 } });
    expect(readInstructions(see({ otherTools: cut }))).toEqual({ value: { shown: 'namespace', limit: 4096 } });
    expect(readInstructions(see({ system: `- mcp__probe: ${instructions}` }))).toEqual({
      value: { shown: 'namespace', limit: null },
    });
    const tools = [createTool('probe__say')];
    expect(readInstructions(see({ system: 'nothing', tools }))).toEqual({ value: { shown: 'never' } });
    expect(readInstructions(see({ system: 'nothing' }))).toHaveProperty('missing');
  });

  it('of descriptions are in the tool', () => {
    const description = countWords('d', 500);
    const shown = see({ tools: [createTool('probe__described', { description: description.slice(0, 100) })] });
    expect(readDescription(shown, description)).toEqual({ value: { limit: 100 } });
    expect(readDescription(see({}), description)).toHaveProperty('missing');
  });
});

describe('schemas', () => {
  const read = (schema: Record<string, unknown>) =>
    readSchemaChanges(see({ tools: [createTool('probe__bounded', { schema })] }));
  const { properties } = boundedSchema;

  it('are kept, closed, extended or lose keywords', () => {
    expect(read(boundedSchema)).toEqual({ value: [] });
    expect(read({ ...boundedSchema, additionalProperties: false })).toEqual({ value: [{ kind: 'closed' }] });
    expect(read({ ...boundedSchema, properties: { ...properties, why: {} } })).toEqual({
      value: [{ kind: 'parameter-added' }],
    });
    const { pattern: _, ...code } = properties.code;
    expect(read({ ...boundedSchema, properties: { ...properties, code } })).toEqual({
      value: [{ kind: 'keywords-dropped', keywords: ['pattern'] }],
    });
    const described = { ...code, description: 'pattern: ^[a-z]+$' };
    expect(read({ ...boundedSchema, properties: { ...properties, code: described } })).toEqual({
      value: [{ kind: 'keywords-described', keywords: ['pattern'] }],
    });
    expect(readSchemaChanges(see({}))).toHaveProperty('missing');
  });

  it('with `true` drop nothing, the tool or the server', () => {
    const list = (...names: string[]) => see({ tools: names.map((name) => createTool(`probe__${name}`)) });
    expect(readRefused(list('say', 'with_true'))).toEqual({ value: null });
    expect(readRefused(list('say'))).toEqual({ value: { shape: 'property-true', drops: 'tool' } });
    expect(readRefused(list())).toEqual({ value: { shape: 'property-true', drops: 'server' } });
    expect(readRefused(createSeen())).toEqual(noRequest);
  });
});

describe('results', () => {
  const frame = 'Wall time: 0.01 seconds\nOutput:';
  const read = (tool: string, turn: Turn, isReceived = true): Facts => {
    const turns = new Map([
      ['say', createTurn([text(`${frame}\nmark-say`)])],
      [tool, turn],
    ]);
    return readResults({ ...createSeen(), first: createRequest(), turns }, () => isReceived);
  };
  const readOne = (path: string, tool: string, parts: SeenPart[], added: Turn['added'] = []) =>
    read(tool, createTurn([text(frame.replace('0.01', '0.25')), ...parts], { added })).get(`results.${path}`);

  it.each([
    ['structured', [text('{"found":"mark-structured"}')], 'structured'],
    ['structured', [text('mark-text')], 'text'],
    ['structured', [text('mark-text {"found":"mark-structured"}')], 'both'],
  ])('have %s content: %j', (path, parts, value) => {
    expect(readOne(path, 'structured', parts)).toEqual({ value });
  });

  it('have structured content alone', () => {
    const readAlone = (words: string) => readOne('structuredAlone', 'structured_alone', [text(words)]);
    expect(readAlone('{"found":"mark-alone"}')).toEqual({ value: 'json' });
    expect(readAlone('{}')).toEqual({ value: 'nothing' });
    expect(readAlone('(empty result)')).toEqual({ value: 'placeholder' });
  });

  it('have images next to structured content', () => {
    const data: SeenPart = { kind: 'image', text: image };
    const readNext = (words: string, parts: SeenPart[]) => {
      const turns = new Map([
        ['structured', createTurn([text(words)])],
        ['structured_image', createTurn(parts)],
      ]);
      const facts = readResults({ ...createSeen(), first: createRequest(), turns }, () => true);
      return facts.get('results.structuredImage');
    };
    const structured = 'mark-structured';
    expect(readNext(structured, [text(structured), data])).toEqual({ value: 'shown' });
    expect(readNext(structured, [text(structured)])).toEqual({ value: 'lost' });
    expect(readNext('mark-text', [text('mark-text')])).toBeUndefined();
  });

  it('have images, as parts, messages, JSON, notes or nothing', () => {
    const data: SeenPart = { kind: 'image', text: image };
    expect(readOne('image', 'image', [data])).toEqual({ value: 'shown' });
    expect(readOne('image', 'image', [text('see')], [{ role: 'user', parts: [data] }])).toEqual({ value: 'message' });
    expect(readOne('image', 'image', [text(`{"type":"image","data":"${image}"}`)])).toEqual({ value: 'json' });
    expect(readOne('image', 'image', [text('An image was omitted.')])).toEqual({ value: 'note' });
    expect(readOne('image', 'image', [text('saved to /tmp/x/blob.png')])).toEqual({ value: 'file' });
    expect(readOne('image', 'image', [])).toEqual({ value: 'lost' });
    expect(readOne('image', 'image', [text('(empty result)')])).toEqual({ value: 'lost' });
  });

  it('have errors with a mark, words or neither', () => {
    const readError = (words: string, isError: boolean | null) =>
      read('fail', createTurn([text(words)], {}, isError)).get('results.error');
    expect(readError('mark-fail', true)).toEqual({ value: 'marked' });
    expect(readError('The server failed: mark-fail', null)).toEqual({ value: 'prefixed' });
    expect(readError('mark-fail', null)).toEqual({ value: 'unmarked' });
  });

  it('are not measured if the call did not reach the server', () => {
    expect(read('image', createTurn([text('refused')]), false).get('results.image')).toHaveProperty('missing');
  });

  it('are cut from a size', () => {
    const readSizes = (cut: (words: string) => string, sizes: readonly number[]) =>
      readLongResult({
        ...createSeen(),
        turns: new Map(sizes.map((size) => [`sized:${size}`, createTurn([text(cut(countWords('s', size)))])])),
      });
    const cutAll = (words: string) =>
      words.length > 1500 ? `${words.slice(0, 500)}…${words.slice(-300)}(rest in /tmp/out/rest.txt)` : words;
    expect(readSizes(cutAll, [10_000, 1000, 2000])).toEqual({
      value: { whole: 1000, cut: 2000, head: 500, tail: 300, rest: 'file', isError: false },
    });
    expect(readSizes((words) => words, [10_000])).toEqual({ value: null });
    expect(readSizes((words) => words, [])).toHaveProperty('missing');
  });
});

describe('the comparison with a profile', () => {
  const basis = { kind: 'measured', version: '1.0.0', date: '2026-11-26' } as const;
  const profile: HostProfile = {
    id: 'codex',
    title: 'A host',
    names: { value: { pattern: '{tool}', namespace: null, kept: null, limit: 64, long: 'cut-middle' }, basis },
    tools: { forApps: { value: 'hidden', basis } },
    instructions: { value: { shown: 'reminder', limit: 4096 }, basis },
    schemas: { changes: { value: [{ kind: 'closed' }, { kind: 'parameter-added' }], basis } },
    timeout: { value: 60, basis },
    results: {
      image: { value: 'shown', basis },
      long: { value: { over: 1000, unit: 'tokens', head: 500, tail: 0, rest: 'file', isError: false }, basis },
    },
  };
  const compare = (path: string, value: unknown): Line['kind'] | undefined =>
    compareFacts(profile, new Map([[path, { value }]])).find((line) => line.path === path)?.kind;

  it.each([
    ['names', { pattern: '{tool}', namespace: null, kept: null, limit: 64, long: 'cut-middle' }, 'same'],
    ['names', { pattern: '{tool}', namespace: null, kept: null, limit: 63, long: 'cut-middle' }, 'changed'],
    ['tools.forApps', 'hidden', 'same'],
    ['tools.forApps', 'shown', 'changed'],
    ['instructions', { shown: 'message', limit: 4096 }, 'same'],
    ['instructions', { shown: 'message', limit: 2048 }, 'changed'],
    ['instructions', { shown: 'system-prompt', limit: 4096 }, 'changed'],
    ['schemas.changes', [{ kind: 'parameter-added' }, { kind: 'closed' }], 'same'],
    ['schemas.changes', [{ kind: 'closed' }], 'changed'],
    ['timeout', 61, 'same'],
    ['timeout', 30, 'changed'],
    ['results.long', { whole: 3900, cut: 4010, head: 490, tail: 0, rest: 'file', isError: false }, 'same'],
    ['results.long', { whole: 3900, cut: 4010, head: 490, tail: 0, rest: 'dropped', isError: false }, 'changed'],
    ['results.long', null, 'changed'],
    ['results.audio', 'lost', 'new'],
  ])('of %s %j: %s', (path, value, kind) => {
    expect(compare(path, value)).toBe(kind);
  });

  it('of a limit that counts more than the name is of the name alone', () => {
    const value = { pattern: '{tool}', namespace: 'mcp__{server}', kept: null, limit: 128, long: 'hash' } as const;
    const counted: HostProfile = {
      ...profile,
      names: { value: { ...value, counted: 'mcp__{server}__{tool}' }, basis },
    };
    // The server of the benchmark is `probe`.
    const kinds = [116, 128].map(
      (limit) => compareFacts(counted, new Map([['names', { value: { ...value, limit } }]]))[0]?.kind,
    );
    expect(kinds).toEqual(['same', 'changed']);
  });

  it('says what was not measured, and why', () => {
    const lines = compareFacts(profile, new Map([['timeout', { missing: 'It took too long.' }]]));
    expect(lines.map(({ kind }) => kind)).toEqual(lines.map(() => 'not-measured'));
    expect(lines.map(formatLine)).toContain('not measured  timeout: It took too long.');
    const changed: Line = { path: 'timeout', kind: 'changed', profile: 60, measured: 30 };
    expect(formatLine(changed)).toBe('changed       timeout: the profile says 60, measured 30');
  });
});
