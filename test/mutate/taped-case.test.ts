import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import type { TestCase } from '../../src/cases/case.ts';
import type { Step } from '../../src/cases/step.ts';
import { createCaseRecorder, explainUnjudgeable, judgeAgain, type TapedCase } from '../../src/mutate/taped-case.ts';
import { assertStep, callStep, createCase } from '../support/factories/case-factory.ts';
import { type FixtureMcpServer, refuse, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';

let server: FixtureMcpServer;

beforeAll(async () => {
  server = await startFixtureMcpServer({
    create: { call: () => ({ ...text('created'), structuredContent: { id: 7, name: 'milk' } }) },
    read: { call: ({ args }) => text(`note ${String(args['id'])}`) },
    refuse: { call: () => refuse(-32602, 'a must be a number') },
  });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function tape(steps: Step[], overrides: Partial<TestCase> = {}): Promise<TapedCase> {
  const recorder = createCaseRecorder();
  const target = { url: server.url, serverName: 'notes', protocol: 'legacy' as const };
  await recorder.runCase(createCase(steps, overrides), target, { clock: systemClock, timeoutMs: 30_000 });
  const [taped] = recorder.list();
  if (taped === undefined) throw new Error('Nothing was recorded.');
  return taped;
}

const answer = (result: unknown) => ({
  answers: new Map([[0, { kind: 'result' as const, result }]]),
});

const isMilk = assertStep({ type: 'toolResultEquals', value: 'milk', path: '/name' });
const other = { content: [{ type: 'text', text: 'created' }], structuredContent: { id: 7, name: 'bread' } };

describe('a case judged again from its tape', () => {
  it('has the outcome of its iteration, without the server', async () => {
    const passed = await tape([callStep('create'), isMilk]);
    const calls = server.events.length;
    expect(await judgeAgain(passed)).toEqual({ kind: 'passed' });
    const failed = await tape([callStep('refuse')]);
    expect(await judgeAgain(failed)).toEqual({ kind: 'failed', reason: failed.outcome.error });
    expect(server.events.slice(calls).filter((event) => event === 'call create')).toEqual([]);
  });

  it('fails if a check notices a changed answer, and passes if none does', async () => {
    expect(await judgeAgain(await tape([callStep('create'), isMilk]), answer(other))).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('bread'),
    });
    expect(await judgeAgain(await tape([callStep('create')]), answer(other))).toEqual({ kind: 'passed' });
  });

  it('is unknown where a changed answer is a part of a later request', async () => {
    const create = { ...callStep('create'), capture: { id: '/structuredContent/id' } };
    const steps = [create, callStep('read', { id: '{{id}}' })];
    const taped = await tape(steps, { advancedConfig: { placeholders: true } });
    expect(await judgeAgain(taped)).toEqual({ kind: 'passed' });
    const changed = answer({ content: [], structuredContent: { id: 8, name: 'milk' } });
    expect(await judgeAgain(taped, changed)).toEqual({
      kind: 'unknown',
      reason: 'the answer to tools/call depends on it',
    });
    expect(await judgeAgain(taped, answer(other))).toEqual({ kind: 'passed' });
  });

  it('gives the time of each call again, and skips waits', async () => {
    const taped = await tape([
      { id: 'wait', kind: 'wait', ms: 5 },
      callStep('create'),
      assertStep({ type: 'toolLatencyUnder', ms: 20_000 }),
    ]);
    expect(await judgeAgain(taped)).toEqual({ kind: 'passed' });
    const [exchange] = taped.tape.exchanges;
    if (exchange !== undefined) exchange.latencyMs = 25_000;
    expect(await judgeAgain(taped)).toMatchObject({ kind: 'failed' });
  });
});

describe('a case that cannot be judged again', () => {
  it.each<[string, Step]>([
    ['it runs commands', { id: 'c', kind: 'command', command: ['true'], exitCode: 0 }],
    ['a check of your own judges it', assertStep({ type: 'custom', name: 'isInOrder' })],
    ['a model takes part in it', { id: 'p', kind: 'prompt', prompt: 'Hi' }],
  ])('says that %s', (reason, step) => {
    expect(explainUnjudgeable({ testCase: createCase([step]) })).toBe(reason);
    expect(explainUnjudgeable({ testCase: createCase([callStep('create')]) })).toBeNull();
  });
});
