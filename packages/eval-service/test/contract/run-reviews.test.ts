import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ModelError } from '../../../../src/base/errors.ts';
import type { EmbeddedOptions } from '../../src/open-service.ts';
import { openIndependentProvider } from '../../../../test/support/models/independent-provider.ts';
import { openTestSource, testModels } from '../../../../test/support/models/model-source.ts';
import { createScriptedSource } from '../../../../test/support/models/scripted-source.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import { type ContractService, openContractService } from '../../../../test/support/service/contract-service.ts';
import { createWorkspace } from '../../../../test/support/workspace.ts';

type Provider = Awaited<ReturnType<typeof openIndependentProvider>>;

/** A call of a tool, as a provider answers it. */
const call = (name: string, input: object) => ({ toolCalls: [{ name, arguments: JSON.stringify(input) }] });
const talk = (question: string, answer: string) => ({
  messages: [
    { role: 'user', content: question },
    { role: 'assistant', content: [{ type: 'text', text: answer }] },
  ],
});

const results = [
  {
    caseTitle: 'Names the capital',
    caseId: 'capital',
    passed: true,
    expectedOutput: 'Paris',
    trace: talk('What is the capital of France?', 'It is Paris.'),
  },
  {
    caseTitle: 'Counts the moons',
    caseId: 'moons',
    passed: false,
    expectedOutput: 'Two',
    error: 'The answer lacks "two".',
    trace: talk('How many moons has Mars?', 'It has nine.'),
  },
  { caseTitle: 'Says nothing', caseId: 'silent', passed: true },
];

const finding = {
  title: 'Facts are wrong',
  category: 'agent_behavior',
  attribution: 'agent_or_prompt',
  actionTarget: 'agent_configuration',
  severity: 'high',
  confidence: 'medium',
  recommendation: 'Let the model look it up.',
  acceptanceCriteria: ['The case passes.'],
};

