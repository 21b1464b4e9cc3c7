import { describe, expect, it } from 'vitest';
import { anthropic } from '../../bench/hosts/apis/anthropic.ts';
import { chat } from '../../bench/hosts/apis/chat.ts';
import { gemini } from '../../bench/hosts/apis/gemini.ts';
import { responses } from '../../bench/hosts/apis/responses.ts';
import type { ProviderApi, SeenRequest } from '../../bench/hosts/seen.ts';
import type { JsonObject } from '../../src/base/json.ts';

const schema = { type: 'object', properties: { count: { type: 'integer' } } };

const requests: Record<
  string,
  { api: ProviderApi; path: string; body: JsonObject; isMarked: boolean | null; id: string | null }
> = {
  'messages of Anthropic': {
    api: anthropic,
    path: '/v1/messages',
    isMarked: true,
    id: 'call_1',
    body: {
      model: 'm',
      stream: true,
      system: [{ type: 'text', text: 'The system.' }],
      tools: [{ name: 'mcp__probe__say', description: 'Says', input_schema: schema }],
      messages: [
        { role: 'user', content: 'Use the tools.' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'mcp__probe__say', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'call_1',
              is_error: true,
              content: [
                { type: 'text', text: 'mark-say' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
              ],
            },
          ],
        },
      ],
    },
  },
  'chat completions of OpenAI': {
    api: chat,
    path: '/v1/chat/completions',
    isMarked: null,
    id: 'call_1',
    body: {
      model: 'm',
      stream: true,
      tools: [{ type: 'function', function: { name: 'mcp__probe__say', description: 'Says', parameters: schema } }],
      messages: [
        { role: 'system', content: 'The system.' },
        { role: 'user', content: [{ type: 'text', text: 'Use the tools.' }] },
        { role: 'assistant', content: null, tool_calls: [] },
        {
          role: 'tool',
          tool_call_id: 'call_1',
          content: [
            { type: 'text', text: 'mark-say' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
      ],
    },
  },
  'responses of OpenAI': {
    api: responses,
    path: '/v1/responses',
    isMarked: null,
    id: 'call_1',
    body: {
      model: 'm',
      stream: true,
      instructions: 'The system.',
      tools: [{ type: 'function', name: 'mcp__probe__say', description: 'Says', parameters: schema }],
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Use the tools.' }] },
        { type: 'function_call', call_id: 'call_1', name: 'mcp__probe__say', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'call_1',
          output: [
            { type: 'input_text', text: 'mark-say' },
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
          ],
        },
      ],
    },
  },
  'contents of Gemini': {
    api: gemini,
    path: '/v1beta/models/m:streamGenerateContent',
    isMarked: true,
    id: null,
    body: {
      systemInstruction: { parts: [{ text: 'The system.' }] },
      tools: [
        { functionDeclarations: [{ name: 'mcp__probe__say', description: 'Says', parametersJsonSchema: schema }] },
      ],
      contents: [
        { role: 'user', parts: [{ text: 'Use the tools.' }] },
        { role: 'model', parts: [{ functionCall: { name: 'mcp__probe__say', args: {} } }] },
        {
          role: 'user',
          parts: [
            {
              functionResponse: {
                name: 'mcp__probe__say',
                response: { error: 'mark-say' },
                parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
              },
            },
          ],
        },
      ],
    },
  },
};

describe.each(Object.entries(requests))('%s', (_, { api, path, body, isMarked, id }) => {
  it('reads the system prompt, the messages, the tools and the results', () => {
    expect(api.matches(path)).toBe(true);
    const seen = api.read(body, path);
    expect(seen).toMatchObject({ model: 'm', isStream: true, system: 'The system.' });
    expect(seen.tools).toEqual([{ namespace: null, name: 'mcp__probe__say', description: 'Says', schema }]);
    expect(seen.messages.filter(({ role }) => role === 'user')).toEqual([
      { role: 'user', parts: [{ kind: 'text', text: 'Use the tools.' }] },
    ]);
    const parts = [
      { kind: 'text', text: 'mark-say' },
      { kind: 'image', text: 'AAAA' },
    ];
    expect(seen.results).toEqual([{ id, parts, isError: isMarked }]);
  });

  it('reads nothing from an empty request, and does not take other paths', () => {
    const seen = api.read({}, path);
    expect(seen).toMatchObject({ system: '', messages: [], tools: [], results: [] });
    expect(api.matches('/v1/models')).toBe(false);
  });

  it('writes calls, as a stream or not', () => {
    const call = { id: 'call_2', namespace: null, name: 'mcp__probe__say', arguments: { count: 3 } };
    const seen: SeenRequest = api.read(body, path);
    const stream = api.write({ kind: 'calls', calls: [call] }, seen);
    expect(stream.contentType).toBe('text/event-stream');
    expect(stream.body).toContain('data: {');
    const whole = api.write({ kind: 'calls', calls: [call] }, { ...seen, isStream: false });
    expect(() => JSON.parse(whole.body) as unknown).not.toThrow();
    for (const { body: text } of [stream, whole]) {
      expect(text).toContain('mcp__probe__say');
      expect(text).toMatch(/count\\?":3/);
    }
    expect(api.write({ kind: 'text', text: 'The end.' }, seen).body).not.toContain('mcp__probe__say');
  });
});

it('reads the namespaces of responses', () => {
  const say = { type: 'function', name: 'say', description: 'Says', parameters: schema };
  const seen = responses.read(
    { tools: [{ type: 'namespace', name: 'mcp__probe', description: 'The instructions', tools: [say] }] },
    '/v1/responses',
  );
  expect(seen.tools).toMatchObject([{ namespace: 'mcp__probe', name: 'say' }]);
  expect(seen.otherTools).toContain('The instructions');
});
