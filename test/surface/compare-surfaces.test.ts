import { describe, expect, it } from 'vitest';
import { compareSurfaces } from '../../src/surface/compare-surfaces.ts';
import type { ServerIdentity } from '../../src/model/surface.ts';
import { normalizeSurface } from '../../src/surface/normalize.ts';

const empty = { capabilities: {}, instructions: null, tools: [], prompts: [], resources: [], resourceTemplates: [] };

const list = (before: object, after: object) =>
  compareSurfaces(normalizeSurface({ ...empty, ...before }), normalizeSurface({ ...empty, ...after })).map(
    ({ severity, id }) => `${severity} ${id}`,
  );

const limit = { type: 'integer', minimum: 1, maximum: 10 };
const search = { name: 'search', description: 'Searches.', inputSchema: { type: 'object', properties: { limit } } };

/** What changes when the input schema of a tool does. */
const listInput = (before: object, after: object) =>
  list({ tools: [{ ...search, inputSchema: before }] }, { tools: [{ ...search, inputSchema: after }] });
const listOutput = (before: object, after: object) =>
  list({ tools: [{ ...search, outputSchema: before }] }, { tools: [{ ...search, outputSchema: after }] });
const withLimit = (schema: unknown, rest: object = {}) => ({ type: 'object', properties: { limit: schema }, ...rest });
const closed = { additionalProperties: false };

describe('two surfaces of a server', () => {
  it('have no changes where they are the same', () => {
    expect(list({ tools: [search] }, { tools: [structuredClone(search)] })).toEqual([]);
  });

  it.each<[string, ServerIdentity | undefined, ServerIdentity | undefined, string[]]>([
    [
      'another version',
      { name: 'notes', version: '1.4.0' },
      { name: 'notes', version: '2.0.0' },
      ['cosmetic server.versionChanged'],
    ],
    [
      'another build',
      { name: 'notes', version: '1.4.0.dev3+g1a2b' },
      { name: 'notes', version: '1.4.0.dev4+g4d5e' },
      [],
    ],
    [
      'another name',
      { name: 'notes', version: null },
      { name: 'FastMCP', version: null },
      ['review server.nameChanged'],
    ],
    ['one that only one side has', undefined, { name: 'notes', version: '1.4.0' }, []],
  ])('classify what a server says of itself: %s', (_, before, after, expected) => {
    const [from, to] = [before, after].map((server) => ({ ...normalizeSurface(empty), ...(server && { server }) }));
    expect(compareSurfaces(from!, to!).map(({ severity, id }) => `${severity} ${id}`)).toEqual(expected);
  });

  it.each<[string, object, object, string[]]>([
    ['a removed tool', { tools: [search] }, {}, ['breaking tool.search.removed']],
    ['a new tool', {}, { tools: [search] }, ['additive tool.search.added']],
    [
      'a renamed tool',
      { tools: [search] },
      { tools: [{ ...search, name: 'find' }] },
      ['breaking tool.search.removed', 'additive tool.find.added'],
    ],
    [
      'a changed description',
      { tools: [search] },
      { tools: [{ ...search, description: 'Finds.' }] },
      ['review tool.search.descriptionChanged'],
    ],
    [
      'a changed title',
      { tools: [search] },
      { tools: [{ ...search, title: 'Search' }] },
      ['cosmetic tool.search.titleChanged'],
    ],
    [
      'a tool that is not read-only any more',
      { tools: [{ ...search, annotations: { readOnlyHint: true } }] },
      { tools: [{ ...search, annotations: { readOnlyHint: false } }] },
      ['breaking tool.search.annotations.readOnlyHintChanged'],
    ],
    [
      'a tool that says to be harmless',
      { tools: [search] },
      { tools: [{ ...search, annotations: { destructiveHint: false } }] },
      ['review tool.search.annotations.destructiveHintChanged'],
    ],
    [
      'a hint with the value of its absence',
      { tools: [search] },
      { tools: [{ ...search, annotations: { readOnlyHint: false } }] },
      ['cosmetic tool.search.annotations.readOnlyHintChanged'],
    ],
    [
      'a tool that requires tasks',
      { tools: [search] },
      { tools: [{ ...search, execution: { taskSupport: 'required' } }] },
      ['breaking tool.search.taskSupportChanged'],
    ],
    [
      'another app of a tool',
      { tools: [{ ...search, _meta: { ui: { resourceUri: 'ui://a' } } }] },
      { tools: [{ ...search, _meta: { ui: { resourceUri: 'ui://b' } } }] },
      ['review tool.search.meta.ui.resourceUriChanged'],
    ],
    [
      'other instructions',
      { instructions: 'Search first.' },
      { instructions: 'Add first.' },
      ['review server.instructionsChanged'],
    ],
    [
      'capabilities',
      { capabilities: { tools: { listChanged: true }, logging: {} } },
      { capabilities: { tools: {}, prompts: {} } },
      [
        'breaking server.capabilities.loggingRemoved',
        'breaking server.capabilities.tools.listChangedRemoved',
        'additive server.capabilities.promptsAdded',
      ],
    ],
    [
      'arguments of a prompt',
      { prompts: [{ name: 'greet', arguments: [{ name: 'who' }, { name: 'how', required: true }] }] },
      { prompts: [{ name: 'greet', arguments: [{ name: 'who', required: true }, { name: 'when' }] }] },
      [
        'breaking prompt.greet.argument.how.removed',
        'breaking prompt.greet.argument.who.becameRequired',
        'additive prompt.greet.argument.when.added',
      ],
    ],
    [
      'resources and templates',
      { resources: [{ uri: 'a://1', name: 'one', mimeType: 'text/plain' }] },
      {
        resources: [{ uri: 'a://1', name: 'one', mimeType: 'text/html' }],
        resourceTemplates: [{ uriTemplate: 'a://{id}', name: 'any' }],
      },
      ['review resource."a://1".mimeTypeChanged', 'additive template."a://{id}".added'],
    ],
  ])('report %s', (_what, before, after, changes) => {
    expect(list(before, after)).toEqual(changes);
  });
});

