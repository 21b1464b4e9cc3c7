import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { followTask } from '../../src/mcp/tasks.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { Step } from '../../src/cases/step.ts';
import { VirtualClock } from '../support/clocks/virtual-clock.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { text } from '../support/servers/fixture-mcp-server.ts';
import { startTaskServer } from '../support/servers/task-server.ts';

const eras = ['legacy', 'modern'] as const;

interface RunOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
}

async function run(
  { url }: { url: string },
  protocol: 'legacy' | 'modern',
  { steps = [callStep('brew')], timeoutMs = 20_000, ...options }: RunOptions & { steps?: Step[] } = {},
) {
  const target = { url, serverName: 'tasks', protocol };
  return await runCase(createCase(steps), target, { clock: systemClock, timeoutMs, ...options });
}

it('asks for a task as often as the server said last, also where an answer does not say', async () => {
  const clock = new VirtualClock();
  const answers = [
    { taskId: '1', status: 'working' },
    { taskId: '1', status: 'completed', result: text('tea') },
  ];
  const first = { taskId: '1', status: 'working', pollIntervalMs: 200 } as const;
  const request = async () => answers.shift();
  const { signal } = new AbortController();
  await followTask(first, { isModern: true, clock, signal, request, onChange: () => {} });
  expect(clock.sleepsMs).toEqual([200, 200]);
});

describe.each(eras)('a call that runs as a task in the %s era', (era) => {
  it('gives the result of the task after several polls', async () => {
    await using server = await startTaskServer(
      {
        brew: { states: [{ status: 'working' }, { status: 'working' }, { status: 'completed', result: text('tea') }] },
      },
      { era },
    );
    const steps = [callStep('brew'), assertStep({ type: 'toolResultContains', needle: 'tea' })];
    expect(await run(server, era, { steps })).toMatchObject({ status: 'completed', result: 'passed', error: null });
    const result = era === 'legacy' ? ['tasks/result 1'] : [];
    expect(server.requests).toEqual(['tasks/get 1', 'tasks/get 1', ...result]);
  });

  it('keeps each new state of the task in the trace, in order', async () => {
    const working = { status: 'working', message: 'Boiling water' } as const;
    await using server = await startTaskServer(
      { brew: { states: [{ status: 'working' }, working, working, { status: 'completed' }] } },
      { era },
    );
    const outcome = await run(server, era);
    const states = (outcome.trace.metadata?.notifications ?? []).map((entry) =>
      entry.kind === 'task' ? [entry.toolCallId, entry.toolName, entry.status, entry.message] : [entry.kind],
    );
    expect(states).toEqual([
      ['call_1', 'brew', 'working', null],
      ['call_1', 'brew', 'working', 'Boiling water'],
      ['call_1', 'brew', 'completed', null],
    ]);
  });

  it('fails on the error that the task ends with, as on that of a call', async () => {
    const refusal = { ...text('no water'), isError: true };
    await using server = await startTaskServer(
      { brew: { states: [{ status: 'working' }, { status: 'completed', result: refusal }] } },
      { era },
    );
    expect(await run(server, era)).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'brew answered with an error: "no water".',
    });
  });

  it('fails on a task that failed with a JSON-RPC error', async () => {
    const failed = { status: 'failed', error: { code: -32603, message: 'the kettle broke' } } as const;
    await using server = await startTaskServer({ brew: { states: [{ status: 'working' }, failed] } }, { era });
    const outcome = await run(server, era);
    expect(outcome).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'brew failed with JSON-RPC error -32603: "the kettle broke".',
    });
    expect(outcome.trace.spans.find(({ category }) => category === 'tool')?.mcpErrorCode).toBe(-32603);
  });

  it('fails on a task that the server cancelled, and says why', async () => {
    const cancelled = { status: 'cancelled', message: 'Out of tea.' } as const;
    await using server = await startTaskServer({ brew: { states: [{ status: 'working' }, cancelled] } }, { era });
    const error = 'brew failed: "The server cancelled the task: Out of tea.".';
    expect(await run(server, era)).toMatchObject({ status: 'completed', result: 'failed', error });
  });

  it('fails on a task that the server has forgotten', async () => {
    await using server = await startTaskServer({ brew: { states: [{ status: 'working' }, 'gone'] } }, { era });
    const error = 'brew failed with JSON-RPC error -32602: "The server no longer knows the task: Task not found".';
    expect(await run(server, era)).toMatchObject({ status: 'completed', result: 'failed', error });
  });

  it('times out on a task that never ends, and cancels it', async () => {
    await using server = await startTaskServer({ brew: { states: [{ status: 'working' }] } }, { era });
    const outcome = await run(server, era, { timeoutMs: 300 });
    const error = 'Timed out after 300 ms in step "brew" (tool brew).';
    expect(outcome).toMatchObject({ status: 'timed_out', result: 'failed', error });
    expect(server.requests.at(-1)).toBe('tasks/cancel 1');
  });

  it('cancels the task when the caller stops the iteration', async () => {
    await using server = await startTaskServer({ brew: { states: [{ status: 'working' }] } }, { era });
    const caller = new AbortController();
    const outcome = run(server, era, { signal: caller.signal });
    await server.waitForRequest('tasks/get 1');
    caller.abort();
    expect(await outcome).toMatchObject({ status: 'cancelled', result: null });
    expect(server.requests.at(-1)).toBe('tasks/cancel 1');
  });

  it('has no result when the connection breaks while the task runs', async () => {
    await using server = await startTaskServer({ brew: { states: [{ status: 'working' }] } }, { era });
    const outcome = run(server, era);
    await server.waitForRequest('tasks/get 1');
    await server[Symbol.asyncDispose]();
    expect(await outcome).toMatchObject({ status: 'failed', result: null });
  });
});

