import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/base/time.ts';
import type { CaseOutcome } from '../../src/engine/outcome.ts';
import { runCase } from '../../src/engine/run-case.ts';
import type { TestCase } from '../../src/cases/case.ts';
import type { CommandEnd } from '../../src/model/process-end.ts';
import type { Step } from '../../src/cases/step.ts';
import { createEventClock } from '../support/clocks/bent-clock.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { type FixtureMcpServer, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';

let server: FixtureMcpServer;
let notes: string[];

beforeAll(async () => {
  server = await startFixtureMcpServer({
    add: {
      call: ({ args }) => {
        notes.push(String(args['note']));
        return text('added');
      },
    },
    list: { call: () => text(notes.join(', ')) },
    clear: {
      call: () => {
        notes = [];
        return text('cleared');
      },
    },
    break: { call: () => ({ ...text('disk full'), isError: true }) },
    hang: {
      call: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(text('cancelled')));
        }),
    },
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const ended: CommandEnd = { exitCode: 0, signal: null, stdout: 'seeded\n', stderr: '', startError: null };
const command = (exitCode = 0): Step => ({ id: 'seed', kind: 'command', command: ['node', 'seed.js'], exitCode });

async function run(
  steps: Step[],
  advancedConfig: NonNullable<TestCase['advancedConfig']>,
  { signal, end = ended, clock = systemClock }: { signal?: AbortSignal; end?: Partial<CommandEnd>; clock?: Clock } = {},
): Promise<CaseOutcome> {
  notes = [];
  const target = { url: server.url, serverName: 'notes', protocol: 'legacy' as const };
  return await runCase(createCase(steps, { advancedConfig }), target, {
    clock,
    timeoutMs: 10_000,
    signal,
    runCommand: async () => ({ ...ended, ...end }),
  });
}

const add = callStep('add', { note: 'milk' });

/** A clock on which a limit of 200 ms lasts at least until the tool `hang` is called, however long what stands before it takes. */
const untilHang = createEventClock((delayMs) =>
  delayMs > 200 ? undefined : Promise.all([systemClock.sleep(delayMs), server.waitFor('call hang')]),
);
const clear = callStep('clear');
const lists = [callStep('list'), assertStep({ type: 'toolResultContains', needle: 'milk' })];

describe('the setup and the teardown of a case', () => {
  it('run before and after its steps, and no assertion counts their calls', async () => {
    const steps = [...lists, assertStep({ type: 'toolCallCountUnder', count: 2 })];
    const outcome = await run(steps, { setup: [command(), add], teardown: [clear] });
    expect(outcome.error).toBeNull();
    expect(outcome.fixtures.map(({ phase, kind, status }) => `${phase} ${kind} ${status}`)).toEqual([
      'setup command ok',
      'setup toolCall ok',
      'teardown toolCall ok',
    ]);
    expect(outcome.actualToolCalls.map(({ toolName }) => toolName)).toEqual(['list']);
    expect(notes).toEqual([]);
    const names = outcome.trace.spans.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['setup command', 'setup toolCall', 'teardown toolCall']));
    expect(new Set(outcome.trace.spans.map(({ id }) => id)).size).toBe(names.length);
  });

  it('leave the iteration without a result where the setup fails, and still tear down', async () => {
    const outcome = await run(lists, { setup: [add, callStep('break'), add], teardown: [clear] });
    expect(outcome).toMatchObject({
      status: 'failed',
      result: null,
      error: 'Setup failed in step "break" (toolCall): break answered with an error: "disk full".',
    });
    expect(outcome.steps.map(({ status }) => status)).toEqual(['skipped', 'skipped']);
    expect(outcome.fixtures).toHaveLength(3);
    expect(notes).toEqual([]);
  });

  it('take an error in the setup that an assertion there expects', async () => {
    const expected = assertStep({ type: 'toolResultIsError', isError: true });
    expect((await run([callStep('list')], { setup: [callStep('break'), expected] })).result).toBe('passed');
  });

  it('keep the result of the steps where the teardown fails, and warn', async () => {
    const outcome = await run(lists, { setup: [add], teardown: [callStep('break'), clear] });
    expect(outcome).toMatchObject({
      status: 'completed',
      result: 'passed',
      error: null,
      warnings: ['Teardown failed in step "break" (toolCall): break answered with an error: "disk full".'],
    });
    expect(notes).toEqual([]);
  });

  it('tear down after a failed step, and after a step that ran out of time', async () => {
    const wrong = assertStep({ type: 'toolResultContains', needle: 'eggs' });
    const failed = await run([callStep('list'), wrong], { setup: [add], teardown: [clear] });
    expect([failed.result, notes]).toEqual(['failed', []]);
    const late = await run(
      [callStep('hang')],
      { setup: [add], teardown: [clear], timeoutMs: 200 },
      { clock: untilHang },
    );
    expect([late.status, notes]).toEqual(['timed_out', []]);
  });

  it('tear down after the caller has cancelled', async () => {
    const abort = new AbortController();
    const running = run([callStep('hang')], { setup: [add], teardown: [clear] }, { signal: abort.signal });
    await server.waitFor('call hang');
    abort.abort(new Error('enough'));
    expect([(await running).status, notes]).toEqual(['cancelled', []]);
  });

  it('leave the iteration without a result where the setup takes too long', async () => {
    const outcome = await run([callStep('list')], { setup: [callStep('hang')], timeoutMs: 200 });
    expect(outcome).toMatchObject({
      status: 'failed',
      result: null,
      error: 'Setup failed in step "hang" (toolCall): The time was up.',
    });
  });
});

describe('a command step', () => {
  it('passes with the exit code that it expects, and fails with another one', async () => {
    expect((await run([command()], {})).result).toBe('passed');
    expect((await run([command(3)], {}, { end: { exitCode: 3 } })).result).toBe('passed');
    const failed = await run([command()], {}, { end: { exitCode: 3, stderr: 'a\nno such table: notes\n' } });
    expect(failed).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'The command "node" exited with code 3. Its last output: a; no such table: notes',
    });
  });

  it('has no result where it cannot be started, or the gate did not start the server', async () => {
    const missing = await run([command()], {}, { end: { exitCode: null, startError: 'spawn node ENOENT' } });
    expect(missing).toMatchObject({ status: 'failed', result: null });
    expect(missing.error).toBe('The command "node" could not be started: spawn node ENOENT.');
    const target = { url: server.url, serverName: 'notes', protocol: 'legacy' as const };
    const refused = await runCase(createCase([command()]), target, { clock: systemClock, timeoutMs: 10_000 });
    expect(refused).toMatchObject({ status: 'failed', result: null, runStop: refused.error });
  });
});
