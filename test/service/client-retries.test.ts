import type { ServiceClient } from '../../src/service/client.ts';
import { describe, expect, it } from 'vitest';
import { startDeadline } from '../../src/base/time.ts';
import { createRun, getRun } from '../../src/service/run-client.ts';
import { callOperation } from '../../src/service/call-operation.ts';
import { serverOperations } from '../../src/service/operations/servers.ts';
import { findClosedPort, hangUp, json, raw, startHttpServer } from '../support/network/http-server.ts';
import type { Answer } from '../support/network/http-server.ts';
import { catchError, getMe, openTestClient } from '../support/service/service-client.ts';
import { startSilentServer } from '../support/servers/silent-server.ts';
import { VirtualClock } from '../support/clocks/virtual-clock.ts';

const me = json(200, { id: 'u_1' });
const down = json(503, { code: 'INTERNAL_ERROR', message: 'Down.' });
const limited = (headers: Record<string, string>) =>
  json(429, { code: 'RATE_LIMITED', message: 'Slow down.' }, headers);
const cutShort: Answer = (response) => {
  response.writeHead(200, { 'content-length': '100' }).write('{"id":"u_1"}', () => response.destroy());
};
const created = json(202, { runId: 'r_1', suiteId: 's_1', status: 'running' });
const newServer = { name: 'demo', enabled: true, transportType: 'http', url: 'http://127.0.0.1:1/mcp' } as const;

const createServer = async (client: ServiceClient) =>
  await callOperation(client, serverOperations.createProjectServer, { projectId: 'p_1', ...newServer });

describe('repeating a GET', () => {
  it.each<[string, Answer]>([
    ['a 503', down],
    ['a 500 without a body', raw(500, '')],
    ['a 429', limited({})],
    ['a broken connection', hangUp],
    ["a proxy's page with status 200", raw(200, '<html>hello</html>', { 'content-type': 'text/html' })],
    ['an empty answer', raw(200, '')],
    ['JSON that is cut short', raw(200, '{"id":"u_')],
    ['a body that is cut short', cutShort],
    ['gzip that is none', raw(200, '{"id":"u_1"}', { 'content-encoding': 'gzip' })],
  ])('gets the answer after %s', async (_, answer) => {
    await using server = await startHttpServer([answer, me]);
    await using client = openTestClient(server);
    expect(await getMe(client)).toEqual({ id: 'u_1' });
    expect(server.requests.length).toBe(2);
  });

  it('backs off further with every attempt and gives up after ten', async () => {
    await using server = await startHttpServer(down);
    await using client = openTestClient(server);
    const error = await catchError(getMe(client));
    expect(error).toMatchObject({
      code: 'INTERNAL_ERROR',
      status: 503,
      message: 'The service answered 503 INTERNAL_ERROR to GET /api/v1/me: Down.',
      hint: 'The service has a problem of its own; run the job again later. It was tried 10 times in 45.8 s.',
    });
    expect(server.requests.length).toBe(10);
    expect(client.clock.sleepsMs).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
  });

  it('gets the answer after more refusals of the pace than it would make attempts', async () => {
    await using server = await startHttpServer([...Array.from({ length: 15 }, () => limited({})), me]);
    await using client = openTestClient(server);
    expect(await getMe(client)).toEqual({ id: 'u_1' });
    expect(server.requests.length).toBe(16);
  });

  it('does not repeat a permanently refused request', async () => {
    await using server = await startHttpServer(json(403, { code: 'FORBIDDEN', message: 'No.' }));
    await using client = openTestClient(server);
    await expect(getMe(client)).rejects.toMatchObject({ code: 'FORBIDDEN', status: 403 });
    expect(server.requests.length).toBe(1);
  });

  it('does not repeat a 429 that says the plan is used up', async () => {
    const details = { gateKey: 'maxEvalIterationsPerMonth', upgradePlan: 'team' };
    await using server = await startHttpServer(json(429, { code: 'RATE_LIMITED', message: 'Used up.', details }));
    await using client = openTestClient(server);
    await expect(getMe(client)).rejects.toMatchObject({ status: 429, details });
    expect(server.requests.length).toBe(1);
  });
});

describe('a service that always answers 503', () => {
  it('is asked forty times at most by all calls together', async () => {
    await using server = await startHttpServer(down);
    await using client = openTestClient(server);
    for (let call = 0; call < 12; call += 1) await expect(getMe(client)).rejects.toMatchObject({ status: 503 });
    expect(server.requests.length).toBe(12 + 25);
  });
});

describe('waiting as long as the service asks', () => {
  it.each([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['a date, relative to its own Date header', httpDates(9), 9000],
  ])('understands %s', async (_, headers, hintMs) => {
    await using server = await startHttpServer([limited(headers), me]);
    await using client = openTestClient(server);
    await getMe(client);
    expect(client.clock.sleepsMs).toEqual([hintMs + 0.5 * Math.min(1000, hintMs / 10)]);
  });

  it('reads the wait from the details where there is no header', async () => {
    const throttled = json(429, { code: 'RATE_LIMITED', message: 'Wait.', details: { retryAfterMs: 3000 } });
    await using server = await startHttpServer([throttled, me]);
    await using client = openTestClient(server);
    await getMe(client);
    expect(client.clock.sleepsMs).toEqual([3150]);
  });

  it.each(['0', '-5', 'soon', ''])('backs off on its own when Retry-After is %j', async (value) => {
    await using server = await startHttpServer([limited({ 'retry-after': value }), me]);
    await using client = openTestClient(server);
    await getMe(client);
    expect(client.clock.sleepsMs).toEqual([250]);
  });

  it('stops at once if the wait would pass the deadline, with the last error and the reason', async () => {
    await using server = await startHttpServer(limited({ 'retry-after': '99999' }));
    const clock = new VirtualClock();
    await using client = openTestClient(server, { clock, deadline: startDeadline(clock, 60_000, 'The gate') });
    const error = await catchError(getMe(client));
    expect(error).toMatchObject({ status: 429, retryAfterMs: 99_999_000 });
    expect(error).toHaveProperty('hint', expect.stringContaining('would not have ended before the deadline'));
    expect(clock.sleepsMs).toEqual([]);
    expect(server.requests.length).toBe(1);
  });

  it('sends nothing once the deadline has passed', async () => {
    await using server = await startHttpServer(me);
    const clock = new VirtualClock();
    const deadline = startDeadline(clock, 1000, 'The gate');
    clock.advance(1000);
    await using client = openTestClient(server, { clock });
    await expect(getMe(client, { deadline })).rejects.toMatchObject({
      code: 'DEADLINE',
      message: 'The gate took longer than 1 s.',
    });
    expect(server.requests).toEqual([]);
  });
});

