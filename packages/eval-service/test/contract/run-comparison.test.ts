import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ways } from '../../../../test/support/service/answers.ts';
import { type ContractService, openContractService } from '../../../../test/support/service/contract-service.ts';

/** A scorer that decides: whether the right tool was called. */
function scoreRoute(revision: string, value: number) {
  const passed = value === 1;
  return {
    scorerId: 'route',
    definitionHash: `route-${revision}`,
    deterministic: true,
    passThreshold: 1,
    value,
    passed,
  };
}

/** One that only advises. */
function scoreStyle(value: number) {
  return {
    scorerId: 'style',
    definitionHash: 'style-1',
    deterministic: false,
    passThreshold: 0.6,
    value,
    passed: true,
  };
}

const scored = (score: object) => ({ status: 'scored', scorerVersion: '1', ...score });
const notApplicable = { scorerId: 'style', definitionHash: 'style-1', deterministic: false, status: 'not_applicable' };
const route = { scorerId: 'route', role: 'gating', deterministic: true };
const style = { scorerId: 'style', role: 'advisory', deterministic: false };

/** What a reporter says of one iteration. `config` names the configuration of its scorers. */
function result(
  caseId: string,
  passed: boolean,
  {
    scores = [],
    config,
    ...fields
  }: { scores?: object[]; config?: { hash: string; definitions: object[] } } & Record<string, unknown> = {},
) {
  const metadata = { scores, ...(config && { evaluationConfig: config }) };
  return { caseTitle: `Case ${caseId}`, caseId, query: `Ask about ${caseId}.`, passed, ...fields, metadata };
}

const before = { hash: 'scorers-1', definitions: [route, style] };
const after = { hash: 'scorers-2', definitions: [route, style] };
const unit = { tokens: { total: 50 } };

/** The same shape of data as the public fixture of the API has, of our own. */
const baseResults = [
  result('worse', true, { scores: [scored(scoreRoute('a', 1)), scored(scoreStyle(0.8))], config: before, ...unit }),
  result('damaged', true, { scores: [scored(scoreRoute('a', 1))], config: before, ...unit }),
  result('steady', true, { scores: [notApplicable], config: before, ...unit }),
  result('better', false, { error: 'It was slow.' }),
  result('broken', false),
  result('gone', true),
  result('edited', true),
];
const compareResults = [
  result('worse', false, {
    scores: [scored(scoreRoute('b', 0)), scored(scoreStyle(0.7))],
    config: after,
    error: 'It called another tool.',
    ...unit,
  }),
  result('damaged', true, {
    scores: [scored(scoreRoute('b', 1)), scored(scoreStyle(7))],
    config: after,
    ...unit,
  }),
  result('steady', true, { scores: [notApplicable], config: before, ...unit }),
  result('better', true),
  result('broken', false),
  result('edited', true, { query: 'Ask something else.' }),
  result('fresh', true),
];

