import { describe, expect, it } from 'vitest';
import { claudeCodeAdapter } from '../../src/host-drivers/adapters/claude-code.ts';
import { type ProviderRequest, readVersion } from '../../src/host-drivers/driver.ts';
import { buildMessage, streamMessage } from '../support/models/anthropic-wire.ts';

const { wire } = claudeCodeAdapter;

const ask = (body: unknown, path = '/v1/messages?beta=true'): ProviderRequest => ({
  method: 'POST',
  path,
  headers: {},
  body,
});

const reply = {
  reasoning: { text: 'I think.', signature: 'sig' },
  text: 'I read it.',
  toolCalls: [{ id: 'toolu_1', name: 'mcp__notes__read', arguments: { id: 7 } }],
  usage: { input: 11, output: 22, cacheRead: 33, cacheWrite: 44 },
};

describe("an answer in Anthropic's format", () => {
  const message = buildMessage(reply, { model: 'm', number: 1 });

  it('is the same streamed or whole, and survives a recording', () => {
    const whole = wire.readAnswer({ status: 200, contentType: 'application/json', body: JSON.stringify(message) });
    const body = streamMessage(message);
    expect(wire.readAnswer({ status: 200, contentType: 'text/event-stream', body })).toEqual(whole);
    expect(whole).toMatchObject({
      content: [
        { type: 'reasoning', text: 'I think.', providerMetadata: { anthropic: { signature: 'sig' } } },
        { type: 'text', text: 'I read it.' },
        { type: 'tool-call', toolCallId: 'toolu_1', toolName: 'mcp__notes__read', input: '{"id":7}' },
      ],
      finishReason: { unified: 'tool-calls', raw: 'tool_use' },
      usage: { inputTokens: { total: 88, noCache: 11, cacheRead: 33, cacheWrite: 44 }, outputTokens: { total: 22 } },
    });
    for (const stream of [true, false]) {
      const printed = wire.printAnswer({ ...whole, isReplayed: true }, ask({ model: 'm', stream }));
      expect(wire.readAnswer(printed)).toEqual(whole);
    }
  });

  it('is refused if the stream is cut or reports an error', () => {
    const cut = streamMessage(message).split('event: message_stop')[0] ?? '';
    expect(() => wire.readAnswer({ status: 200, contentType: 'text/event-stream', body: cut })).toThrow('no message');
    const failed = `event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n`;
    expect(() => wire.readAnswer({ status: 200, contentType: 'text/event-stream', body: failed })).toThrow(
      'overloaded_error',
    );
  });
});

it('knows the calls that a model answers from the others', () => {
  const tools = [{ name: 'Bash' }];
  expect(claudeCodeAdapter.classify(ask({ tools })).kind).toBe('main');
  expect(claudeCodeAdapter.classify(ask({ messages: [] })).kind).toBe('side');
  expect(claudeCodeAdapter.classify(ask({ tools }, '/v1/messages/count_tokens?beta=true')).kind).toBe('side');
  expect(claudeCodeAdapter.classify(ask(null, '/api/event_logging')).kind).toBe('side');
});

it('finds the tools and instructions of the servers, deferred ones included', () => {
  const text = [
    '<system-reminder>\nThe following deferred tools are now available via ToolSearch.\nWebFetch\nmcp__my_notes__read\nmcp__my_notes__list\n</system-reminder>',
    '<system-reminder>\n# MCP Server Instructions\n\n## my notes\nBe brief, and never delete.\n</system-reminder>',
    'Read note 7.',
  ].map((each) => ({ type: 'text', text: each }));
  const tools = [
    { name: 'Bash', description: 'Runs it.', input_schema: { type: 'object' } },
    { name: 'mcp__my_notes__read', description: 'Reads a note.', input_schema: { type: 'object', required: ['id'] } },
  ];
  const shown = claudeCodeAdapter.readShown(ask({ tools, messages: [{ role: 'user', content: text }] }), [
    { name: 'my notes', instructions: 'Be brief, and never delete.' },
  ]);
  expect(shown).toEqual({
    tools: [
      { name: 'mcp__my_notes__read', description: 'Reads a note.', schema: { type: 'object', required: ['id'] } },
      { name: 'mcp__my_notes__list', description: null, schema: null },
    ],
    instructions: 'Be brief, and never delete.',
  });
  expect(claudeCodeAdapter.nameTool('my notes', 'files.read')).toBe('mcp__my_notes__files_read');
});

it('reads the results of the latest answer without what the host adds to them', () => {
  const reminder = '<system-reminder>\n<total_tokens>149 tokens left</total_tokens>\n</system-reminder>';
  const messages = [
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'old', content: 'old' }] },
    { role: 'assistant', content: [] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [
            { type: 'text', text: 'Milk.\n' },
            { type: 'text', text: reminder },
          ],
          cache_control: { type: 'ephemeral' },
        },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: `No.\n${reminder}`, is_error: true },
        { type: 'text', text: 'Tool loaded.' },
      ],
    },
  ];
  expect(wire.readResults(ask({ messages }))).toEqual([
    { callId: 'toolu_1', output: { content: [{ type: 'text', text: 'Milk.' }] } },
    { callId: 'toolu_2', output: { content: 'No.', isError: true } },
  ]);
});

it('reads refusals of the tools of servers and failures from the output, and no refusal of a tool of its own', () => {
  const print = (...lines: object[]) => ({ stdout: lines.map((line) => JSON.stringify(line)).join('\n'), stderr: '' });
  const denials = [{ tool_name: 'Bash' }, { tool_name: 'mcp__notes__delete' }];
  const result = { type: 'result', is_error: false, result: 'Done.', permission_denials: denials };
  expect(claudeCodeAdapter.readOutput(print(result))).toEqual({
    text: 'Done.',
    denials: ['It did not approve the call of mcp__notes__delete.'],
    errors: [],
  });
  const init = { type: 'system', subtype: 'init', mcp_servers: [{ name: 'notes', status: 'failed' }] };
  const failed = { type: 'result', is_error: true, result: 'API Error: 400', permission_denials: [] };
  expect(claudeCodeAdapter.readOutput(print(init, failed)).errors).toEqual([
    'It could not connect to the server notes.',
    'It reports an error: API Error: 400',
  ]);
});

it('takes its own tools away only if that is asked for', () => {
  const place = {
    home: '/h',
    directory: '/w',
    servers: [{ name: 'notes', command: ['node', 'stub.mjs', '/s'] as [string, ...string[]] }],
    provider: { url: 'http://127.0.0.1:1', token: 'token' },
    model: 'm',
    prompt: 'Read it.',
  };
  expect(claudeCodeAdapter.start({ ...place, builtIns: 'on' }).args).not.toContain('--tools');
  const { args, env, files } = claudeCodeAdapter.start({ ...place, builtIns: 'off' });
  expect(args).toContain('--tools');
  expect(env).toMatchObject({ ANTHROPIC_BASE_URL: 'http://127.0.0.1:1', ANTHROPIC_API_KEY: 'token' });
  expect(JSON.parse(files.get('/h/mcp.json') ?? '')).toEqual({
    mcpServers: { notes: { type: 'stdio', command: 'node', args: ['stub.mjs', '/s'], env: {} } },
  });
});

it.each([
  ['2.1.330 (Claude Code)\n', '2.1.330'],
  ['codex-cli 0.171.0\n', '0.171.0'],
  ['GitHub Copilot CLI 1.0.102.\nRun it.', '1.0.102'],
  ['0.62.0-preview.1\n', '0.62.0-preview.1'],
  ['no version', null],
])('reads the version from %j', (output, version) => {
  expect(readVersion(output)).toBe(version);
});