describe('repeating a POST', () => {
  const request = { projectId: 'p_1', run: { suiteId: 's_1' } };

  it.each([
    ['a 503', down],
    ['a broken connection', hangUp],
    ['an answer that cannot be read', raw(200, 'oops')],
  ])('does not happen after %s without a key: it may have been carried out', async (_, answer) => {
    await using server = await startHttpServer([answer, created]);
    await using client = openTestClient(server);
    await expect(createRun(client, request)).rejects.toThrow(/POST \/api\/v1\/projects\/p_1\/eval-runs/);
    expect(server.requests.length).toBe(1);
  });

  it.each([
    ['a 503', down],
    ['a broken connection', hangUp],
    ['an answer that cannot be read', raw(200, 'oops')],
  ])('happens after %s with a key, which is the same each time', async (_, answer) => {
    await using server = await startHttpServer([answer, created]);
    await using client = openTestClient(server);
    expect(await createRun(client, { ...request, idempotencyKey: 'key-1' })).toMatchObject({ runId: 'r_1' });
    expect(server.requests.map((sent) => JSON.parse(sent.body))).toEqual([
      { suiteId: 's_1', idempotencyKey: 'key-1' },
      { suiteId: 's_1', idempotencyKey: 'key-1' },
    ]);
  });

  it('happens after a 429 even without a key, because the limiter refuses before anything is done', async () => {
    await using server = await startHttpServer([
      limited({ 'retry-after': '1' }),
      json(201, { id: 'sv_1', name: 'demo', transportType: 'http' }),
    ]);
    await using client = openTestClient(server);
    expect(await createServer(client)).toMatchObject({ id: 'sv_1' });
    expect(server.requests.length).toBe(2);
  });

  it('happens without a key when no connection stood, so nothing was sent', async () => {
    const port = await findClosedPort();
    await using client = openTestClient({ origin: `http://127.0.0.1:${port}` });
    const error = await catchError(createServer(client));
    expect(error).toMatchObject({ code: 'NETWORK', hint: expect.stringContaining('tried 10 times') as string });
    expect(error.message).toBe(
      `No answer from 127.0.0.1:${port} to POST /api/v1/projects/p_1/servers: connect ECONNREFUSED 127.0.0.1:${port}.`,
    );
  });
});

describe('a failure', () => {
  const refused = json(403, { code: 'FORBIDDEN', message: 'No.' });
  const create = (client: Parameters<typeof createRun>[0]) =>
    catchError(createRun(client, { projectId: 'p_1', run: { suiteId: 's_1' }, idempotencyKey: 'k' }));

  it.each<[string, Answer[], boolean]>([
    ['a refusal at once', [refused], false],
    ['a refusal of the pace alone', [limited({}), refused], false],
    ['a refusal after an attempt that broke', [hangUp, refused], true],
    ['nothing but 503', [down], true],
    ['a receipt of another kind', [json(202, {})], true],
  ])('says whether the request may have had an effect: %s', async (_, answers, mayHaveHappened) => {
    await using server = await startHttpServer(answers);
    await using client = openTestClient(server);
    expect(await create(client)).toMatchObject({ mayHaveHappened });
  });
});

describe('an abort', () => {
  it("ends a wait between attempts with the signal's reason", async () => {
    const controller = new AbortController();
    await using server = await startHttpServer((response) => {
      controller.abort(new Error('Enough.'));
      response.writeHead(503).end();
    });
    await using client = openTestClient(server);
    await expect(getRun(client, { projectId: 'p', runId: 'r', signal: controller.signal })).rejects.toThrow('Enough.');
    expect(server.requests.length).toBe(1);
  });

  it('ends a call whose connection does not stand yet', async () => {
    const controller = new AbortController();
    await using server = await startSilentServer(() => controller.abort(new Error('Enough.')));
    await using client = openTestClient({ origin: `https://127.0.0.1:${server.port}` });
    await expect(getMe(client, { signal: controller.signal })).rejects.toThrow('Enough.');
    await expect(getMe(client, { signal: controller.signal })).rejects.toThrow('Enough.');
  });

  it('of the whole client ends a call that is under way', async () => {
    await using server = await startHttpServer(() => {
      void client[Symbol.asyncDispose]();
    });
    const client = openTestClient(server);
    await expect(getMe(client)).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});

function httpDates(seconds: number): Record<string, string> {
  // An hour off, as a wrong clock would have it.
  const dateMs = Date.now() - 3_600_000;
  return {
    date: new Date(dateMs).toUTCString(),
    'retry-after': new Date(Math.floor(dateMs / 1000) * 1000 + seconds * 1000).toUTCString(),
  };
}
