import { describe, expect, it } from 'vitest';
import { codexAdapter } from '../../src/host-drivers/adapters/codex.ts';
import type { ProviderRequest } from '../../src/host-drivers/driver.ts';
import { buildResponse, streamResponse } from '../support/models/responses-wire.ts';

const { wire } = codexAdapter;
const ask = (body: unknown): ProviderRequest => ({ method: 'POST', path: '/v1/responses', headers: {}, body });
const print = (...lines: object[]) => ({ stdout: lines.map((line) => JSON.stringify(line)).join('\n'), stderr: '' });

describe('an answer by Responses', () => {
  const response = buildResponse(
    {
      text: 'I read it.',
      toolCalls: [
        { name: 'read', namespace: 'mcp__notes', arguments: { id: 7 } },
        { name: 'tool_search', arguments: { query: 'notes' } },
        { name: 'exec', arguments: 'text(1)' },
      ],
      usage: { input: 11, output: 22, cacheRead: 33 },
    },
    { model: 'm', number: 1 },
  );
  const stream = streamResponse(response);
  const read = (body: string, contentType = 'text/event-stream') => wire.readAnswer({ status: 200, contentType, body });

  it('is the same streamed or whole, and survives a recording with namespaces, searches and programs', () => {
    const whole = read(JSON.stringify(response), 'application/json');
    expect(read(stream)).toEqual(whole);
    expect(whole).toMatchObject({
      content: [
        { type: 'text', text: 'I read it.' },
        { type: 'tool-call', toolCallId: 'call_1_1', toolName: 'mcp__notes__read', input: '{"id":7}' },
        { type: 'tool-call', toolCallId: 'call_1_2', toolName: 'tool_search_call', input: '{"query":"notes"}' },
        { type: 'tool-call', toolCallId: 'call_1_3', toolName: 'functions__exec', input: 'text(1)' },
      ],
      finishReason: { unified: 'tool-calls', raw: 'completed' },
      usage: { inputTokens: { total: 44, noCache: 11, cacheRead: 33 }, outputTokens: { total: 22 } },
    });
    for (const isStream of [true, false]) {
      const printed = wire.printAnswer({ ...whole, isReplayed: true }, ask({ model: 'm', stream: isStream }));
      expect(wire.readAnswer(printed)).toEqual(whole);
      expect(printed.body).toContain('"namespace":"mcp__notes"');
    }
  });

  it('says that it was cut at its limit', () => {
    const cut = buildResponse({ text: 'I', finishReason: 'length' }, { model: 'm', number: 1 });
    expect(read(streamResponse(cut)).finishReason.unified).toBe('length');
  });

  it('is refused if the stream is cut or reports an error', () => {
    expect(() => read(stream.split('event: response.completed')[0] ?? '')).toThrow('no response');
    expect(() => read('data: {"type":"response.failed","response":{"error":"overloaded"}}\n\n')).toThrow('overloaded');
  });
});

const namespace = {
  type: 'namespace',
  name: 'mcp__notes',
  description: 'Call list before read, and never delete.',
  tools: [{ type: 'function', name: 'read', description: 'Reads.', parameters: { type: 'object' } }],
};
const servers = [{ name: 'notes', instructions: 'Call list before read, and never delete. Rules follow.' }];

it('finds the tools and the instructions of the servers in namespaces', () => {
  const tools = [{ type: 'function', name: 'exec_command' }, namespace, { type: 'web_search' }];
  expect(codexAdapter.readShown(ask({ tools, input: [] }), servers)).toEqual({
    tools: [{ name: 'mcp__notes__read', description: 'Reads.', schema: { type: 'object' } }],
    instructions: 'Call list before read, and never delete.',
    canSearch: false,
  });
});

it('knows that a model can search for tools which the request does not name', () => {
  const search = { type: 'tool_search', description: 'Searches.' };
  expect(codexAdapter.readShown(ask({ tools: [search], input: [] }), servers)).toMatchObject({ canSearch: true });
  const exec = { type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] };
  const input = [{ type: 'additional_tools', tools: [exec] }];
  expect(codexAdapter.classify(ask({ input })).kind).toBe('main');
  expect(codexAdapter.readShown(ask({ input }), servers)).toMatchObject({ tools: [], canSearch: true });
});

it('reads results without the time that their calls took', () => {
  const time = (seconds: string) => [{ type: 'input_text', text: `Wall time: ${seconds} seconds\nOutput:` }];
  const input = [
    { type: 'function_call', call_id: 'call_1', name: 'read' },
    { type: 'function_call_output', call_id: 'call_1', output: time('0.0045') },
    { type: 'tool_search_output', call_id: 'call_2', tools: [namespace] },
  ];
  expect(wire.readResults(ask({ input }))).toEqual([
    { callId: 'call_1', output: { content: time('0') } },
    { callId: 'call_2', output: { content: [namespace] } },
  ]);
});

it('reads answers, refusals and failures from the output', () => {
  const call = (message: string) => ({
    type: 'item.completed',
    item: { type: 'mcp_tool_call', tool: 'read', status: 'failed', error: { message } },
  });
  const said = { type: 'item.completed', item: { type: 'agent_message', text: 'Done.' } };
  expect(codexAdapter.readOutput(print(call('There is no note 7.'), said))).toEqual({
    text: 'Done.',
    denials: [],
    errors: [],
  });
  for (const refusal of [
    'user cancelled MCP tool call',
    'MCP tool call requires approval, but approval policy is never',
  ]) {
    expect(codexAdapter.readOutput(print(call(refusal))).denials).toEqual(['It did not approve the call of read.']);
  }
  const failed = { type: 'turn.failed', error: { message: 'No credit.' } };
  expect(codexAdapter.readOutput(print(failed)).errors).toEqual(['It reports an error: No credit.']);
});