describe('a change of an input schema', () => {
  it.each<[string, object, object, string[]]>([
    [
      'a narrowed type',
      withLimit({ type: ['integer', 'string'] }),
      withLimit({ type: 'integer' }),
      ['breaking input.limit.typeNarrowed'],
    ],
    [
      'a widened type',
      withLimit({ type: 'integer' }),
      withLimit({ type: 'number' }),
      ['additive input.limit.typeWidened'],
    ],
    [
      'another type',
      withLimit({ type: 'integer' }),
      withLimit({ type: 'string' }),
      ['breaking input.limit.typeChanged'],
    ],
    [
      'an optional value that may be null',
      withLimit(limit),
      withLimit({ anyOf: [limit, { type: 'null' }] }),
      ['additive input.limit.typeWidened'],
    ],
    ['a lower maximum', withLimit(limit), withLimit({ ...limit, maximum: 5 }), ['breaking input.limit.rangeNarrowed']],
    [
      'a longer list of values',
      withLimit({ enum: ['a'] }),
      withLimit({ enum: ['b', 'a'] }),
      ['additive input.limit.valuesWidened'],
    ],
    [
      'a shorter list of values',
      withLimit({ enum: ['a', 'b'] }),
      withLimit({ const: 'a' }),
      ['breaking input.limit.valuesNarrowed'],
    ],
    [
      'a new required argument',
      { type: 'object' },
      withLimit({}, { required: ['limit'] }),
      ['breaking input.limit.addedRequired'],
    ],
    [
      'an argument that became required',
      withLimit({}),
      withLimit({}, { required: ['limit'] }),
      ['breaking input.limit.becameRequired'],
    ],
    [
      'a new optional argument of a closed object',
      { type: 'object', ...closed },
      withLimit(limit, closed),
      ['additive input.limit.added'],
    ],
    ['a new optional argument of an open object', { type: 'object' }, withLimit(limit), ['review input.limit.added']],
    [
      'an argument that a closed object lost',
      withLimit(limit, closed),
      { type: 'object', ...closed },
      ['breaking input.limit.removed'],
    ],
    ['an argument that an open object lost', withLimit(limit), { type: 'object' }, ['review input.limit.removed']],
    ['an object that was closed', withLimit(limit), withLimit(limit, closed), ['breaking input.closed']],
    [
      'a new pattern',
      withLimit({ type: 'string' }),
      withLimit({ type: 'string', pattern: '^x' }),
      ['breaking input.limit.patternNarrowed'],
    ],
    [
      'another pattern',
      withLimit({ type: 'string', pattern: '^y' }),
      withLimit({ type: 'string', pattern: '^x' }),
      ['review input.limit.patternChanged'],
    ],
    [
      'a new format',
      withLimit({ type: 'string' }),
      withLimit({ type: 'string', format: 'date' }),
      ['review input.limit.formatNarrowed'],
    ],
    [
      'a new condition',
      withLimit(limit),
      withLimit({ ...limit, not: { const: 3 } }),
      ['review input.limit.conditionChanged'],
    ],
    [
      'another description of an argument',
      withLimit({ description: 'a' }),
      withLimit({ description: 'b' }),
      ['review input.limit.descriptionChanged'],
    ],
    ['another default', withLimit({ default: 1 }), withLimit({ default: 2 }), ['review input.limit.defaultChanged']],
    [
      'another title of an argument',
      withLimit({ title: 'a' }),
      withLimit({ title: 'b' }),
      ['cosmetic input.limit.titleChanged'],
    ],
    [
      'the same schema in other words',
      withLimit({ type: ['integer', 'null'] }),
      withLimit({ anyOf: [{ type: 'null' }, { type: 'integer' }] }),
      ['cosmetic input.rewritten'],
    ],
    [
      'a definition that moved',
      withLimit(limit),
      withLimit({ $ref: '#/$defs/limit' }, { $defs: { limit } }),
      ['cosmetic input.rewritten'],
    ],
    [
      'a kind that a union lost',
      withLimit({
        oneOf: [
          { type: 'object', properties: { kind: { const: 'a' } }, required: ['kind'] },
          { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] },
        ],
      }),
      withLimit({ oneOf: [{ type: 'object', properties: { kind: { const: 'a' } }, required: ['kind'] }] }),
      ['breaking input.limit.alternativesNarrowed'],
    ],
  ])('reports %s', (_what, before, after, changes) => {
    expect(listInput(before, after)).toEqual(changes.map((change) => change.replace(' ', ' tool.search.')));
  });
});

