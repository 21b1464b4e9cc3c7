import { describe, expect, it } from 'vitest';
import { readSpans } from '../../src/capture/read-spans.ts';
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

describe('readSpans', () => {
  it('reads the calls of several lines in their order, whole results and texts', () => {
    const attributes = { ...span.attributes, 'gen_ai.tool.call.result': 'No such tool' };
    const failed = { ...span, startMs: 1000, attributes, failure: 'No such tool' };
    const entries = readSpans(renderSpans([span], source) + renderSpans([failed], source));
    expect(readSession(Array.isArray(entries) ? entries : []).steps).toMatchObject([
      { timeMs: 1000, outcome: { isError: true } },
      { timeMs: 2000, request: { tool: 'echo', arguments: { message: 'hello' } }, outcome: { isError: false } },
    ]);
  });

  it('names the line that is none, and what spans lack', () => {
    expect(readSpans(`${renderSpans([span], source)}oops\n`)).toMatchObject({ line: 2 });
    expect(readSpans(renderSpans([{ ...span, attributes: {} }], source))).toMatchObject({
      line: 1,
      expected: expect.stringContaining('gen_ai.tool.call.result'),
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
