import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/base/errors.ts';
import {
  cutIntoChunks,
  ingestRun,
  finalizeIngestedRun,
  type IngestResult,
  reportRun,
  startIngestedRun,
} from '../../src/service/ingest-client.ts';
import { type ContractService, openContractService } from '../support/service/contract-service.ts';
import { type Answer, hangUp, json, startHttpServer } from '../support/network/http-server.ts';
import { catchError, openTestClient } from '../support/service/service-client.ts';
import { openServiceClient, type ServiceClient } from '../../src/service/client.ts';
import { Secret } from '../../src/base/redaction.ts';
import { serviceProfiles } from '../../src/service/profile.ts';
import { VirtualClock } from '../support/clocks/virtual-clock.ts';
import { silentLogger } from '../../src/base/logger.ts';

function listResults(total: number, { failing = 0, error = '' } = {}): IngestResult[] {
  return Array.from({ length: total }, (_, index) => ({
    caseTitle: 'Echoes',
    passed: index >= failing,
    externalIterationId: `x-${index + 1}`,
    ...(error === '' ? {} : { error }),
  }));
}

const describeRun = (externalRunId: string) => ({ suiteName: 'Suite', externalRunId });
const receipt = { ok: true, suiteId: 's_1', runId: 'r_1' };

function connect({ baseUrl, apiKey }: ContractService): ServiceClient {
  const profile = serviceProfiles.embedded;
  return openServiceClient({
    baseUrl,
    apiKey: new Secret(apiKey),
    profile,
    clock: new VirtualClock(),
    logger: silentLogger,
  });
}

describe('ingestRun', () => {
  it('sends few results in one request and many in several, with the same outcome', async () => {
    await using service = await openContractService();
    await using client = connect(service);
    const { projectId } = service;
    const few = await ingestRun(client, { projectId, run: describeRun('few'), results: listResults(200) });
    expect(few).toMatchObject({ status: 'completed', result: 'passed', summary: { total: 200, failed: 0 } });
    const results = listResults(401, { failing: 1 });
    const many = await ingestRun(client, { projectId, run: describeRun('many'), results });
    expect(many).toMatchObject({ suiteId: few.suiteId, result: 'failed', summary: { total: 401, failed: 1 } });
    const { body } = await service.project.get(`/eval-runs/${many.runId}/iterations?limit=1`);
    expect(body.items).toMatchObject([{ title: 'Echoes', result: 'failed' }]);
  });

  it('gets the first verdict back where the run is there already, and sends nothing again', async () => {
    await using service = await openContractService();
    await using client = connect(service);
    const ingest = async (results: IngestResult[]) =>
      await ingestRun(client, { projectId: service.projectId, run: describeRun('twice'), results });
    const first = await ingest(listResults(201));
    const second = await ingest(listResults(300, { failing: 300 }));
    expect(second).toMatchObject({ runId: first.runId, reused: true, result: 'passed', summary: { total: 201 } });
  });

  it('goes on with a run that was left open', async () => {
    await using service = await openContractService();
    await using client = connect(service);
    const { projectId } = service;
    const run = describeRun('left');
    const { runId } = await startIngestedRun(client, { projectId, run });
    const ended = await ingestRun(client, { projectId, run, results: listResults(201) });
    expect(ended).toMatchObject({ runId, status: 'completed', summary: { total: 201 } });
  });

  it.each([
    [{ status: 'cancelled' }, ['start']],
    [{ result: 'failed' }, ['start']],
    [{ status: 'running' }, ['start', 'iterations', 'iterations', 'finalize']],
    [{}, ['start', 'iterations', 'iterations', 'finalize']],
  ])('adds to a run that is there only while it is open: %j', async (fields, expected) => {
    await using server = await startHttpServer(json(200, { ...receipt, reused: true, ...fields }));
    await using client = openTestClient(server);
    await ingestRun(client, { projectId: 'p_1', run: describeRun('x'), results: listResults(201) });
    expect(server.requests.map(({ url }) => url.split('/').at(-1))).toEqual(expected);
  });

  it('ends the run that it could not fill, and reports why it could not', async () => {
    await using server = await startHttpServer((response, request) => {
      const refused = json(400, { code: 'VALIDATION_ERROR', message: 'No such thing.' });
      return (request.url.endsWith('iterations') ? refused : json(200, receipt))(response, request);
    });
    await using client = openTestClient(server);
    const params = { projectId: 'p_1', run: describeRun('x'), results: listResults(201) };
    expect(await catchError(ingestRun(client, params))).toMatchObject({ status: 400 });
    expect(server.requests.map(({ url }) => url.split('eval-ingest/')[1])).toEqual([
      'runs/start',
      'runs/iterations',
      'runs/finalize',
    ]);
    expect(JSON.parse(server.requests[2]!.body)).toEqual({ runId: 'r_1', externalRunId: 'x' });
  });

  it('ends the run when it is cancelled', async () => {
    const controller = new AbortController();
    await using server = await startHttpServer((response, request) => {
      if (request.url.endsWith('iterations')) controller.abort(new Error('Enough.'));
      else return json(200, receipt)(response, request);
    });
    await using client = openTestClient(server);
    const params = { projectId: 'p_1', run: describeRun('x'), results: listResults(201), signal: controller.signal };
    expect((await catchError(ingestRun(client, params))).message).toBe('Enough.');
    expect(server.requests.at(-1)?.url).toMatch(/finalize$/);
  });

  it('writes a debug line that says why a run without all its results stays open', async () => {
    const refuse = (code: string) => json(400, { code, message: `${code}.` });
    await using server = await startHttpServer((response, request) => {
      const answer = request.url.endsWith('iterations')
        ? refuse('ITERATIONS_REFUSED')
        : request.url.endsWith('finalize')
          ? refuse('FINALIZE_REFUSED')
          : json(200, receipt);
      return answer(response, request);
    });
    const lines: string[] = [];
    const logger = { ...silentLogger, debug: (line: string) => void lines.push(line) };
    await using client = openTestClient(server, { logger });
    const params = { projectId: 'p_1', run: describeRun('x'), results: listResults(201) };
    expect(await catchError(ingestRun(client, params))).toMatchObject({ code: 'ITERATIONS_REFUSED' });
    expect(lines).toEqual([expect.stringMatching(/^The run r_1 stays open: .* FINALIZE_REFUSED/)]);
  });

  it('repeats what got no answer', async () => {
    await using server = await startHttpServer([hangUp, json(503, {}), json(200, receipt)]);
    await using client = openTestClient(server);
    const ended = await ingestRun(client, { projectId: 'p_1', run: describeRun('x'), results: listResults(1) });
    expect(ended).toEqual({ suiteId: 's_1', runId: 'r_1' });
    expect(new Set(server.requests.map(({ url }) => url))).toEqual(
      new Set(['/api/v1/projects/p_1/eval-ingest/report']),
    );
  });
});