describe('the reviews of a run', () => {
  let provider: Provider;
  let service: ContractService | undefined;
  beforeAll(async () => {
    provider = await openIndependentProvider([]);
    const says = (text: string, rubric: string) => (request: object) => {
      const sent = JSON.stringify(request);
      return sent.includes(text) && sent.includes(rubric);
    };
    const goal = 'achieves what the user asked for';
    const grounds = 'Every factual claim';
    const good = { reason: 'It names Paris.', score: 0.9, passed: true };
    const bad = { reason: 'It says nine.', score: 0.2, passed: false };
    provider.provider
      .on({ predicate: says('It is Paris', goal) }, call('give_judgement', { ...good, rubricHits: ['Paris'] }))
      .on({ predicate: says('It is Paris', grounds) }, call('give_judgement', { ...good, unsupportedClaims: [] }))
      .on({ predicate: says('It has nine', goal) }, call('give_judgement', { ...bad, rubricHits: [] }))
      .on(
        { predicate: says('It has nine', grounds) },
        call('give_judgement', { ...bad, unsupportedClaims: ['Mars has nine moons.'] }),
      )
      .on(
        { predicate: says('save_insights', 'moons') },
        call('save_insights', {
          summary: 'One case fails.',
          findings: [
            { ...finding, cases: ['moons', 'none'] },
            { ...finding, cases: ['capital'] },
            { ...finding, category: 'other', cases: ['moons'] },
          ],
        }),
      );
  });
  afterAll(async () => {
    await provider[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    await service?.[Symbol.asyncDispose]();
    service = undefined;
  });

  const open = async (options: Partial<EmbeddedOptions>) => {
    const opened = await openContractService(options);
    service = opened;
    const { body } = await opened.project.post('/eval-ingest/report', {
      suiteName: 'Reviewed',
      externalRunId: 'reviewed',
      results,
    });
    return { opened, runId: String(body.runId) };
  };
  const withProvider = async () =>
    await open({
      models: openTestSource({ format: 'compatible', baseUrl: `${provider.provider.url}/v1` }),
      defaultModel: testModels.compatible,
    });
  const read = async ({ project }: ContractService, runId: string) => (await project.get(`/eval-runs/${runId}`)).body;
  /** Asks until no review is under way. */
  const waitForReviews = (opened: ContractService, runId: string) =>
    expect.poll(async () => {
      const { judges, insights } = await read(opened, runId);
      return [judges.goalCompletion.status, insights.status];
    });

  it.each(ways)('judgeEvalRun answers 202: the judgements come to the run ($way)', async ({ open: enter }) => {
    const { opened, runId } = await withProvider();
    const receipt = await enter(opened)('judgeEvalRun', { runId });
    expect(receipt).toMatchObject({ status: 202, body: { runId, projectId: opened.projectId, status: 'pending' } });
    await waitForReviews(opened, runId).toEqual(['completed', 'not_requested']);
    const { judges } = await read(opened, runId);
    const state = {
      status: 'completed',
      errorCode: null,
      generatedAt: expect.any(Number),
      modelUsed: 'openai/gpt-5-mini',
      threshold: 0.7,
    };
    expect(judges.goalCompletion).toEqual({
      ...state,
      summary: '1 of 2 judged cases passed; 1 of 3 could not be judged.',
      cases: [
        { caseKey: 'capital', score: 0.9, passed: true, reason: 'It names Paris.', rubricHits: ['Paris'] },
        { caseKey: 'moons', score: 0.2, passed: false, reason: 'It says nine.', rubricHits: [] },
      ],
    });
    expect(judges.groundedness.cases[1]).toEqual({
      caseKey: 'moons',
      score: 0.2,
      passed: false,
      reason: 'It says nine.',
      unsupportedClaims: ['Mars has nine moons.'],
    });
    // Advice alone: the result of the run is as it was.
    expect((await read(opened, runId)).result).toBe('failed');
  });

  it.each(ways)('judgeEvalRun answers 202: once more where it is forced ($way)', async ({ open: enter }) => {
    const { opened, runId } = await withProvider();
    const send = enter(opened);
    await send('judgeEvalRun', { runId });
    await waitForReviews(opened, runId).toEqual(['completed', 'not_requested']);
    expect((await send('judgeEvalRun', { runId, force: true, threshold: 0.1 })).status).toBe(202);
    await waitForReviews(opened, runId).toEqual(['completed', 'not_requested']);
    const { goalCompletion } = (await read(opened, runId)).judges;
    expect(goalCompletion.cases.map(({ passed }: { passed: boolean }) => passed)).toEqual([true, true]);
  });

  it.each(ways)('judgeEvalRun answers 400: judged already, running, or a bad field ($way)', async ({ open: enter }) => {
    const { opened, runId } = await withProvider();
    const send = enter(opened);
    await send('judgeEvalRun', { runId });
    await waitForReviews(opened, runId).toEqual(['completed', 'not_requested']);
    const start = { suiteName: 'Reviewed', externalRunId: 'running' };
    const { body: running } = await opened.project.post('/eval-ingest/runs/start', start);
    for (const fields of [
      { runId },
      { runId: running.runId },
      { runId, force: 'true' },
      { runId, force: true, threshold: 2 },
      { runId, force: true, model: 'nonsense' },
    ]) {
      const { status, code } = await send('judgeEvalRun', fields);
      expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
    }
  });

  it.each(ways)('judgeEvalRun answers 202: by the settings of the suite ($way)', async ({ open: enter }) => {
    const { opened, runId } = await withProvider();
    const send = enter(opened);
    const { suiteId } = await read(opened, runId);
    const judge = { enabled: true, model: 'openai/gpt-5-mini', threshold: 0.1 };
    await send('updateEvalSuite', { suiteId, settings: { judge } });
    expect(await send('judgeEvalRun', { runId })).toMatchObject({ status: 202 });
    await waitForReviews(opened, runId).toEqual(['completed', 'not_requested']);
    expect((await read(opened, runId)).judges.goalCompletion).toMatchObject({
      modelUsed: 'openai/gpt-5-mini',
      threshold: 0.1,
      cases: [{ passed: true }, { passed: true }],
    });
    await send('updateEvalSuite', { suiteId, settings: { judge: { model: 'unknown/model' } } });
    expect(await send('judgeEvalRun', { runId, force: true })).toMatchObject({ status: 422 });
    const given = { model: 'openai/gpt-5-mini', threshold: 0.5 };
    expect(await send('judgeEvalRun', { runId, force: true, ...given })).toMatchObject({ status: 202 });
    await waitForReviews(opened, runId).toEqual(['completed', 'not_requested']);
    expect((await read(opened, runId)).judges.goalCompletion).toMatchObject({ threshold: 0.5 });
  });

  /** Sets the judge of the suite, reports a run to it and gives that run. */
  const reportToJudge = async (opened: ContractService, runId: string, judge: object) => {
    const { suiteId } = await read(opened, runId);
    await opened.project.patch(`/eval-suites/${suiteId}`, { settings: { judge } });
    const externalRunId = `after ${JSON.stringify(judge)}`;
    const run = { suiteName: 'Reviewed', externalRunId, results };
    return String((await opened.project.post('/eval-ingest/report', run)).body.runId);
  };

  it('judges a run by itself where the suite says so', async () => {
    const { opened, runId } = await withProvider();
    const next = await reportToJudge(opened, runId, { enabled: true, autoRun: true, threshold: 0.1 });
    await waitForReviews(opened, next).toEqual(['completed', 'not_requested']);
    expect((await read(opened, next)).judges.goalCompletion).toMatchObject({
      threshold: 0.1,
      cases: [{ passed: true }, { passed: true }],
    });
    expect((await read(opened, runId)).judges.goalCompletion.status).toBeNull();
  });

  it.each([{ autoRun: true }, { enabled: false, autoRun: true }, { enabled: true, autoRun: false }])(
    'judges no run by itself with %j',
    async (judge) => {
      const { opened, runId } = await withProvider();
      const next = await reportToJudge(opened, runId, judge);
      expect((await read(opened, next)).judges.goalCompletion.status).toBeNull();
    },
  );

  it('says in the run why it could not be judged by itself', async () => {
    const { opened, runId } = await open({ models: createScriptedSource([]), defaultModel: null });
    const next = await reportToJudge(opened, runId, { enabled: true, autoRun: true, model: 'unknown/model' });
    expect((await read(opened, next)).judges.goalCompletion).toMatchObject({
      status: 'failed',
      errorCode: 'FEATURE_NOT_SUPPORTED',
      summary: expect.stringContaining('UNKNOWN_API_KEY'),
    });
  });

  it.each(ways)('judgeEvalRun answers 400: the judge of the suite is disabled ($way)', async ({ open: enter }) => {
    const { opened, runId } = await withProvider();
    const send = enter(opened);
    const { suiteId } = await read(opened, runId);
    await send('updateEvalSuite', { suiteId, settings: { judge: { enabled: false } } });
    expect(await send('judgeEvalRun', { runId })).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
    expect(await send('judgeEvalRun', { runId, enable: true })).toMatchObject({ status: 202 });
    await waitForReviews(opened, runId).toEqual(['completed', 'not_requested']);
  });

  it.each(ways)('judgeEvalRun answers 404: no such run ($way)', async ({ open: enter }) => {
    const { opened } = await withProvider();
    const { status, code } = await enter(opened)('judgeEvalRun', { runId: 'run_none' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('judgeEvalRun answers 422: no model can be asked ($way)', async ({ open: enter }) => {
    const { opened, runId } = await open({ models: createScriptedSource([]), defaultModel: null });
    const { status, code } = await enter(opened)('judgeEvalRun', { runId });
    expect({ status, code }).toEqual({ status: 422, code: 'FEATURE_NOT_SUPPORTED' });
    const { body } = await opened.project.post(`/eval-runs/${runId}/judge`, { model: 'openai/gpt-5-mini' });
    expect(body.message).toBe('The judge needs a model: OPENAI_API_KEY is not set.');
  });

  it.each(ways)('requestEvalRunInsights answers 202: findings come to the run ($way)', async ({ open: enter }) => {
    const { opened, runId } = await withProvider();
    const receipt = await enter(opened)('requestEvalRunInsights', { runId });
    expect(receipt).toMatchObject({ status: 202, body: { status: 'pending' } });
    await waitForReviews(opened, runId).toEqual([null, 'completed']);
    const { insights } = await read(opened, runId);
    expect(insights).toMatchObject({
      schemaVersion: 1,
      scope: { kind: 'eval_run', id: runId },
      error: null,
      summary: 'One case fails.',
      coverage: { unit: 'iterations', analyzed: 3, total: 3, truncated: false, lowConfidence: true },
    });
    // One is of a case that passed, and one is not in the words of the API.
    expect(insights.findings).toEqual([
      {
        ...finding,
        id: expect.stringMatching(/^rf_[0-9a-f]{16}$/),
        signalFingerprint: expect.any(String),
        actionability: 'investigate',
        observed: '1 of 1 iterations failed: "Counts the moons".',
        affected: { count: 1, total: 1, unit: 'iterations' },
        evidence: [{ iterationId: expect.any(String), kind: 'transcript', excerpt: 'The answer lacks "two".' }],
      },
    ]);
    const again = await enter(opened)('requestEvalRunInsights', { runId });
    expect(again.status).toBe(400);
    expect((await enter(opened)('requestEvalRunInsights', { runId, force: true })).status).toBe(202);
  });

  it.each(ways)(
    'requestEvalRunInsights answers 400: a field that the API does not know ($way)',
    async ({ open: enter }) => {
      const { opened, runId } = await withProvider();
      const { status, code } = await enter(opened)('requestEvalRunInsights', { runId, model: 'openai/gpt-5-mini' });
      expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
    },
  );

  it.each(ways)('requestEvalRunInsights answers 404: no such run ($way)', async ({ open: enter }) => {
    const { opened } = await withProvider();
    const { status, code } = await enter(opened)('requestEvalRunInsights', { runId: 'run_none' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('requestEvalRunInsights answers 422: no model can be asked ($way)', async ({ open: enter }) => {
    const { opened, runId } = await open({ models: null });
    const { status, code } = await enter(opened)('requestEvalRunInsights', { runId });
    expect({ status, code }).toEqual({ status: 422, code: 'FEATURE_NOT_SUPPORTED' });
    expect((await read(opened, runId)).insights).toMatchObject({ status: 'not_available', reasonCode: 'NO_MODEL' });
  });

  it('say why the model gave no answer', async () => {
    const error = new ModelError('The provider withheld it.', { kind: 'filtered' });
    const models = createScriptedSource([error]);
    const { opened, runId } = await open({ models, defaultModel: { provider: 'scripted', name: 'standard' } });
    await opened.project.post(`/eval-runs/${runId}/judge`);
    await opened.project.post(`/eval-runs/${runId}/insights`);
    await waitForReviews(opened, runId).toEqual(['failed', 'failed']);
    const { judges, insights } = await read(opened, runId);
    expect(judges.goalCompletion).toMatchObject({ errorCode: 'MODEL_ANSWER_FILTERED', cases: [] });
    expect(insights).toMatchObject({ error: { code: 'MODEL_ANSWER_FILTERED' }, retryable: true, findings: [] });
  });

  it('fail where the service stops first, and stay so', async () => {
    await using workspace = await createWorkspace();
    const asked = Promise.withResolvers<void>();
    const models = {
      findProblem: () => null,
      openSession: async () => ({
        model: testModels.compatible,
        answer: async (_call: unknown, { signal }: { signal: AbortSignal }) =>
          await new Promise<never>((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
            asked.resolve();
          }),
      }),
    };
    const options = { dataDir: workspace.path, models, defaultModel: testModels.compatible };
    const { opened, runId } = await open(options);
    await opened.project.post(`/eval-runs/${runId}/insights`);
    await asked.promise;
    await opened[Symbol.asyncDispose]();
    const again = await openContractService(options);
    service = again;
    expect((await read(again, runId)).insights).toMatchObject({ status: 'failed', reasonCode: 'INTERRUPTED' });
  });
});