describe('a change of an output schema', () => {
  it.each<[string, object, object, string[]]>([
    [
      'a widened type',
      withLimit({ type: 'integer' }),
      withLimit({ type: ['integer', 'null'] }),
      ['breaking output.limit.typeWidened'],
    ],
    [
      'a narrowed type',
      withLimit({ type: ['integer', 'null'] }),
      withLimit({ type: 'integer' }),
      ['additive output.limit.typeNarrowed'],
    ],
    [
      'a property that is not promised any more',
      withLimit({}, { required: ['limit'] }),
      withLimit({}),
      ['breaking output.limit.becameOptional'],
    ],
    ['a new property', { type: 'object' }, withLimit(limit), ['additive output.limit.added']],
    [
      'a new property of a closed object',
      { type: 'object', ...closed },
      withLimit(limit, closed),
      ['review output.limit.added'],
    ],
    ['a property that is gone', withLimit(limit), { type: 'object' }, ['review output.limit.removed']],
  ])('reports %s the other way round', (_what, before, after, changes) => {
    expect(listOutput(before, after)).toEqual(changes.map((change) => change.replace(' ', ' tool.search.')));
  });

  it('is breaking where nothing is left of it, and additive where there was none', () => {
    const schema = { outputSchema: { type: 'object' } };
    expect(list({ tools: [{ ...search, ...schema }] }, { tools: [search] })).toEqual([
      'breaking tool.search.output.removed',
    ]);
    expect(list({ tools: [search] }, { tools: [{ ...search, ...schema }] })).toEqual([
      'additive tool.search.output.added',
    ]);
  });
});

describe('the comparison', () => {
  it('ends for recursive schemas, and finds what changed in them', () => {
    const tree = (value: object) => ({
      type: 'object',
      properties: { value, children: { type: 'array', items: { $ref: '#' } } },
    });
    expect(listInput(tree({ type: 'string' }), tree({ type: 'integer' }))).toContain(
      'breaking tool.search.input.value.typeChanged',
    );
    expect(listInput(tree({ type: 'string' }), tree({ type: 'string' }))).toEqual([]);
  });

  it('ends for references that make few schemas endlessly many, and decides nothing then', () => {
    const names = Array.from({ length: 40 }, (_, index) => index);
    const double = (leaf: object) => ({
      type: 'object',
      properties: { a: { $ref: '#/$defs/d0' } },
      $defs: {
        ...Object.fromEntries(
          names.map((index) => {
            const next = { $ref: `#/$defs/d${index + 1}` };
            return [`d${index}`, { type: 'object', properties: { a: next, b: next } }];
          }),
        ),
        d40: leaf,
      },
    });
    const changes = listInput(double({ type: 'string' }), double({ type: 'integer' }));
    expect(new Set(changes.map((change) => change.split(' ')[0]))).toContain('review');
    expect(listInput(double({ type: 'string' }), double({ type: 'string' }))).toEqual([]);
  });
});