describe('the answers of ingestion', () => {
  const ask = async (answer: Answer) => {
    await using server = await startHttpServer(answer);
    await using client = openTestClient(server);
    const params = { projectId: 'default', run: describeRun('x'), results: listResults(1) };
    return await reportRun(client, params).catch((error: unknown) => error);
  };

  it('may lack optional fields, and are refusals if they say so', async () => {
    expect(await ask(json(200, { ...receipt, summary: 'odd' }))).toEqual({ suiteId: 's_1', runId: 'r_1' });
    const refusal = await ask(json(200, { ok: false, error: 'Too many suites.' }));
    expect(refusal).toBeInstanceOf(ServiceError);
    expect(refusal).toMatchObject({ message: 'The service does not take the results: Too many suites.' });
    expect(await ask(json(200, { ok: false, error: { why: 1 } }))).toMatchObject({
      message: 'The service does not take the results: {"why":1}',
    });
    expect(await ask(json(200, { ok: true }))).toMatchObject({ code: 'PROTOCOL', path: 'suiteId' });
  });

  it('are errors in either of two shapes, and final where a plan is used up', async () => {
    expect(await ask(json(400, { ok: false, error: 'Bad field.' }))).toMatchObject({
      message:
        'The service answered 400 INTERNAL_ERROR to POST /api/v1/projects/default/eval-ingest/report: Bad field.',
    });
    await using server = await startHttpServer([json(429, { error: 'billing_limit_reached' }), json(200, receipt)]);
    await using client = openTestClient(server);
    const end = { projectId: 'default', runId: 'r_1', externalRunId: 'x' };
    expect(await catchError(finalizeIngestedRun(client, end))).toMatchObject({ hint: expect.stringMatching(/plan/) });
    expect(server.requests).toHaveLength(1);
  });
});

describe('cutIntoChunks', () => {
  it('keeps the order, within 200 results and a mebibyte of body', () => {
    const results = listResults(450, { error: 'x'.repeat(6000) });
    const chunks = cutIntoChunks(results);
    expect(chunks.flat()).toEqual(results);
    const sizes = chunks.map((chunk) => Buffer.byteLength(JSON.stringify({ runId: 'r_1', results: chunk })));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2 ** 20);
    expect(chunks.length).toBe(Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20));
    expect(cutIntoChunks(listResults(401)).map(({ length }) => length)).toEqual([200, 200, 1]);
  });

  it('sends a result alone that is larger than any request', () => {
    const [small, huge] = [...listResults(1), ...listResults(1, { error: 'ü'.repeat(2 ** 20) })];
    expect(cutIntoChunks([small!, huge!, small!]).map(({ length }) => length)).toEqual([1, 1, 1]);
    expect(cutIntoChunks([])).toEqual([]);
  });
});
