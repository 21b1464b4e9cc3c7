import { describe, expect, it } from 'vitest';
import { createRedactor, Secret } from '../../../src/base/redaction.ts';
import { createEvidenceCollector } from '../../../src/gate/run/evidence-log.ts';
import { createResultKeeper, type ResultKeeper } from '../../../src/gate/run/keep-results.ts';
import type { Iteration } from '../../../src/model/run.ts';

const secret = 'canary_5d2e8c7b91f04a66';
const redactor = createRedactor([new Secret(secret)]);
const within = () => createEvidenceCollector(redactor, { traces: 'none' });

function createIteration(id: string, fields: Partial<Iteration> = {}): Iteration {
  return {
    id,
    testCaseId: null,
    title: 'Echoes',
    iterationNumber: 1,
    status: 'completed',
    result: 'passed',
    startedAtMs: null,
    durationMs: 3,
    error: null,
    model: null,
    tokensUsed: null,
    usage: null,
    judges: [],
    actualToolCalls: [],
    expectedToolCalls: [],
    ...fields,
  };
}

const add = (keeper: ResultKeeper, id: string, fields: Partial<Iteration> = {}, suiteId = 's') =>
  keeper.addIteration(suiteId, createIteration(id, fields), { caseId: 'c', outcome: 'failed' });
const trace = (length: number) => ({ messages: [{ role: 'tool', content: 'x'.repeat(length) }], spans: [], others: 1 });

describe('createResultKeeper', () => {
  it('keeps how iterations are counted last, without those that have no result', () => {
    const keeper = createResultKeeper(within(), { redactor });
    for (const outcome of ['failed', 'passed'] as const) {
      keeper.addIteration('s', createIteration('i1'), { caseId: 'c', outcome });
    }
    keeper.addIteration('s', createIteration('i2'), { caseId: 'c', outcome: 'failed' });
    keeper.addIteration('s', createIteration('i2'), { caseId: 'c', outcome: 'unscored' });
    const { suites, overflowing, lacksTraces } = keeper.kept();
    expect(suites.get('s')).toMatchObject([{ iterationId: 'i1', caseId: 'c', passed: true }]);
    expect([overflowing.size, lacksTraces]).toEqual([0, false]);
    expect(keeper.collect().iterations).toHaveLength(2);
  });

  it('keeps no secret, however it is cut', async () => {
    const keeper = createResultKeeper(within(), { redactor });
    const call = { toolName: secret, arguments: { [secret]: [secret] } };
    add(keeper, 'i', { error: `${'x'.repeat(1980)} ${secret}`, actualToolCalls: [call] });
    await keeper.addTrace('s', 'i', {
      messages: [`${'y'.repeat(7990)} ${secret} ${'z'.repeat(200_000)}`, { [secret]: secret }],
    });
    const [kept] = keeper.kept().suites.get('s')!;
    expect(JSON.stringify(kept)).not.toMatch(/canary_5/);
    expect(kept).toMatchObject({ actualToolCalls: [{ toolName: '***', arguments: { '***': ['***'] } }] });
    expect(kept?.trace).toMatchObject({ messages: [expect.stringMatching(/^y{7990}/), { '***': '***' }] });
  });

  it('cuts large calls and traces', async () => {
    const keeper = createResultKeeper(within(), { redactor });
    add(keeper, 'i', { actualToolCalls: [{ toolName: 'a', arguments: { text: 'x'.repeat(20_000) } }] });
    await keeper.addTrace('s', 'i', { messages: Array.from({ length: 100 }, () => 'y'.repeat(5000)) });
    await keeper.addTrace('s', 'unknown', trace(1));
    const [kept] = keeper.kept().suites.get('s')!;
    expect(kept?.actualToolCalls).toEqual([{ toolName: 'a', arguments: {} }]);
    expect(kept?.trace).toEqual({ messages: Array.from({ length: 100 }, () => `${'y'.repeat(999)}…`) });
  });

  it('drops traces before results', async () => {
    const keeper = createResultKeeper(within(), { redactor, maxBytes: 5000 });
    add(keeper, 'i1');
    await keeper.addTrace('s', 'i1', trace(2000));
    add(keeper, 'i2');
    await keeper.addTrace('s', 'i2', trace(2000));
    expect([keeper.kept().lacksTraces, keeper.hasRoomForTraces()]).toEqual([false, true]);
    add(keeper, 'i3', { error: 'e'.repeat(1500) });
    const { suites, lacksTraces, overflowing } = keeper.kept();
    expect(suites.get('s')?.map((result) => [result.iterationId, result.trace !== undefined])).toEqual([
      ['i1', true],
      ['i2', false],
      ['i3', false],
    ]);
    expect([lacksTraces, overflowing.size, keeper.hasRoomForTraces()]).toEqual([true, 0, false]);
  });

  it('gives up a suite whose results are too large, and keeps the others', () => {
    const keeper = createResultKeeper(within(), { redactor, maxBytes: 5000 });
    add(keeper, 'i', {}, 'small');
    for (const id of ['i1', 'i2', 'i3', 'i4']) add(keeper, id, { error: 'e'.repeat(1900) }, 'large');
    add(keeper, 'i', {}, 'last');
    const { suites, overflowing } = keeper.kept();
    expect([[...suites.keys()], [...overflowing]]).toEqual([['small', 'last'], ['large']]);
  });
});
