import { array, assert, asyncProperty, constantFrom, infiniteStream, integer } from 'fast-check';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { GateError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { Secret } from '../../src/base/redaction.ts';
import { openServiceClient } from '../../src/service/client.ts';
import { findRunByMarker, createRunExactlyOnce } from '../../src/service/launch.ts';
import { serviceProfiles } from '../../src/service/profile.ts';
import { openContractService, saveServer, saveSuite } from '../support/service/contract-service.ts';
import { startEchoServer } from '../support/servers/echo-server.ts';
import { json, startHttpServer } from '../support/network/http-server.ts';
import { startRunService, type RunFate } from '../support/service/run-service.ts';
import { catchError, openTestClient } from '../support/service/service-client.ts';

const marker = 'launch-4711';
const launch = {
  projectId: 'p_1',
  run: { suiteId: 's_1' },
  idempotencyKey: 'key-1',
  marker,
  queueTimeoutMs: 600_000,
};
const others = [
  { id: 'r_a', key: 'key-a', notes: null },
  { id: 'r_b', key: 'key-b', notes: 'launch-4712' },
];
const five = (fate: RunFate): RunFate[] => [fate, fate, fate, fate, fate];

describe('createRunExactlyOnce', () => {
  it('starts the run with the marker in its notes and the key wherever a service may look for it', async () => {
    await using server = await startRunService(['ok']);
    await using client = openTestClient(server);
    expect(await createRunExactlyOnce(client, launch)).toEqual({
      created: { runId: 'r_1', suiteId: 's_1', status: 'running' },
      wasReadBack: false,
    });
    expect(server.requests.length).toBe(1);
    expect(server.requests[0]).toMatchObject({
      url: '/api/v1/projects/p_1/eval-runs',
      headers: { 'idempotency-key': 'key-1', 'x-svc-idempotency-key': 'key-1' },
    });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      suiteId: 's_1',
      notes: marker,
      idempotencyKey: 'key-1',
    });
  });

  it('keeps the notes that are given, before the marker', async () => {
    await using server = await startRunService(['ok']);
    await using client = openTestClient(server);
    await createRunExactlyOnce(client, { ...launch, run: { suiteId: 's_1', notes: 'Pull request 7' } });
    expect(server.runs.map(({ notes }) => notes)).toEqual([`Pull request 7\n${marker}`]);
  });

  it.each<[string, RunFate]>([
    ['the connection broke', 'reset-after'],
    ['a 503', 'down-after'],
    ['a page', 'page-after'],
  ])('gets the receipt with another attempt after %s', async (_, fate) => {
    await using server = await startRunService([fate, 'ok']);
    await using client = openTestClient(server);
    expect(await createRunExactlyOnce(client, launch)).toMatchObject({
      created: { runId: 'r_1', deduped: true },
      wasReadBack: false,
    });
    expect(server.methods()).toBe('POST POST');
  });

  it.each<[string, RunFate, number]>([
    ['no connection that lasts', 'reset-after', 5],
    ['nothing but 503', 'down-after', 5],
    ['nothing but pages', 'page-after', 5],
    ['a receipt of another kind', 'shape-after', 1],
  ])('finds its run among those of the suite after %s', async (_, fate, attempts) => {
    await using server = await startRunService([fate], { runs: [...others] });
    await using client = openTestClient(server);
    expect(await createRunExactlyOnce(client, launch)).toEqual({
      created: { runId: 'r_3', suiteId: 's_1', status: 'running' },
      wasReadBack: true,
    });
    expect(server.methods()).toBe([...Array.from({ length: attempts }, () => 'POST'), 'GET'].join(' '));
    expect(server.requests.at(-1)?.url).toBe('/api/v1/projects/p_1/eval-suites/s_1/runs?limit=100');
  });

  it.each<RunFate>(['reset-before', 'down-before', 'page-before'])(
    'sends the same once more when there is no such run after %s',
    async (fate) => {
      await using server = await startRunService([...five(fate), 'ok'], { runs: [...others] });
      await using client = openTestClient(server);
      expect(await createRunExactlyOnce(client, launch)).toMatchObject({
        created: { runId: 'r_3' },
        wasReadBack: false,
      });
      expect(server.methods()).toBe('POST POST POST POST POST GET POST');
      expect(new Set(server.requests.flatMap(({ method, body }) => (method === 'POST' ? [body] : []))).size).toBe(1);
    },
  );

  it("fails with the last request's error if the second request creates no run either", async () => {
    await using server = await startRunService(['down-before'], { runs: [...others] });
    await using client = openTestClient(server);
    await expect(createRunExactlyOnce(client, launch)).rejects.toMatchObject({ code: 'INTERNAL_ERROR', status: 503 });
    expect(server.methods()).toBe('POST POST POST POST POST GET POST POST POST POST POST GET');
  });

  it("fails with the request's error, and sends nothing more, if it cannot list the runs", async () => {
    await using server = await startRunService(['reset-after'], { lists: () => false });
    await using client = openTestClient(server);
    await expect(createRunExactlyOnce(client, launch)).rejects.toMatchObject({ code: 'NETWORK' });
    expect(server.methods()).toBe(`POST POST POST POST POST${' GET'.repeat(10)}`);
  });

  it('fails at once when the service refuses', async () => {
    await using server = await startRunService(['refused']);
    await using client = openTestClient(server);
    await expect(createRunExactlyOnce(client, launch)).rejects.toMatchObject({ exitCode: 2, cause: { status: 400 } });
    expect(server.methods()).toBe('POST');
  });

  it('sends the keys of models in the body and shows them nowhere else', async () => {
    const key = 'sk-model-0123456789';
    const echo = { code: 'VALIDATION_ERROR', message: `Bad key ${key}.`, details: { key } };
    await using server = await startHttpServer(json(400, echo));
    await using client = openTestClient(server);
    const run = { suiteId: 's_1', modelApiKeys: new Map([['openai', new Secret(key)]]) };
    const error = await catchError(createRunExactlyOnce(client, { ...launch, run }));
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ modelApiKeys: { openai: key } });
    expect(error.message).toContain('Bad key ***.');
    expect(inspect(error, { depth: 10 })).not.toContain(key);
  });

  it('starts and returns exactly one run, whichever request breaks', async () => {
    const fates = constantFrom<RunFate>(
      'ok',
      'reset-before',
      'reset-after',
      'down-before',
      'down-after',
      'page-before',
      'page-after',
      'shape-before',
      'shape-after',
      'full',
      'limited',
    );
    await assert(
      asyncProperty(
        array(fates, { maxLength: 14 }),
        infiniteStream(integer({ min: 0, max: 3 })),
        async (script, listing) => {
          const lists = () => listing.next().value !== 0;
          await using server = await startRunService([...script, 'ok'], { runs: [...others], lists });
          await using client = openTestClient(server);
          const result = await createRunExactlyOnce(client, launch).catch((error: unknown) => {
            expect(error).toBeInstanceOf(GateError);
            return null;
          });
          const started = server.runs.filter((run) => !others.includes(run));
          expect(started.length).toBeLessThanOrEqual(1);
          if (result !== null) expect([result.created.runId]).toEqual(started.map(({ id }) => id));
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('findRunByMarker', () => {
  const place = { projectId: 'p_1', suiteId: 's_1' };

  it('finds the run whose notes hold it, and none else', async () => {
    await using server = await startRunService(['ok'], { runs: [...others] });
    await using client = openTestClient(server);
    expect(await findRunByMarker(client, { ...place, marker: 'launch-4712' })).toMatchObject({ id: 'r_b' });
    expect(await findRunByMarker(client, { ...place, marker })).toBeUndefined();
    expect(await findRunByMarker(client, { ...place, marker: '' })).toBeUndefined();
  });

  it('finds what was launched on the service that comes with this project', async () => {
    await using mcpServer = await startEchoServer();
    await using service = await openContractService();
    await using client = openServiceClient({
      baseUrl: service.baseUrl,
      apiKey: new Secret(service.apiKey),
      profile: serviceProfiles.embedded,
      clock: systemClock,
      logger: silentLogger,
    });
    const serverId = await saveServer(service, { url: mcpServer.url });
    const { suiteId } = await saveSuite(service, serverId);
    const { projectId } = service;
    const { created } = await createRunExactlyOnce(client, {
      ...launch,
      projectId,
      run: { suiteId, notes: 'Nightly' },
    });
    const again = await createRunExactlyOnce(client, { ...launch, projectId, run: { suiteId, notes: 'Nightly' } });
    expect(again.created).toMatchObject({ runId: created.runId, deduped: true });
    expect(await findRunByMarker(client, { projectId, suiteId, marker })).toMatchObject({ id: created.runId });
  });
});
