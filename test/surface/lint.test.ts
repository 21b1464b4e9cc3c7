import { describe, expect, it } from 'vitest';
import { lintSurface } from '../../src/surface/lint.ts';
import { normalizeSurface } from '../../src/surface/normalize.ts';
import { compareSizes, measureTool, measureTools } from '../../src/surface/report.ts';

const empty = { capabilities: {}, instructions: null, tools: [], prompts: [], resources: [], resourceTemplates: [] };
const words = { type: 'string', description: 'What to look for.' };
const search = { name: 'search', description: 'Searches.', inputSchema: { type: 'object', properties: { words } } };

const lint = (surface: object) => lintSurface(normalizeSurface({ ...empty, ...surface })).map(({ id }) => id);
const lintInput = (inputSchema: object) => lint({ tools: [{ ...search, inputSchema }] });

describe('the lint of a surface', () => {
  it('finds nothing in one that is in order', () => {
    expect(
      lint({ tools: [search], instructions: 'Search first. 👩‍💻', prompts: [{ name: 'a', description: 'A.' }] }),
    ).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    ['a missing description', { tools: [{ ...search, description: ' ' }] }, ['tool.search.description-missing']],
    ['a prompt without one', { prompts: [{ name: 'greet' }] }, ['prompt.greet.description-missing']],
    [
      'a description of two tools',
      { tools: [search, { ...search, name: 'find' }] },
      ['tool.find.description-duplicate'],
    ],
    [
      'two tools of one name',
      { tools: [search, { ...search, description: 'Other.' }] },
      ['tool.search.name-duplicate'],
    ],
    ['bidirectional text', { tools: [{ ...search, description: 'Safe\u202e.' }] }, ['tool.search.hidden-text']],
    ['invisible instructions', { instructions: 'Hi\u{e0041}' }, ['server.hidden-text']],
    [
      'a name that models cannot call',
      { tools: [{ ...search, name: 'notes/search' }] },
      ['tool."notes/search".name-refused'],
    ],
    [
      'hints that contradict',
      { tools: [{ ...search, annotations: { readOnlyHint: true, destructiveHint: true } }] },
      ['tool.search.annotations-contradict'],
    ],
  ])('finds %s', (_what, surface, findings) => {
    expect(lint(surface)).toEqual(findings);
  });

  it.each<[string, object, string[]]>([
    ['no object', {}, ['schema-not-object']],
    ['alternatives at the top', { type: 'object', anyOf: [{}] }, ['schema-joined']],
    ['a refused name of a parameter', { type: 'object', properties: { 'a b': words } }, ['parameter-name-refused']],
    [
      'an array of anything',
      { type: 'object', properties: { list: { ...words, type: 'array' } } },
      ['array-without-items'],
    ],
    [
      'a parameter without a description',
      { type: 'object', properties: { a: { type: 'string' } } },
      ['parameter-undescribed'],
    ],
    ['a described definition', { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: words } }, []],
    ['a described alternative', { type: 'object', properties: { a: { anyOf: [words, { type: 'null' }] } } }, []],
  ])('reports %s in an input schema', (_what, schema, rules) => {
    expect(lintInput(schema)).toEqual(rules.map((rule) => `tool.search.${rule}`));
  });
});

describe('the size of a tool', () => {
  it('is what a model reads of it, in bytes of UTF-8', () => {
    const { tools } = normalizeSurface({ ...empty, tools: [{ ...search, title: 'Not read', description: 'Söker.' }] });
    const read =
      '{"name":"search","description":"Söker.","inputSchema":{"properties":{"words":{"description":"What to look for.","type":"string"}},"type":"object"}}';
    expect(tools.map(measureTool)).toEqual([new TextEncoder().encode(read).length]);
  });

  it('is next to what it was', () => {
    const [before, after] = [
      [search],
      [
        { ...search, description: 'Searches notes.' },
        { name: 'a', inputSchema: {} },
      ],
    ].map((tools) => normalizeSurface({ ...empty, tools }));
    if (before === undefined || after === undefined) throw new Error('Two surfaces are compared.');
    const [large, small] = compareSizes(measureTools(before), measureTools(after));
    expect((large?.bytes ?? 0) - (large?.bytesBefore ?? 0)).toBe(' notes'.length);
    expect([small?.name, small?.bytesBefore]).toEqual(['a', null]);
  });
});
