import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { listIterations } from '../../src/service/iterations.ts';
import { serviceProfiles } from '../../src/service/profile.ts';
import { createRun } from '../../src/service/run-client.ts';
import { callOperation } from '../../src/service/call-operation.ts';
import { suiteOperations } from '../../src/service/operations/suites.ts';
import { describeError } from '../../src/base/errors.ts';
import { generator } from '../../src/base/version.ts';
import { findClosedPort, hangUp, json, raw, startHttpServer } from '../support/network/http-server.ts';
import type { Answer } from '../support/network/http-server.ts';
import { hasOpenssl, startHttpsServer } from '../support/network/https-server.ts';
import { catchError, getMe, openTestClient, testApiKey } from '../support/service/service-client.ts';

const me = json(200, { id: 'u_1' });

describe('a request', () => {
  it('carries the key and asks for JSON', async () => {
    await using server = await startHttpServer(me);
    await using client = openTestClient(server);
    await getMe(client);
    expect(server.requests).toEqual([
      {
        method: 'GET',
        url: '/api/v1/me',
        body: '',
        headers: {
          accept: 'application/json',
          'accept-encoding': 'gzip',
          authorization: `Bearer ${testApiKey}`,
          connection: 'keep-alive',
          host: `127.0.0.1:${server.port}`,
          'user-agent': `mcp-eval-ci/${generator.version}`,
        },
      },
    ]);
  });

  it.each([
    ['svc', 'x-svc-idempotency-key'],
    ['mcpjam', 'x-mcpjam-idempotency-key'],
  ] as const)(
    'names the idempotency key twice in the headers of %s, and once in the body of a run',
    async (name, header) => {
      await using server = await startHttpServer(json(202, { runId: 'r', suiteId: 's', status: 'running' }));
      await using client = openTestClient(server, { profile: serviceProfiles[name] });
      await createRun(client, { projectId: 'p/1', run: { suiteId: 's' }, idempotencyKey: 'k-1' });
      expect(server.requests[0]).toMatchObject({
        url: '/api/v1/projects/p%2F1/eval-runs',
        body: '{"suiteId":"s","idempotencyKey":"k-1"}',
        headers: { 'idempotency-key': 'k-1', [header]: 'k-1', 'content-type': 'application/json' },
      });
    },
  );

  it('leaves the idempotency key out of the body of a suite, which would refuse it', async () => {
    await using server = await startHttpServer(json(201, { suiteId: 's', caseUpsert: { committed: [] } }));
    await using client = openTestClient(server);
    const suite = { name: 'S', serverIds: ['sv'], model: 'none/none', tests: [] };
    const once = { idempotencyKey: 'k-1' };
    await callOperation(client, suiteOperations.createEvalSuite, { projectId: 'p', ...suite }, once);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(suite);
    expect(server.requests[0]?.headers['idempotency-key']).toBe('k-1');
  });
});

describe('the pace', () => {
  const limited = json(429, { code: 'RATE_LIMITED', message: 'Slow down.' });
  const queued = json(429, { code: 'RATE_LIMITED', message: 'Full.', details: { reason: 'CONCURRENT_RUN_LIMIT' } });

  it('slows down after a refusal of the rate limit, and recovers with successful responses', async () => {
    await using server = await startHttpServer([limited, me]);
    await using client = openTestClient(server, { profile: serviceProfiles.svc });
    for (let calls = 0; calls < 3; calls += 1) await getMe(client);
    const [backoffMs, ...turnsMs] = client.clock.sleepsMs;
    expect(backoffMs).toBe(250);
    // What begins something takes one and a half of the twenty seconds that are guessed where nothing was answered yet.
    expect(turnsMs.map(Math.round)).toEqual([29_750, 28_500, 27_075]);
  });

  it('does not slow down after the refusal of a run for which there is no room', async () => {
    await using server = await startHttpServer([queued, me]);
    await using client = openTestClient(server, { profile: serviceProfiles.svc });
    await expect(getMe(client)).rejects.toMatchObject({ status: 429 });
    for (let calls = 0; calls < 4; calls += 1) await getMe(client);
    expect(client.clock.sleepsMs).toEqual([]);
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('with status %i is refused, so the key goes nowhere else', async (status) => {
    await using elsewhere = await startHttpServer(me);
    await using server = await startHttpServer(raw(status, '', { location: `${elsewhere.origin}/api/v1/me` }));
    await using client = openTestClient(server);
    await expect(getMe(client)).rejects.toMatchObject({
      code: 'PROTOCOL',
      message: `The service answered ${status}, a redirect, to GET /api/v1/me; redirects are not followed.`,
    });
    expect(server.requests.length).toBe(1);
    expect(elsewhere.requests).toEqual([]);
  });
});

describe('TLS', () => {
  it('errors are not retried, and the message names a remedy', async () => {
    await using server = await startHttpServer(me);
    await using client = openTestClient({ origin: server.origin.replace('http:', 'https:') });
    const error = await catchError(getMe(client));
    expect(error).toMatchObject({ code: 'NETWORK', hint: expect.stringContaining('NODE_EXTRA_CA_CERTS') as string });
    expect(error.message).toContain(`No answer from 127.0.0.1:${server.port} to GET /api/v1/me: `);
    expect(client.clock.sleepsMs).toEqual([]);
  });

  it.skipIf(!hasOpenssl)('is checked even where the environment asks Node not to', async () => {
    await using server = await startHttpsServer('localhost', { id: 'u_1' });
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    try {
      await using client = openTestClient({ origin: `https://localhost:${server.port}` });
      await expect(getMe(client)).rejects.toThrow(/DEPTH_ZERO_SELF_SIGNED_CERT/);
      expect(server.requests).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe('secrets', () => {
  const echo: Answer = (response, request) => {
    const message = `Bad key ${request.headers.authorization ?? ''}`;
    response.writeHead(401).end(JSON.stringify({ code: 'UNAUTHORIZED', message, details: { key: testApiKey } }));
  };

  it.each<[string, Answer]>([
    ['the service repeats the key in its answer', echo],
    ['the connection breaks', hangUp],
    ['a page comes instead of JSON', raw(200, `<p>${testApiKey}</p>`)],
    ['an error page repeats the key', raw(502, `<p>${testApiKey}</p>`)],
    ['the answer has another shape', json(200, { id: null, key: testApiKey })],
  ])('stay out of errors and logs when %s', async (_, answer) => {
    const log: string[] = [];
    const tell = (message: string) => log.push(message);
    const logger = { debug: tell, info: tell, warning: tell, error: tell, group: tell };
    await using server = await startHttpServer(answer);
    await using client = openTestClient(server, { logger });
    const error = await catchError(getMe(client));
    expect([describeError(error), inspect(error, { depth: 10 }), inspect(client), ...log].join('\n')).not.toContain(
      testApiKey,
    );
  });

  it('and cursors are not in network errors, which name only host and port', async () => {
    const port = await findClosedPort();
    await using client = openTestClient({ origin: `http://127.0.0.1:${port}` });
    const error = await catchError(listIterations(client, { projectId: 'p', runId: 'r' }).next());
    expect(error.message).toBe(
      `No answer from 127.0.0.1:${port} to GET /api/v1/projects/p/eval-runs/r/iterations: connect ECONNREFUSED 127.0.0.1:${port}.`,
    );
  });
});
