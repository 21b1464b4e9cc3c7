import { describe, expect, it } from 'vitest';
import { readExports } from '../../src/capture/read-exports.ts';
import { readSession } from '../../src/capture/session.ts';
import { renderSpans, type SpanRecord } from '../../src/otlp/encode.ts';
import { runCommand } from '../support/process/command.ts';
import { createWorkspace } from '../support/workspace.ts';

const span: SpanRecord = {
  traceId: '0'.repeat(32),
  spanId: '0'.repeat(16),
  parentSpanId: null,
  name: 'tools/call echo',
  kind: 'client',
  startMs: 2000,
  endMs: 2001,
  attributes: {
    'mcp.method.name': 'tools/call',
    'gen_ai.tool.name': 'echo',
    'gen_ai.tool.call.arguments': '{"message":"hello"}',
    'gen_ai.tool.call.result': '{"content":[{"type":"text","text":"hello"}]}',
  },
  failure: null,
};

const source = { name: 'mcp-eval-ci', version: '1', resource: {} };

describe('readExports', () => {
  it('reads the calls of several lines in their order, whole results and texts', () => {
    const attributes = { ...span.attributes, 'gen_ai.tool.call.result': 'No such tool' };
    const failed = { ...span, startMs: 1000, attributes, failure: 'No such tool' };
    const entries = readExports(renderSpans([span], source) + renderSpans([failed], source));
    expect(readSession(Array.isArray(entries) ? entries : []).steps).toMatchObject([
      { timeMs: 1000, outcome: { isError: true } },
      { timeMs: 2000, request: { tool: 'echo', arguments: { message: 'hello' } }, outcome: { isError: false } },
    ]);
  });

  it('names the line that is none, and what spans lack', () => {
    expect(readExports(`${renderSpans([span], source)}oops\n`)).toMatchObject({ line: 2 });
    expect(readExports(renderSpans([{ ...span, attributes: {} }], source))).toMatchObject({
      line: 1,
      expected: expect.stringContaining('gen_ai.tool.call.result'),
    });
  });
});

const call = (id: number, args: object) => ({
  type: 'jsonrpc_request',
  request: { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'echo', arguments: args } },
  response: { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'hello' }] } },
  latency_ms: 5,
});

const printCassette = (...interactions: object[]) =>
  JSON.stringify({ metadata: { recorded_at: '2026-01-02T03:04:05+00:00' }, interactions }, null, 2);

describe('readExports of a cassette', () => {
  it('reads requests with their answers, and those that were not answered', () => {
    const notification = { type: 'notification', request: { method: 'notifications/initialized' }, response: null };
    const open = { ...call(1, { message: 'again' }), response: null };
    const session = readCassette(printCassette(notification, call(1, { message: 'hello' }), open));
    expect(session.steps).toMatchObject([
      { timeMs: 1_767_323_045_000, request: { arguments: { message: 'hello' } }, outcome: { kind: 'result' } },
    ]);
    expect(session.left).toEqual([{ subject: 'echo', reason: 'it was not answered' }]);
  });

  it('names the line of an interaction that is none, and a cassette without a call', () => {
    const text = printCassette(call(1, {}), { type: 'jsonrpc_request', request: {} });
    const line = text.split('\n').findLastIndex((each) => each.includes('jsonrpc_request'));
    // The object begins in the line before its first key.
    expect(readExports(text)).toMatchObject({ line, expected: expect.stringContaining('`request` with a `method`') });
    expect(readExports(printCassette())).toMatchObject({ line: 5, expected: expect.stringContaining('tools/call') });
  });
});

const readCassette = (text: string) => {
  const entries = readExports(text);
  return readSession('expected' in entries ? [] : entries);
};

describe('readExports of a chat session', () => {
  const messages = [
    { role: 'user', content: 'Say hello' },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'echo', input: { message: 'hello' } }],
    },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'echo', output: { type: 'text', value: 'hello' } }],
    },
    { role: 'user', content: [{ type: 'text', text: 'And fail' }] },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'b', toolName: 'echo', input: {} }] },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: 'b', toolName: 'echo', output: { type: 'error-text', value: 'No' } },
      ],
    },
    { role: 'assistant', content: 'It failed.' },
  ];

  it('reads the calls of its messages, a task for each message of the user', () => {
    for (const document of [{ id: 'chat_1', messages }, { trace: { messages, spans: [] } }]) {
      expect(readCassette(JSON.stringify(document)).steps).toMatchObject([
        { session: 1, request: { arguments: { message: 'hello' } }, outcome: { isError: false } },
        { session: 2, request: { arguments: {} }, outcome: { isError: true } },
      ]);
    }
  });

  it('says what is missing, and in which line the text is no JSON', () => {
    const said = JSON.stringify({ messages: messages.slice(0, 1) });
    expect(readExports(said)).toMatchObject({ line: 1, expected: expect.stringContaining('`tool-call` part') });
    expect(readExports('{\n  "messages": [\n    oops\n  ]\n}\n')).toEqual({ line: 3, expected: 'JSON' });
    expect(readExports('{\n  "messages": [\n')).toEqual({ line: 2, expected: 'JSON' });
    expect(readExports('{"sessions":[]}')).toMatchObject({
      line: 1,
      expected: expect.stringContaining('`interactions`'),
    });
  });
});

describe('capture --from', () => {
  it('reads a trace, and refuses another file with its line', async () => {
    await using workspace = await createWorkspace({
      'traces.jsonl': renderSpans([span], source),
      'other.json': '[]\n',
    });
    const run = async (file: string) =>
      await runCommand(['capture', '--from', file, '--out', 'evals/traced.evals.yaml'], { cwd: workspace.path });
    expect(await run('traces.jsonl')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('1 case commented out'),
    });
    const text = await workspace.read('evals/traced.evals.yaml');
    expect(text).toContain(
      '# Not run: echo may change something, and was not replayed: no command was given after `--`.',
    );
    expect(await run('other.json')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('other.json:1:1') });
    expect(await run('missing.json')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('missing.json') });
  });
});
