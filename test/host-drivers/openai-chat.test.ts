import { describe, expect, it } from 'vitest';
import { copilotCliAdapter } from '../../src/host-drivers/adapters/copilot-cli.ts';
import { gooseAdapter } from '../../src/host-drivers/adapters/goose.ts';
import { opencodeAdapter } from '../../src/host-drivers/adapters/opencode.ts';
import { qwenCodeAdapter } from '../../src/host-drivers/adapters/qwen-code.ts';
import type { ProviderRequest } from '../../src/host-drivers/driver.ts';
import { findInstructions } from '../../src/host-drivers/requests.ts';
import { openAiChat } from '../../src/host-drivers/wires/openai-chat.ts';
import { buildChatCompletion, streamChatCompletion } from '../support/models/compatible-wire.ts';

const ask = (body: unknown, path = '/v1/chat/completions'): ProviderRequest => ({
  method: 'POST',
  path,
  headers: {},
  body,
});
const declare = (name: string) => ({
  type: 'function',
  function: { name, description: `The tool ${name}.`, parameters: { type: 'object' } },
});
const print = (...lines: object[]) => ({ stdout: lines.map((line) => JSON.stringify(line)).join('\n'), stderr: '' });

describe('an answer by Chat Completions', () => {
  const completion = buildChatCompletion(
    {
      text: 'I read both.',
      toolCalls: [
        { id: 'call_a', name: 'notes__read', arguments: { id: 7 } },
        { id: 'call_b', name: 'notes__read', arguments: { id: 8 } },
      ],
      usage: { input: 11, output: 22, cacheRead: 33 },
    },
    { model: 'm', number: 1 },
  );
  const stream = streamChatCompletion(completion);
  const read = (body: string, contentType = 'text/event-stream') =>
    openAiChat.readAnswer({ status: 200, contentType, body });

  it('is the same streamed or whole, and survives a recording', () => {
    const whole = read(JSON.stringify(completion), 'application/json');
    expect(read(stream)).toEqual(whole);
    expect(whole).toMatchObject({
      content: [
        { type: 'text', text: 'I read both.' },
        { type: 'tool-call', toolCallId: 'call_a', toolName: 'notes__read', input: '{"id":7}' },
        { type: 'tool-call', toolCallId: 'call_b', toolName: 'notes__read', input: '{"id":8}' },
      ],
      finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
      usage: { inputTokens: { total: 44, noCache: 11, cacheRead: 33 }, outputTokens: { total: 22 } },
    });
    for (const isStream of [true, false]) {
      const printed = openAiChat.printAnswer({ ...whole, isReplayed: true }, ask({ model: 'm', stream: isStream }));
      expect(openAiChat.readAnswer(printed)).toEqual(whole);
    }
  });

  it('may have calls without numbers', () => {
    expect(read(stream.replaceAll(/"index":\d,/g, ''))).toEqual(read(stream));
  });

  it('is refused if the stream is cut or reports an error', () => {
    expect(() => read(stream.split('"finish_reason":"tool_calls"')[0] ?? '')).toThrow('no completion');
    expect(() => read('data: {"error":{"message":"overloaded"}}\n\n')).toThrow('overloaded');
    expect(() => read('<html>', 'text/html')).toThrow('no completion');
  });
});

it('knows the calls that a model answers from titles and lists of models', () => {
  const tools = [declare('shell')];
  expect(gooseAdapter.classify(ask({ tools })).kind).toBe('main');
  expect(gooseAdapter.classify(ask({ messages: [] })).kind).toBe('side');
  expect(gooseAdapter.classify(ask(null, '/v1/models'))).toMatchObject({ kind: 'side', answer: { status: 200 } });
  expect(gooseAdapter.classify(ask({ tools }, '/v1/other'))).toMatchObject({ kind: 'side', answer: { status: 404 } });
});

it('reads the results of the latest answer', () => {
  const messages = [
    { role: 'tool', tool_call_id: 'old', content: 'old' },
    { role: 'assistant', tool_calls: [] },
    { role: 'tool', tool_call_id: 'call_1', content: 'Milk.' },
    { role: 'user', content: 'It is late.' },
  ];
  expect(openAiChat.readResults(ask({ messages }))).toEqual([{ callId: 'call_1', output: { content: 'Milk.' } }]);
});

it('reads the images that a host adds in a message of the user after the results, and no other message', () => {
  const image = (data: string) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } });
  const read = (...after: object[]) => openAiChat.readResults(ask({ messages: [{ role: 'assistant' }, ...after] }));
  const results = [
    { role: 'tool', tool_call_id: 'call_1', content: 'One.' },
    { role: 'tool', tool_call_id: 'call_2', content: 'Two.' },
  ];
  const added = { role: 'user', content: [{ type: 'text', text: 'Attached:' }, image('AAAA'), image('BBBB')] };
  const plain = [
    { callId: 'call_1', output: { content: 'One.' } },
    { callId: 'call_2', output: { content: 'Two.' } },
  ];
  expect(read(...results, added)).toEqual([
    plain[0],
    { callId: 'call_2', output: { content: 'Two.', attached: [image('AAAA'), image('BBBB')] } },
  ]);
  expect(read(...results, { role: 'user', content: 'It is late.' })).toEqual(plain);
  expect(read(added, ...results)).toEqual(plain);
});

