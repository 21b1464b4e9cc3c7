import { describe, expect, it } from 'vitest';
import { runCase } from '../../src/engine/run-case.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { buildTraceSpans } from '../../src/otlp/spans.ts';
import { identifyTrace } from '../../src/otlp/ids.ts';
import { refuse, startFixtureMcpServer, text, type ToolContext } from '../support/servers/fixture-mcp-server.ts';
import { VirtualClock } from '../support/clocks/virtual-clock.ts';

/** Never ends a sleep: the iteration has no deadline, and time passes only inside its tools. */
class IdleClock extends VirtualClock {
  override sleep(_: number, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  }
}

describe('the trace of runCase', () => {
  it('holds what was called, what came back word for word, and when', async () => {
    const clock = new IdleClock();
    const startedAtMs = clock.now();
    await using server = await startFixtureMcpServer({
      echo: {
        call: ({ args }) => {
          clock.advance(250);
          return { ...text(String(args['message'])), _meta: { 'example.com/cost': 3 } };
        },
      },
      refuse: { call: () => refuse(-32602, 'no') },
    });
    const target = { url: server.url, serverName: 'fixture', protocol: 'legacy' as const };
    const steps = [
      callStep('echo', { message: 'hi' }),
      assertStep({ type: 'toolLatencyUnder', ms: 251 }),
      callStep('refuse'),
    ];
    const outcome = await runCase(createCase(steps), target, { clock, timeoutMs: 30_000 });
    expect(outcome.startedAtMs).toBe(startedAtMs);
    expect(outcome.durationMs).toBe(250);
    expect(outcome.trace.messages).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'echo', input: { message: 'hi' } }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'call_1',
            toolName: 'echo',
            output: {
              type: 'json',
              value: { content: [{ type: 'text', text: 'hi' }], _meta: { 'example.com/cost': 3 } },
            },
          },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'call_2', toolName: 'refuse', input: {} }] },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'call_2',
            toolName: 'refuse',
            output: { type: 'error-text', value: 'no' },
            isError: true,
          },
        ],
      },
    ]);
    const [startMs, endMs] = [startedAtMs, startedAtMs + 250];
    expect(
      outcome.trace.spans.map(({ id, parentId, category, status, startMs, endMs, mcpErrorCode }) => {
        return [id, parentId, category, status, startMs, endMs, mcpErrorCode];
      }),
    ).toEqual([
      ['call_1', 'step_1', 'tool', 'ok', startMs, endMs, undefined],
      ['step_1', undefined, 'step', 'ok', startMs, endMs, undefined],
      ['step_2', undefined, 'step', 'ok', endMs, endMs, undefined],
      ['call_2', 'step_3', 'tool', 'error', endMs, endMs, -32602],
      ['step_3', undefined, 'step', 'error', endMs, endMs, undefined],
    ]);
    expect(outcome.trace.prompts).toEqual([]);
    expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome);
  });

  it('keeps a call that was cut off, without a result', async () => {
    const caller = new AbortController();
    await using server = await startFixtureMcpServer({
      stop: {
        call: () => {
          caller.abort();
          return text('too late');
        },
      },
    });
    const target = { url: server.url, serverName: 'fixture', protocol: 'legacy' as const };
    const options = { clock: new IdleClock(), timeoutMs: 30_000, signal: caller.signal };
    const { trace } = await runCase(createCase([callStep('stop')]), target, options);
    expect(trace.messages.map((message) => message.role)).toEqual(['assistant']);
    expect(trace.spans.map((span) => [span.id, span.status])).toEqual([
      ['call_1', 'error'],
      ['step_1', 'error'],
    ]);
  });

  it.each(['legacy', 'modern'] as const)('is one that a %s server can join, where it is asked to', async (era) => {
    const received: unknown[] = [];
    const call = ({ meta }: ToolContext) => {
      received.push(meta['traceparent']);
      return text('ok');
    };
    await using server = await startFixtureMcpServer({ echo: { call } }, { era });
    const target = { url: server.url, serverName: 'fixture', protocol: era };
    const testCase = createCase([callStep('echo'), callStep('echo')]);
    const options = { clock: new IdleClock(), timeoutMs: 30_000 };
    const trace = identifyTrace({ runId: 'run_1', iterationId: 'it_1' });
    const joined = await runCase(testCase, target, { ...options, trace });
    expect(joined.result).toBe('passed');
    const calls = buildTraceSpans(joined.trace, trace).filter(({ kind }) => kind === 'client');
    expect(received).toEqual(calls.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`));
    expect(received).toEqual([expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/), expect.any(String)]);
    expect(received[0]).not.toBe(received[1]);

    await runCase(testCase, target, options);
    expect(received.slice(2)).toEqual([undefined, undefined]);
  });

  it.each(['legacy', 'modern'] as const)('is one that a %s server can join in requests of steps', async (era) => {
    const received: unknown[] = [];
    const tell = ({ params }: { params?: { _meta?: Record<string, unknown> | undefined } | undefined }) => {
      received.push(params?._meta?.['traceparent']);
    };
    const cache = { ttlMs: 0, cacheScope: 'private' as const };
    await using server = await startFixtureMcpServer(
      {},
      {
        era,
        capabilities: { resources: {} },
        prepare: (own) => {
          own.setRequestHandler('resources/read', (request) => {
            tell(request);
            return { ...cache, contents: [{ uri: request.params.uri, text: 'note' }] };
          });
          own.setRequestHandler('resources/list', (request) => {
            tell(request);
            return { ...cache, resources: [] };
          });
        },
      },
    );
    const target = { url: server.url, serverName: 'fixture', protocol: era };
    const testCase = createCase([
      { id: 'read', kind: 'readResource', uri: 'note://1' },
      { id: 'list', kind: 'listResources' },
    ]);
    const trace = identifyTrace({ runId: 'run_1', iterationId: 'it_2' });
    const joined = await runCase(testCase, target, { clock: new IdleClock(), timeoutMs: 30_000, trace });
    expect(joined.result).toBe('passed');
    const requests = buildTraceSpans(joined.trace, trace).filter(({ kind }) => kind === 'client');
    expect(requests.map(({ name }) => name)).toEqual(['resources/read', 'resources/list']);
    expect(received).toEqual(requests.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`));
  });
});