describe('the comparison of runs', () => {
  let service: ContractService;
  let runs: Record<'base' | 'compare', string>;
  beforeAll(async () => {
    service = await openContractService();
    const base = await report('base', baseResults, { evaluationConfigHash: 'scorers-1' });
    const compare = await report('compare', compareResults, { evaluationConfigHash: 'scorers-2' });
    runs = { base, compare };
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  const report = async (externalRunId: string, results: object[], fields: object = {}): Promise<string> => {
    const run = { suiteName: 'Compared', externalRunId, ...fields };
    const { body } = await service.project.post('/eval-ingest/report', { ...run, results });
    return String(body.runId);
  };

  it.each(ways)('compareEvalRun answers 200: the statuses of all cases ($way)', async ({ open }) => {
    const { status, body } = await open(service)('compareEvalRun', { runId: runs.compare });
    expect(status).toBe(200);
    expect(body.baseline).toEqual({ policy: 'previous_completed', baseRunId: runs.base });
    const rows = body.cases.map((row: Record<string, unknown>) => [
      row['caseKey'],
      row['status'],
      row['configChanged'],
      row['evaluationConfigChanged'],
    ]);
    expect(rows).toEqual([
      ['worse', 'regressed', false, true],
      ['damaged', 'changed', false, true],
      ['steady', 'unchanged_passed', false, false],
      ['better', 'fixed', false, false],
      ['broken', 'unchanged_failed', false, false],
      ['edited', 'changed', true, false],
      ['fresh', 'new_case', false, false],
      ['gone', 'removed_case', false, false],
    ]);
    expect(body.cases[0].compare).toMatchObject({ outcome: 'failed', error: 'It called another tool.' });
    expect(body.cases[7].compare).toEqual({
      outcome: 'absent',
      iterationIds: [],
      representativeIterationId: null,
      error: null,
    });
    expect(body.passSummary).toMatchObject({
      total: { base: 7, compare: 7, delta: 0, percentDelta: 0 },
      passed: { base: 5, compare: 5, delta: 0, percentDelta: 0 },
      failed: { base: 2, compare: 2 },
    });
    expect(body.passSummary.passRatePercent.base).toBeCloseTo(500 / 7, 10);
    expect(body.metrics).toMatchObject({
      totalTokens: { base: 150, compare: 150, delta: 0, percentDelta: 0 },
      estimatedCostUsd: { base: null, compare: null, delta: null, percentDelta: null },
    });
  });

  it.each(ways)('compareEvalRun answers 200: the scorers of both runs ($way)', async ({ open }) => {
    const { body } = await open(service)('compareEvalRun', { runId: runs.compare });
    const { scorers, ...contract } = body.scoreContract;
    expect(contract).toEqual({
      base: {
        evaluationConfigHash: 'scorers-1',
        scoreIntegrity: 'valid',
        scoredIterations: 3,
        quarantinedIterations: 0,
      },
      compare: {
        evaluationConfigHash: 'scorers-2',
        scoreIntegrity: 'invalid',
        scoredIterations: 3,
        quarantinedIterations: 1,
      },
      evaluationConfigChanged: true,
    });
    // A value that is no fraction, and what is not applicable, are in no rate.
    expect(scorers).toEqual([
      {
        scorerId: 'route',
        gating: true,
        deterministic: true,
        definitionChanged: true,
        passRate: { base: 1, compare: 0.5, delta: -0.5, percentDelta: -50 },
        meanValue: { base: 1, compare: 0.5, delta: -0.5, percentDelta: -50 },
        errorCount: { base: 0, compare: 0 },
      },
      {
        scorerId: 'style',
        gating: false,
        deterministic: false,
        definitionChanged: false,
        passRate: { base: 1, compare: 1, delta: 0, percentDelta: 0 },
        meanValue: {
          base: 0.8,
          compare: 0.7,
          delta: expect.closeTo(-0.1, 10),
          percentDelta: expect.closeTo(-12.5, 10),
        },
        errorCount: { base: 0, compare: 0 },
      },
    ]);
    const none = { base: null, compare: null, delta: null, percentDelta: null };
    expect(body.cases[2].scoreDeltas).toEqual([
      {
        scorerId: 'style',
        gating: false,
        deterministic: false,
        definitionChanged: false,
        base: { status: 'not_applicable', value: null, passed: null },
        compare: { status: 'not_applicable', value: null, passed: null },
        value: none,
      },
    ]);
  });

  it.each(ways)('compareEvalRun answers 200: with the named baseline, errors cut ($way)', async ({ open }) => {
    const fields = { runId: runs.base, baseRunId: runs.compare, previewChars: 9 };
    const { body } = await open(service)('compareEvalRun', fields);
    expect(body.baseline).toEqual({ policy: 'run', baseRunId: runs.compare });
    expect(body.cases[0]).toMatchObject({ status: 'fixed', base: { error: 'It called' } });
  });

  it.each(ways)('compareEvalRun answers 400: previewChars that is no number ($way)', async ({ open }) => {
    const { status, code } = await open(service)('compareEvalRun', { runId: runs.compare, previewChars: 'all' });
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each(ways)('compareEvalRun answers 404: no earlier run, or an unusable baseline ($way)', async ({ open }) => {
    const send = open(service);
    const other = await service.project.post('/eval-ingest/report', {
      suiteName: 'Another',
      externalRunId: 'another',
      results: [result('worse', true)],
    });
    const { body: unfinished } = await service.project.post('/eval-ingest/runs/start', {
      suiteName: 'Compared',
      externalRunId: 'unfinished',
    });
    for (const fields of [
      { runId: runs.base },
      { runId: runs.compare, baseRunId: other.body.runId },
      { runId: runs.compare, baseRunId: unfinished.runId },
      { runId: runs.compare, baseRunId: 'run_none' },
    ]) {
      const { status, code } = await send('compareEvalRun', fields);
      expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
    }
    const { body } = await service.project.get(`/eval-runs/${runs.compare}/compare?baseRunId=run_none`);
    expect(body.details).toEqual({ reason: 'BASELINE_NOT_FOUND', baseRunId: 'run_none' });
    const missing = await service.project.get('/eval-runs/run_none/compare');
    expect(missing.body).toEqual({ code: 'NOT_FOUND', message: 'Run not found.' });
  });

  it('passes over runs that were not completed when it looks for the baseline', async () => {
    const first = await report('first', [result('worse', true)], { suiteName: 'Interrupted' });
    const { body: empty } = await service.project.post('/eval-ingest/runs/start', {
      suiteName: 'Interrupted',
      externalRunId: 'empty',
    });
    await service.project.post(`/eval-runs/${empty.runId}/cancel`);
    const last = await report('last', [result('worse', true)], { suiteName: 'Interrupted' });
    const { body } = await service.project.get(`/eval-runs/${last}/compare`);
    expect(body.baseline.baseRunId).toBe(first);
  });
});
