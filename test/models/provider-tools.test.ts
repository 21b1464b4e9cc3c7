import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import type { FunctionTool } from '../../src/models/language-model.ts';
import { describeToolChanges, translateCall } from '../../src/models/provider-tools.ts';

const object = { type: 'object' as const };
const offer = (name: string, inputSchema: FunctionTool['inputSchema'] = object) =>
  ({ type: 'function', name, inputSchema }) as const;
const translate = (names: readonly string[], prompt: LanguageModelV4Prompt = []) =>
  translateCall({ prompt, tools: names.map((name) => offer(name)) });
const spell = (...names: string[]) => translate(names).call.tools.map(({ name }) => name);
const callOf = (toolName: string, input = '{}') => ({ type: 'tool-call' as const, toolCallId: '1', toolName, input });

describe('the names of tools for a provider', () => {
  it.each([
    ['read_note', 'read_note'],
    ['read-note', 'read-note'],
    ['a'.repeat(64), 'a'.repeat(64)],
    ['files.read', 'files_read'],
    ['files/read all', 'files_read_all'],
    ['3d-print', '_3d-print'],
    ['-x', '_-x'],
    ['', '_'],
  ])('are spelled so that all providers take them: %j', (name, spelling) => {
    expect(spell(name)).toEqual([spelling]);
  });

  it('end with a hash where they are too long', () => {
    const long = `${'a'.repeat(70)}.b`;
    const [one, other] = spell(long, `${long}c`);
    expect(one).toMatch(/^a{55}_[0-9a-f]{8}$/);
    expect(other).toMatch(/^a{55}_[0-9a-f]{8}$/);
    expect(one).not.toBe(other);
  });

  it('are unique, whatever the order of the tools is', () => {
    const names = ['a.b', 'a/b', 'a_b', 'c.d'];
    const spelled = new Map(names.map((name, index) => [name, spell(...names)[index]]));
    expect(spelled.get('a_b')).toBe('a_b');
    expect(spelled.get('c.d')).toBe('c_d');
    expect(spelled.get('a.b')).toMatch(/^a_b_[0-9a-f]{8}$/);
    expect(new Set(spelled.values()).size).toBe(4);
    const turned = names.toReversed();
    expect(new Map(turned.map((name, index) => [name, spell(...turned)[index]]))).toEqual(spelled);
  });

  it('are unique although a server has a tool of the name with the hash', () => {
    const [, hashed = ''] = spell('a_b', 'a.b');
    const spelled = spell('a_b', 'a.b', hashed);
    expect(new Set(spelled).size).toBe(3);
    expect(spelled[2]).toBe(hashed);
  });

  it('are read back in answers, and unknown ones left as they are', () => {
    const { readContent } = translate(['files.read']);
    expect(readContent([callOf('files_read'), callOf('files.read'), callOf('other')])).toEqual([
      callOf('files.read'),
      callOf('files.read'),
      callOf('other'),
    ]);
  });

  it('are the same in the conversation, also of a tool that was never offered', () => {
    const prompt: LanguageModelV4Prompt = [
      {
        role: 'assistant',
        content: [
          { ...callOf('files.read'), input: { path: 'a' } },
          { ...callOf('files/read'), input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: '1', toolName: 'files.read', output: { type: 'text', value: 'A.' } },
        ],
      },
    ];
    const { call } = translate(['files.read'], prompt);
    expect(call.prompt).toMatchObject([
      {
        content: [
          { toolName: 'files_read', input: { path: 'a' } },
          { toolName: expect.stringMatching(/^files_read_/) },
        ],
      },
      { content: [{ toolName: 'files_read' }] },
    ]);
  });

  it('are those of the tool that must be called', () => {
    const { call } = translateCall({
      prompt: [],
      tools: [offer('files.read')],
      toolChoice: { type: 'tool', toolName: 'files.read' },
    });
    expect(call.toolChoice).toEqual({ type: 'tool', toolName: 'files_read' });
  });
});

describe('the input schemas of tools for a provider', () => {
  const adapt = (schema: FunctionTool['inputSchema']) =>
    translateCall({ prompt: [], tools: [offer('find', schema)] }).call.tools[0]?.inputSchema;

  it('stay as they are where providers take them', () => {
    const schema = { type: 'object' as const, properties: { id: { anyOf: [{ type: 'string' as const }] } } };
    expect(adapt(schema)).toBe(schema);
    expect(adapt({ properties: {} })).toEqual({ type: 'object', properties: {} });
  });

  it.each(['anyOf', 'oneOf', 'allOf', 'enum', 'not'])('are wrapped with %s at the top', (keyword) => {
    const schema = { type: 'object' as const, [keyword]: keyword === 'not' ? {} : [{ required: ['id'] }] };
    expect(adapt(schema)).toEqual({
      type: 'object',
      properties: { input: schema },
      required: ['input'],
      additionalProperties: false,
    });
  });

  it('keep their references, with definitions at the top', () => {
    const adapted = adapt({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      oneOf: [{ $ref: '#' }, { $ref: '#/$defs/note' }, { $ref: '#/properties/id' }],
      properties: { id: {}, $ref: { type: 'string' }, value: { const: { $ref: '#' } } },
      $defs: { note: { properties: { parent: { $ref: '#' } } } },
    });
    expect(adapted).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        input: {
          type: 'object',
          oneOf: [
            { $ref: '#/properties/input' },
            { $ref: '#/$defs/note' },
            { $ref: '#/properties/input/properties/id' },
          ],
          properties: { id: {}, $ref: { type: 'string' }, value: { const: { $ref: '#' } } },
        },
      },
      required: ['input'],
      additionalProperties: false,
      $defs: { note: { properties: { parent: { $ref: '#/properties/input' } } } },
    });
  });

  const joined = offer('find', { type: 'object', anyOf: [{}] });

  it.each([
    ['{"input":{"id":1}}', '{"id":1}'],
    ['{"id":1}', '{"id":1}'],
    ['{"input":"milk"}', '{"input":"milk"}'],
    ['{"input":{},"id":1}', '{"input":{},"id":1}'],
    ['{"input":', '{"input":'],
    ['', ''],
  ])('have their arguments taken out of the wrapper: %s', (written, read) => {
    const { readContent } = translateCall({ prompt: [], tools: [joined] });
    expect(readContent([callOf('find', written)])).toEqual([callOf('find', read)]);
  });

  it('have their arguments in the wrapper in the conversation', () => {
    const { call } = translateCall({
      prompt: [{ role: 'assistant', content: [{ ...callOf('find'), input: { id: 1 } }] }],
      tools: [joined],
    });
    expect(call.prompt).toMatchObject([{ content: [{ input: { input: { id: 1 } } }] }]);
  });
});

describe('what is said of tools in another form', () => {
  it('is nothing where there are none', () => {
    expect(describeToolChanges([offer('read_note'), { name: 'list' }])).toEqual([]);
  });

  it('is short, however many there are and however long their names are', () => {
    const tools = Array.from({ length: 200 }, (_, index) => offer(`${'a'.repeat(2000)}.${index}`, { anyOf: [] }));
    const said = describeToolChanges(tools);
    expect(said).toHaveLength(2);
    expect(said.join().length).toBeLessThan(3000);
    expect(said[0]).toContain(' and 195 more.');
  });
});
