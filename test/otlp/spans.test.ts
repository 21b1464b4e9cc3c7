import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { describe, expect, it } from 'vitest';
import { buildIterationSpan, buildTraceSpans, type TracedIteration } from '../../src/otlp/spans.ts';
import { identifyTrace } from '../../src/otlp/ids.ts';
import { createIteration } from '../support/factories/suite-factory.ts';
import { createCallSpan } from '../support/factories/trace-factory.ts';

const traced: TracedIteration = {
  suite: { id: 'math', name: 'Math server' },
  caseId: 'adds',
  runId: 'run_1',
  iteration: createIteration({ startedAtMs: 5000, durationMs: 250, model: 'openai/gpt-5', tokensUsed: 12 }),
  outcome: 'passed',
  round: 0,
};
const ids = identifyTrace({ runId: 'run_1', iterationId: 'it_1' });
const read = { readAtMs: 9000 };

describe('buildIterationSpan', () => {
  it('begins the trace of the iteration', () => {
    expect(buildIterationSpan(traced, read)).toEqual({
      traceId: ids.traceId,
      spanId: ids.rootId,
      parentSpanId: null,
      name: 'Adds two numbers',
      kind: 'internal',
      startMs: 5000,
      endMs: 5250,
      attributes: {
        'test.suite.name': 'Math server',
        'test.case.name': 'Adds two numbers',
        'test.case.result.status': 'pass',
        'gen_ai.request.model': 'openai/gpt-5',
        'mcp_eval_ci.suite.id': 'math',
        'mcp_eval_ci.case.id': 'adds',
        'mcp_eval_ci.run.id': 'run_1',
        'mcp_eval_ci.iteration.id': 'it_1',
        'mcp_eval_ci.iteration.number': 1,
        'mcp_eval_ci.iteration.status': 'completed',
        'mcp_eval_ci.iteration.tokens': 12,
        'mcp_eval_ci.retry.round': undefined,
      },
      failure: null,
    });
  });

  it('has the same ids for the same iteration, and other ones for every other', () => {
    expect(identifyTrace({ runId: 'run_1', iterationId: 'it_1' })).toEqual(ids);
    expect(ids.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(ids.rootId).toMatch(/^[0-9a-f]{16}$/);
    expect(identifyTrace({ runId: 'run_1', iterationId: 'it_2' }).traceId).not.toBe(ids.traceId);
    expect(identifyTrace({ runId: 'run_2', iterationId: 'it_1' }).traceId).not.toBe(ids.traceId);
  });

  it('has the reason of a failure, and no result for an unscored iteration', () => {
    const failed = createIteration({ error: 'The text does not\ncontain "5".' });
    const status = 'test.case.result.status';
    const [wrong, silent, broken] = [
      buildIterationSpan({ ...traced, iteration: failed, outcome: 'failed' }, read),
      buildIterationSpan({ ...traced, outcome: 'failed' }, read),
      buildIterationSpan({ ...traced, outcome: 'unscored' }, read),
    ];
    expect([wrong.attributes[status], wrong.failure]).toEqual(['fail', failed.error]);
    expect([silent.attributes[status], silent.failure]).toEqual(['fail', 'failed']);
    expect([broken.attributes[status], broken.failure]).toEqual([undefined, 'not scored']);
  });

  it('ends at the time of reading if the service does not report its start', () => {
    const iteration = createIteration({ startedAtMs: null, durationMs: 400, title: null });
    const { name, startMs, endMs } = buildIterationSpan({ ...traced, iteration }, read);
    expect({ name, startMs, endMs }).toEqual({ name: 'adds', startMs: 8600, endMs: 9000 });
  });
});

describe('buildTraceSpans', () => {
  it('puts calls and turns below their steps, and steps below the iteration', () => {
    const trace = {
      messages: [{ role: 'user', content: 'a secret question' }],
      spans: [
        { id: 's1', name: 'toolCall', category: 'step', startMs: 1000, endMs: 1100, stepIndex: 0, authoredStepId: 'a' },
        createCallSpan('c1', { parentId: 's1', toolName: 'get-sum', status: 'error', mcpErrorCode: -32602 }),
        {
          id: 'm',
          category: 'llm',
          startMs: 1040,
          endMs: 1090,
          modelId: 'gpt-5',
          inputTokens: 7,
          finishReason: 'stop',
        },
      ],
    };
    const [step, call, turn] = buildTraceSpans(trace, ids);
    expect([step, call, turn].map((span) => span?.traceId)).toEqual([ids.traceId, ids.traceId, ids.traceId]);
    expect([step?.parentSpanId, call?.parentSpanId, turn?.parentSpanId]).toEqual([
      ids.rootId,
      step?.spanId,
      ids.rootId,
    ]);
    expect([step, call, turn].map((span) => [span?.name, span?.kind, span?.failure])).toEqual([
      ['toolCall', 'internal', null],
      ['tools/call get-sum', 'client', 'failed'],
      ['chat gpt-5', 'client', null],
    ]);
    expect(call?.attributes).toEqual({
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'get-sum',
      'gen_ai.tool.call.id': 'c1',
      'error.type': '-32602',
    });
    expect(turn?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.response.finish_reasons': ['stop'],
    });
    expect(JSON.stringify([step, call, turn])).not.toContain('secret question');
  });

  it('names requests that call no tool by their method, and what they ask for', () => {
    const request = (fields: object) => ({
      ...createCallSpan('r'),
      category: 'request',
      toolName: undefined,
      ...fields,
    });
    const spans = [
      request({ name: 'resources/read', mcpMethod: 'resources/read', resourceUri: 'note://1' }),
      request({
        name: 'prompts/get',
        mcpMethod: 'prompts/get',
        promptName: 'greet',
        status: 'error',
        mcpErrorCode: -32602,
      }),
      request({ name: 'ping', mcpMethod: 'ping', status: 'error' }),
    ];
    const built = buildTraceSpans({ spans }, ids);
    expect(built.map(({ name, kind, failure }) => [name, kind, failure])).toEqual([
      ['resources/read', 'client', null],
      ['prompts/get greet', 'client', 'failed'],
      ['ping', 'client', 'failed'],
    ]);
    expect(built.map(({ attributes }) => attributes)).toEqual([
      { 'mcp.method.name': 'resources/read', 'mcp.resource.uri': 'note://1' },
      { 'mcp.method.name': 'prompts/get', 'gen_ai.prompt.name': 'greet', 'error.type': '-32602' },
      { 'mcp.method.name': 'ping', 'error.type': '_OTHER' },
    ]);
  });

  it('uses the names that the conventions have, and its own prefix for the rest', () => {
    const known = new Set<string>(Object.values(conventions).filter((value) => typeof value === 'string'));
    const trace = {
      spans: ['step', 'llm', 'tool', 'request'].map((category) => ({ ...createCallSpan(category), category })),
    };
    const spans = [buildIterationSpan(traced, read), ...buildTraceSpans(trace, ids)];
    const names = spans.flatMap(({ attributes }) => Object.keys(attributes));
    expect(names.filter((name) => !known.has(name) && !name.startsWith('mcp_eval_ci.'))).toEqual([]);
    expect(known.has('gen_ai.tool.nam')).toBe(false);
  });

  it.each([
    ['nothing', undefined],
    ['no spans', { spans: 'none' }],
    ['what is no span', { spans: [null, 7, 'span', [], { name: 'no times' }] }],
    [
      'times that are none',
      { spans: [createCallSpan('a', { startMs: Number.NaN }), createCallSpan('b', { endMs: 9e15 })] },
    ],
  ])('leaves out %s', (_, trace) => {
    expect(buildTraceSpans(trace, ids)).toEqual([]);
  });

  it('keeps a span whose parent is unknown or itself below the iteration, and one that ends before it begins', () => {
    const spans = [
      createCallSpan('a', { parentId: 'gone', endMs: 900 }),
      createCallSpan('b', { id: 'b', parentId: 'b' }),
      createCallSpan('c', { id: 7 }),
    ];
    const built = buildTraceSpans({ spans }, ids);
    expect(built.map(({ parentSpanId }) => parentSpanId)).toEqual([ids.rootId, ids.rootId, ids.rootId]);
    expect(new Set(built.map(({ spanId }) => spanId)).size).toBe(3);
    expect([built[0]?.startMs, built[0]?.endMs]).toEqual([1000, 1000]);
  });

  it('keeps the first five hundred spans of a loop', () => {
    const spans = Array.from({ length: 600 }, (_, index) => createCallSpan(String(index)));
    expect(buildTraceSpans({ spans }, ids)).toHaveLength(500);
  });
});