describe('the instructions of a server', () => {
  const instructions = 'Call `list` before `read`.\n\n## Rules\n\nNever delete a note that has a reminder.';
  const find = (text: string) => findInstructions([text], [{ name: 'notes', instructions }]);

  it('are found whole, indented or cut, without the words of the host', () => {
    const whole = instructions.replaceAll(/\s+/g, ' ');
    expect(find(`## notes\n### Instructions\n${instructions}\n## other\n`)).toBe(whole);
    expect(find(`  <server>\n    ${instructions.replaceAll('\n', '\n    ')}\n  </server>`)).toBe(whole);
    expect(find(`# notes\n${instructions.slice(0, 45)}… (cut)`)).toBe(whole.slice(0, 43));
  });

  it('are null if the host does not show them', () => {
    expect(find('Call it a day.')).toBeNull();
    expect(findInstructions(['Any.'], [{ name: 'notes', instructions: null }])).toBeNull();
  });
});

it('finds the tools of the servers by the names that each host makes', () => {
  const servers = [{ name: 'My Notes', instructions: null }];
  const names = [
    'shell',
    'mynotes__files.read',
    'My_Notes_files_read',
    'mcp__My_Notes__files_read',
    'My_Notes-files_read',
  ];
  const request = ask({ tools: names.map(declare), messages: [] });
  for (const [adapter, name] of [
    [gooseAdapter, names[1]],
    [opencodeAdapter, names[2]],
    [qwenCodeAdapter, names[3]],
    [copilotCliAdapter, names[4]],
  ] as const) {
    expect(adapter.readShown(request, servers).tools.map((tool) => tool.name)).toEqual([name]);
    expect(adapter.nameTool('My Notes', 'files.read')).toBe(name);
  }
});

it('finds the tools that Qwen Code shows only in a list, and prefers their declarations', () => {
  const list =
    '### MCP servers\n#### notes\n- "mcp__notes__read": "Reads \\"one\\" note"\n- "mcp__notes__list"\n- "agent": "x"';
  const request = ask({
    tools: [declare('mcp__notes__list')],
    messages: [{ role: 'user', content: [{ type: 'text', text: list }] }],
  });
  expect(qwenCodeAdapter.readShown(request, [{ name: 'notes', instructions: null }]).tools).toEqual([
    { name: 'mcp__notes__read', description: 'Reads "one" note', schema: null },
    { name: 'mcp__notes__list', description: 'The tool mcp__notes__list.', schema: { type: 'object' } },
  ]);
});

it('reads answers, refusals and failures from the output of a host', () => {
  const said = { type: 'message', message: { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] } };
  expect(gooseAdapter.readOutput(print(said))).toEqual({ text: 'Done.', denials: [], errors: [] });
  expect(gooseAdapter.readOutput(print({ type: 'error', error: 'No credit.' })).errors).toEqual([
    'It reports an error: No credit.',
  ]);
  const refuse = (error: string) => ({
    type: 'tool_use',
    part: { type: 'tool', tool: 'notes_read', state: { status: 'error', error } },
  });
  const text = { type: 'text', part: { type: 'text', text: 'Done.' } };
  expect(opencodeAdapter.readOutput(print(refuse('There is no note 7.'), text))).toEqual({
    text: 'Done.',
    denials: [],
    errors: [],
  });
  expect(opencodeAdapter.readOutput(print(refuse('The user rejected permission to use it.'))).denials).toHaveLength(1);
  expect(opencodeAdapter.readOutput(print({ type: 'error', error: { name: 'APIError' } })).errors).toHaveLength(1);
});

it('reads answers, refusals of the tools of servers and failures from the events of Copilot CLI', () => {
  const start = (toolCallId: string, data: object) => ({ type: 'tool.execution_start', data: { toolCallId, ...data } });
  const deny = (toolCallId: string) => ({
    type: 'tool.execution_complete',
    data: { toolCallId, success: false, error: { message: 'Permission denied', code: 'denied' } },
  });
  const output = print(
    start('call_1', { toolName: 'bash' }),
    deny('call_1'),
    start('call_2', { toolName: 'notes-read', mcpServerName: 'notes' }),
    deny('call_2'),
    { type: 'assistant.message', data: { content: 'Done.' } },
    { type: 'session.error', data: { message: 'No credit.' } },
  );
  expect(copilotCliAdapter.readOutput(output)).toEqual({
    text: 'Done.',
    denials: ['It did not approve the call of notes-read.'],
    errors: ['It reports an error: No credit.'],
  });
});
