import { describe, expect, it } from 'vitest';
import { geminiCliAdapter } from '../../src/host-drivers/adapters/gemini-cli.ts';
import type { ProviderRequest } from '../../src/host-drivers/driver.ts';
import { buildGenerated, streamGenerated } from '../support/models/google-wire.ts';

const { wire } = geminiCliAdapter;
const stream = '/v1beta/models/m:streamGenerateContent?alt=sse';
const ask = (body: unknown, path = stream): ProviderRequest => ({ method: 'POST', path, headers: {}, body });
const print = (...lines: object[]) => ({ stdout: lines.map((line) => JSON.stringify(line)).join('\n'), stderr: '' });

describe("an answer by Google's generateContent", () => {
  const response = buildGenerated(
    {
      reasoning: { text: 'I think.', signature: 'sig' },
      text: 'I read both.',
      toolCalls: [
        { name: 'mcp_notes_read', arguments: { id: 7 } },
        { name: 'mcp_notes_read', arguments: { id: 8 } },
      ],
      usage: { input: 11, output: 22, cacheRead: 33, reasoning: 4 },
    },
    { model: 'm', number: 1 },
  );
  const read = (body: string, contentType = 'text/event-stream') => wire.readAnswer({ status: 200, contentType, body });

  it('is the same streamed or whole, and survives a recording with the signatures of thoughts', () => {
    const whole = read(JSON.stringify(response), 'application/json');
    expect(read(streamGenerated(response))).toEqual(whole);
    expect(whole).toMatchObject({
      content: [
        { type: 'reasoning', text: 'I think.' },
        { type: 'text', text: 'I read both.' },
        { type: 'tool-call', toolName: 'mcp_notes_read', input: '{"id":7}' },
        { type: 'tool-call', toolName: 'mcp_notes_read', input: '{"id":8}' },
      ],
      finishReason: { unified: 'tool-calls', raw: 'STOP' },
      usage: {
        inputTokens: { total: 44, noCache: 11, cacheRead: 33 },
        outputTokens: { total: 22, text: 18, reasoning: 4 },
      },
    });
    for (const path of [stream, '/v1beta/models/m:generateContent']) {
      const printed = wire.printAnswer({ ...whole, isReplayed: true }, ask({}, path));
      expect(wire.readAnswer(printed)).toEqual(whole);
      expect(printed.body).toContain('"thoughtSignature":"sig"');
    }
  });

  it('says that it was cut at its limit or withheld', () => {
    const end = (finishReason: 'length' | 'content-filter') =>
      read(streamGenerated(buildGenerated({ text: 'No.', finishReason }, { model: 'm', number: 1 }))).finishReason;
    expect(end('length').unified).toBe('length');
    expect(end('content-filter')).toEqual({ unified: 'content-filter', raw: 'SAFETY' });
    const blocked = JSON.stringify({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } });
    expect(read(blocked, 'application/json').finishReason.unified).toBe('content-filter');
  });

  it('is refused if the stream is cut or reports an error', () => {
    expect(() => read(streamGenerated(response).split('"finishReason"')[0] ?? '')).toThrow('no finish reason');
    expect(() => read('data: {"error":{"code":503,"message":"overloaded"}}\n\n')).toThrow('overloaded');
  });
});

it('finds results by the ids that the host makes, in any order, with the images after them', () => {
  const call = (id: string) => ({ functionCall: { id, name: 'mcp_notes_read', args: {} } });
  const result = (id: string, output: string) => ({
    functionResponse: { id, name: 'mcp_notes_read', response: { output } },
  });
  const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
  const contents = [
    { role: 'user', parts: [{ text: 'Read.' }] },
    { role: 'model', parts: [call('old')] },
    { role: 'user', parts: [result('old', 'Old.')] },
    { role: 'model', parts: [{ text: 'Both.' }, call('read_1')] },
    { role: 'model', parts: [call('read_2')] },
    { role: 'user', parts: [result('read_2', 'Two.'), image, result('read_1', 'One.'), { text: 'It is late.' }] },
  ];
  expect(wire.readResults(ask({ contents }))).toEqual([
    { callId: 1, output: { content: { response: { output: 'Two.' } }, attached: [image] } },
    { callId: 0, output: { content: { response: { output: 'One.' } } } },
  ]);
});

it('finds the tools and instructions of the servers, and the model in the path', () => {
  const declare = (name: string) => ({ name, description: 'Reads.', parametersJsonSchema: { type: 'object' } });
  const request = ask({
    contents: [{ role: 'user', parts: [{ text: '---[start]---\nCall `list` before `read`.\n---[end]---' }] }],
    tools: [{ functionDeclarations: ['read_file', 'mcp_notes_read'].map(declare) }],
  });
  expect(geminiCliAdapter.readShown(request, [{ name: 'notes', instructions: 'Call `list` before `read`.' }])).toEqual({
    tools: [{ name: 'mcp_notes_read', description: 'Reads.', schema: { type: 'object' } }],
    instructions: 'Call `list` before `read`.',
  });
  expect(wire.readModel(request)).toBe('m');
  expect(wire.toProviderPath(stream)).toBe('/models/m:streamGenerateContent?alt=sse');
  expect(wire.toProviderPath('/v1beta/models/m:embedContent')).toBeNull();
  expect(geminiCliAdapter.classify(request).kind).toBe('main');
  expect(geminiCliAdapter.classify(ask({}, '/v1beta/models/m:countTokens')).kind).toBe('side');
  expect(geminiCliAdapter.classify(ask({ contents: [] })).kind).toBe('side');
});

it('reads the last answer, refusals and failures from the output, and no error of a tool', () => {
  const say = (content: string) => ({ type: 'message', role: 'assistant', content, delta: true });
  const use = { type: 'tool_use', tool_name: 'mcp_notes_read', tool_id: 'read_1' };
  const end = (type: string) => ({ type: 'tool_result', tool_id: 'read_1', status: 'error', error: { type } });
  expect(geminiCliAdapter.readOutput(print(say('I read.'), use, end('mcp_tool_error'), say('Do'), say('ne.')))).toEqual(
    {
      text: 'Done.',
      denials: [],
      errors: [],
    },
  );
  expect(geminiCliAdapter.readOutput(print(use, end('policy_violation'))).denials).toEqual([
    'It did not approve the call of mcp_notes_read.',
  ]);
  const failed = { type: 'result', status: 'error', error: { message: 'No quota.' } };
  expect(
    geminiCliAdapter.readOutput(print({ type: 'error', severity: 'warning', message: 'Slow.' }, failed)).errors,
  ).toEqual(['It reports an error: No quota.']);
});