describe('a call in the legacy era', () => {
  it('asks for a task that lives longer than the iteration, where the tool allows one', async () => {
    await using server = await startTaskServer(
      { brew: { taskSupport: 'optional', states: [{ status: 'completed' }] } },
      { era: 'legacy' },
    );
    expect(await run(server, 'legacy')).toMatchObject({ result: 'passed' });
    expect(server.calls).toMatchObject([{ name: 'brew', task: { ttl: 620_000 } }]);
  });

  it('asks for no task where the tool forbids it', async () => {
    await using server = await startTaskServer({ brew: { taskSupport: 'forbidden', states: [] } }, { era: 'legacy' });
    const steps = [callStep('brew'), assertStep({ type: 'toolResultContains', needle: 'called without a task' })];
    expect(await run(server, 'legacy', { steps })).toMatchObject({ result: 'passed' });
  });

  it('asks for no task where the server runs none, even if the tool allows one', async () => {
    await using server = await startTaskServer(
      { brew: { taskSupport: 'optional', states: [] } },
      { era: 'legacy', hasTasks: false },
    );
    expect(await run(server, 'legacy')).toMatchObject({ result: 'passed' });
  });

  it('has no result for a tool that requires a task where the server runs none', async () => {
    await using server = await startTaskServer({ brew: { states: [] } }, { era: 'legacy', hasTasks: false });
    const outcome = await run(server, 'legacy');
    expect(outcome).toMatchObject({ status: 'failed', result: null });
    expect(outcome.error).toMatch(/^brew requires a task, and the server does not declare the capability/);
  });
});

describe('a task that asks for input', () => {
  const form = {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: 'Which tea?',
      requestedSchema: { type: 'object', properties: { tea: { type: 'string' } } },
    },
  };
  const states = [
    { status: 'working' as const },
    { status: 'input_required' as const, inputRequests: { tea: form } },
    { status: 'input_required' as const, inputRequests: { tea: form } },
    { status: 'completed' as const },
  ];

  it('gets the scripted answer once in the modern era, and goes on', async () => {
    await using server = await startTaskServer({ brew: { states } }, { era: 'modern' });
    const testCase = createCase(
      [callStep('brew'), assertStep({ type: 'elicitationRequested', message: 'Which tea?' })],
      {
        advancedConfig: { client: { elicitation: [{ accept: { tea: 'green' } }] } },
      },
    );
    const target = { url: server.url, serverName: 'tasks', protocol: 'modern' as const };
    const outcome = await runCase(testCase, target, { clock: systemClock, timeoutMs: 20_000 });
    expect(outcome).toMatchObject({ status: 'completed', result: 'passed', error: null });
    expect(server.requests.filter((request) => request === 'tasks/update 1')).toHaveLength(1);
    expect(server.responses).toEqual({ tea: { action: 'accept', content: { tea: 'green' } } });
  });

  it('has no result where the case offers no answer', async () => {
    await using server = await startTaskServer({ brew: { states } }, { era: 'modern' });
    const outcome = await run(server, 'modern');
    expect(outcome).toMatchObject({ status: 'failed', result: null });
    expect(outcome.error).toContain('elicitation');
  });
});
