import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import { type ContractService, openContractService } from '../../../../test/support/service/contract-service.ts';

describe('artifacts of ingested runs', () => {
  let service: ContractService;
  let clock: ManualClock;
  beforeEach(async () => {
    clock = new ManualClock();
    service = await openContractService({ clock });
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  const createUrl = async (): Promise<string> =>
    (await service.project.post('/eval-ingest/artifacts/upload-url', {})).body.uploadUrl;
  const upload = async (url: string, body: string | Uint8Array<ArrayBuffer>, method = 'PUT') => {
    const response = await fetch(url, { method, body, headers: { 'content-type': 'text/html; charset=utf-8' } });
    // oxlint-disable-next-line typescript/no-explicit-any -- a test reads the fields it knows
    const answer = (await response.json()) as any;
    return { status: response.status, body: answer };
  };
  const report = async (fields: object) =>
    await service.project.post('/eval-ingest/report', {
      suiteName: 'Widgets',
      externalRunId: `run of ${JSON.stringify(fields)}`,
      results: [{ caseTitle: 'Shows', passed: true, ...fields }],
    });
  const readTrace = async (runId: string) => {
    const { body } = await service.project.get(`/eval-runs/${runId}/iterations`);
    return (await service.project.get(`/eval-runs/${runId}/iterations/${body.items[0].id}/trace`)).body;
  };

  it.each(ways)('createEvalIngestUploadUrl answers 200: a URL that takes an artifact ($way)', async ({ open }) => {
    const { status, body } = await open(service)('createEvalIngestUploadUrl');
    expect({ status, ok: body.ok }).toEqual({ status: 200, ok: true });
    const { body: stored } = await upload(body.uploadUrl, '<p>Hello</p>', 'POST');
    const snapshot = { toolCallId: 'call_1', toolName: 'show', widgetHtmlBlobId: stored.storageId };
    const sent = { widgetSnapshots: [snapshot, { toolCallId: 'call_2' }], trace: { messages: [] } };
    const { body: run } = await report(sent);
    expect(await readTrace(run.runId)).toEqual({
      messages: [],
      widgetSnapshots: [{ ...snapshot, widgetHtml: '<p>Hello</p>' }, { toolCallId: 'call_2' }],
    });
  });

  it.each(ways)('createEvalIngestUploadUrl answers 200: for the default project ($way)', async ({ open }) => {
    const { status } = await open(service)('createEvalIngestUploadUrl', { projectId: 'default' });
    expect(status).toBe(200);
  });

  it.each(ways)('createEvalIngestUploadUrl answers 400: a body that is no object ($way)', async () => {
    const { status, body } = await service.project.post('/eval-ingest/artifacts/upload-url', '[]');
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each(ways)('createEvalIngestUploadUrl answers 404: no such project ($way)', async ({ open }) => {
    const { status, code } = await open(service)('createEvalIngestUploadUrl', { projectId: 'prj_none' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it('may hold a whole trace, which later calls refer to', async () => {
    const messages = [{ role: 'user', content: 'Hello' }];
    const { body: stored } = await upload(await createUrl(), JSON.stringify({ messages, spans: [] }));
    const start = { suiteName: 'Traces', externalRunId: 'traced' };
    const { body: run } = await service.project.post('/eval-ingest/runs/start', start);
    const results = [{ caseTitle: 'Traced', passed: true, trace: { storageId: stored.storageId } }];
    await service.project.post('/eval-ingest/runs/iterations', { runId: run.runId, results });
    await service.project.post('/eval-ingest/runs/finalize', { runId: run.runId, externalRunId: 'traced' });
    expect(await readTrace(run.runId)).toEqual({ messages, spans: [] });
  });

  it('are taken once by each URL, and again only as the same bytes', async () => {
    const url = await createUrl();
    const first = await upload(url, 'one');
    expect(await upload(url, 'one')).toEqual(first);
    expect(await upload(url, 'two')).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect((await upload(await createUrl(), 'two')).body.storageId).not.toBe(first.body.storageId);
  });

  it('are taken for ten minutes', async () => {
    const [early, late] = [await createUrl(), await createUrl()];
    await clock.advance(10 * 60_000 - 1);
    expect((await upload(early, 'in time')).status).toBe(200);
    await clock.advance(1);
    expect(await upload(late, 'too late')).toMatchObject({
      status: 403,
      body: { message: 'The upload URL has expired; ask for a new one.' },
    });
  });

  it('are not taken with a token that was changed, or is none', async () => {
    const url = await createUrl();
    const at = url.lastIndexOf('/') + 1;
    const [payload = '', signature = ''] = url.slice(at).split('.');
    const text = Buffer.from(payload, 'base64url').toString();
    const later = Buffer.from(text.replace(/\d+\]$/, '9999999999999]')).toString('base64url');
    for (const token of [`${later}.${signature}`, payload, `${payload}.`, 'x', `${payload}.${'A'.repeat(43)}`]) {
      const { status, body } = await upload(url.slice(0, at) + token, 'forged');
      expect({ status, code: body.code }).toEqual({ status: 403, code: 'FORBIDDEN' });
    }
  });

  it('have at most 5 MiB', async () => {
    const largest = new Uint8Array(5 * 1024 * 1024);
    expect((await upload(await createUrl(), largest)).status).toBe(200);
    const { status, body } = await upload(await createUrl(), new Uint8Array(largest.length + 1));
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it('belong to their project alone', async () => {
    const { body: other } = await service.root.post('/projects', { name: 'Other' });
    const { body } = await service.root.post(`/projects/${other.id}/eval-ingest/artifacts/upload-url`, {});
    const { body: stored } = await upload(body.uploadUrl, 'foreign');
    const answer = await report({ widgetSnapshots: [{}, { widgetHtmlBlobId: stored.storageId }] });
    expect({ status: answer.status, message: answer.body.message }).toEqual({
      status: 400,
      message: 'results.0.widgetSnapshots.1.widgetHtmlBlobId: Artifact not found',
    });
    const traced = await report({ trace: { storageId: 'art_none' } });
    expect(traced.body.message).toBe('results.0.trace.storageId: Artifact not found');
    // All of a report that is refused is refused.
    expect((await service.project.get('/eval-suites')).body.items).toEqual([]);
  });
});

describe('an ingested run', () => {
  it('stays open, without a summary, until it is closed', async () => {
    const clock = new ManualClock();
    await using service = await openContractService({ clock });
    const start = { suiteName: 'Open', externalRunId: 'open', expectedIterations: 3 };
    const { body: run } = await service.project.post('/eval-ingest/runs/start', start);
    const metadata = { scores: [{ scorerId: 's', definitionHash: 'd', status: 'scored', value: 1, passed: true }] };
    const results = [{ caseTitle: 'A', passed: true, metadata }];
    await service.project.post('/eval-ingest/runs/iterations', { runId: run.runId, results });
    await clock.advance(365 * 24 * 3_600_000);
    const read = async () => (await service.project.get(`/eval-runs/${run.runId}`)).body;
    expect(await read()).toMatchObject({ status: 'running', summary: null, scoreIntegrity: null, completedAt: null });
    const totals = async () => (await service.project.get('/eval-suites')).body.items[0].totals;
    expect(await totals()).toEqual({ passed: 0, failed: 0, runs: 0 });
    await service.project.post('/eval-ingest/runs/finalize', { runId: run.runId, externalRunId: 'open' });
    const summary = { total: 1, passed: 1, failed: 0, passRate: 1 };
    expect(await read()).toMatchObject({ status: 'completed', result: 'passed', summary, scoreIntegrity: 'valid' });
    expect(await totals()).toEqual({ passed: 1, failed: 0, runs: 1 });
  });
});
