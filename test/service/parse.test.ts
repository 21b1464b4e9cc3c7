import { describe, expect, it } from 'vitest';
import { operations } from '../../src/service/operations/table.ts';
import { parseAs, toIteration, toRun, toStepResult } from '../../src/service/parse.ts';
import { caseBatchResultSchema, runCreatedSchema, suiteCreatedSchema, traceSchema } from '../../src/service/wire.ts';

const { getEvalRun, listEvalSuiteRuns, listEvalRunIterations, getEvalRunSteps } = operations.runs;
const readRun = parseAs(getEvalRun.answer, 'a run');
const parseRun = (answer: unknown) => toRun(readRun(answer));
const parseRuns = parseAs(listEvalSuiteRuns.answer, 'a list of runs');
const readIterations = parseAs(listEvalRunIterations.answer, 'a page of iterations');
const parseIterationPage = (answer: unknown) => ({ items: readIterations(answer).items.map(toIteration) });
const readSteps = parseAs(getEvalRunSteps.answer, 'a page of steps');
const parseStepPage = (answer: unknown) => ({ items: readSteps(answer).items.map(toStepResult) });

describe('parseRun', () => {
  it('reads what the product needs and ignores the rest', () => {
    expect(
      parseRun({
        id: 'r_1',
        suiteId: 's_1',
        runNumber: 4,
        status: 'completed',
        result: 'passed',
        summary: { total: 3, passed: 2, failed: 1, passRate: 0.6667, extra: true },
        source: 'github_check',
        notes: 'Nightly.',
        environment: null,
        createdAt: 1_780_000_000_000,
        completedAt: 1_780_000_001_000,
        judges: { goalCompletion: {} },
      }),
    ).toEqual({
      id: 'r_1',
      suiteId: 's_1',
      status: 'completed',
      result: 'passed',
      summary: { total: 3, passed: 2, failed: 1 },
      createdAtMs: 1_780_000_000_000,
      completedAtMs: 1_780_000_001_000,
      notes: 'Nightly.',
    });
  });

  it.each([{}, { result: null, summary: null, notes: null, createdAt: null, completedAt: null }])(
    'reads a run that lacks all but the essential: %j',
    (absent) => {
      expect(parseRun({ id: 'r', suiteId: 's', status: 'paused_by_admin', ...absent })).toEqual({
        id: 'r',
        suiteId: 's',
        status: 'paused_by_admin',
        result: null,
        summary: null,
        createdAtMs: null,
        completedAtMs: null,
        notes: null,
      });
    },
  );

  it.each([{}, { total: 3 }, { total: 3, passed: 3, failed: null }])('takes the counts %j for none', (summary) => {
    expect(parseRun({ id: 'r', suiteId: 's', status: 'running', summary }).summary).toBeNull();
  });

  it.each([
    [{ id: 'r', suiteId: 's' }, 'status'],
    [{ id: 'r', suiteId: 's', status: 3 }, 'status'],
    [{ id: 'r', suiteId: 's', status: 'completed', summary: { total: '3', passed: 3, failed: 0 } }, 'summary.total'],
    [[], ''],
    [null, ''],
  ])('refuses %j and names the place', (answer, path) => {
    expect(() => parseRun(answer)).toThrow(expect.objectContaining({ code: 'PROTOCOL', path }) as Error);
    expect(() => parseRun(answer)).toThrow(/^The service's answer is not a run: /);
  });

  it('names the place inside a list', () => {
    expect(() => parseRuns({ items: [{ id: 'r', suiteId: 's', status: 'x' }, {}] })).toThrow(
      expect.objectContaining({ path: 'items.1.id' }) as Error,
    );
  });
});

describe('parseIterationPage', () => {
  const bare = { id: 'i_1', status: 'completed' };

  it('reads an iteration that lacks all but the essential', () => {
    expect(parseIterationPage({ items: [{ ...bare, title: null, testCaseId: null }] }).items).toEqual([
      {
        id: 'i_1',
        testCaseId: null,
        title: null,
        iterationNumber: null,
        status: 'completed',
        result: null,
        startedAtMs: null,
        durationMs: null,
        error: null,
        model: null,
        tokensUsed: null,
        usage: null,
        judges: [],
        actualToolCalls: [],
        expectedToolCalls: [],
      },
    ]);
  });

  it('reads tool calls in the newer and in the older words', () => {
    const actualToolCalls = [
      { toolName: 'add', arguments: { a: 1 }, serverId: 'sv' },
      { name: 'add', args: { a: 2 } },
      { toolName: 'ping', arguments: 'not an object' },
      {},
    ];
    expect(parseIterationPage({ items: [{ ...bare, actualToolCalls }] }).items[0]?.actualToolCalls).toEqual([
      { toolName: 'add', arguments: { a: 1 } },
      { toolName: 'add', arguments: { a: 2 } },
      { toolName: 'ping', arguments: {} },
      { toolName: '(unnamed)', arguments: {} },
    ]);
  });

  it('does not let arguments reach a prototype', () => {
    const items = JSON.parse(
      '[{"id":"i","status":"x","actualToolCalls":[{"toolName":"t","arguments":{"__proto__":{"isPolluted":1},"a":1}}]}]',
    ) as unknown;
    const read = parseIterationPage({ items }).items[0]?.actualToolCalls[0]?.arguments;
    expect(read?.['isPolluted']).toBeUndefined();
    expect(read?.['a']).toBe(1);
  });
});

describe('parseStepPage', () => {
  const row = { stepId: 's1', stepIndex: 0, kind: 'assert' };

  it.each([
    ['ok', 'ok'],
    ['fail', 'fail'],
    ['skipped', 'skipped'],
    ['pending', 'pending'],
    ['passed', 'pending'],
  ])('reads the status %s as %s', (status, known) => {
    expect(parseStepPage({ items: [{ ...row, status }] }).items).toEqual([{ ...row, status: known, reason: null }]);
  });

  it('keeps the tool calls of the evidence', () => {
    const toolCalls = [
      { name: 'add', args: { a: 1 }, ok: true },
      { name: 'add', args: null, error: 'no' },
    ];
    const page = parseStepPage({ items: [{ ...row, status: 'fail', evidence: { toolCalls, source: 'scripted' } }] });
    expect(page.items[0]?.evidence).toEqual({
      toolCalls: [
        { name: 'add', args: { a: 1 }, ok: true },
        { name: 'add', args: {}, ok: false, error: 'no' },
      ],
    });
  });
});

describe('receipts', () => {
  it.each([
    [runCreatedSchema, { runId: 'r', suiteId: 's', status: 'completed', deduped: true, caseUpsert: null, other: 1 }],
    [runCreatedSchema, { runId: 'r', suiteId: 's', status: 'running' }],
    [suiteCreatedSchema, { suiteId: 's', caseUpsert: { committed: [{ id: 'c', name: 'C' }, { name: 'D' }] } }],
    [caseBatchResultSchema, { created: [], failed: [{ index: 0, code: 'INVALID_CASE', message: 'No.' }] }],
    [traceSchema, {}],
    [traceSchema, { messages: [], anything: { else: true } }],
  ])('tolerate what deployments leave out and add (%#)', (schema, answer) => {
    expect(() => parseAs(schema, 'a receipt')(answer)).not.toThrow();
  });

  it('require their ids', () => {
    expect(() => parseAs(runCreatedSchema, 'the receipt of a run')({ suiteId: 's', status: 'running' })).toThrow(
      /not the receipt of a run: runId: /,
    );
  });
});
