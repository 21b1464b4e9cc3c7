import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { request } from 'undici';
import { silentLogger } from '../../../../src/base/logger.ts';
import { contractLimits } from '../../../../src/service/api-limits.ts';
import { Secret } from '../../../../src/base/redaction.ts';
import { meSchema, projectPageSchema, projectSchema } from '../../../../src/service/wire.ts';
import { createApiCaller } from '../../../../test/support/service/api-caller.ts';
import { openContractService, type ContractService } from '../../../../test/support/service/contract-service.ts';
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts';

describe('access to the API', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await openContractService();
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  it('answers who the key belongs to', async () => {
    const { status, body } = await service.root.get('/me');
    expect(status).toBe(200);
    expect(meSchema.parse(body).id).toBe('user_local');
  });

  it('is mounted at /api/v1 of a loopback origin', () => {
    expect(service.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/);
  });

  it('refuses a request without a bearer token', async () => {
    const { status, body } = await createApiCaller(service.baseUrl, null).get('/me');
    expect({ status, body }).toEqual({ status: 401, body: { code: 'UNAUTHORIZED', message: 'Bearer token required' } });
  });

  it.each(['sk_wrong', ''])('refuses the key %j', async (key) => {
    const { status, body } = await createApiCaller(service.baseUrl, key).get('/me');
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'UNAUTHORIZED' });
  });

  it('hides from a client without a key which paths exist', async () => {
    const { status } = await createApiCaller(service.baseUrl, null).get('/no-such-path');
    expect(status).toBe(401);
  });

  it('refuses a Host that only resolves to loopback', async () => {
    const answer = await request(`${service.baseUrl}/me`, {
      headers: { host: 'rebound.example', authorization: `Bearer ${service.apiKey}` },
    });
    expect({ status: answer.statusCode, body: await answer.body.json() }).toEqual({
      status: 403,
      body: {
        code: 'FORBIDDEN',
        message: 'This service answers to loopback names only, not to "rebound.example".',
      },
    });
  });

  it('answers to localhost as to 127.0.0.1', async () => {
    const { port } = new URL(service.baseUrl);
    const answer = await request(`${service.baseUrl}/me`, {
      headers: { host: `localhost:${port}`, authorization: `Bearer ${service.apiKey}` },
    });
    await answer.body.dump();
    expect(answer.statusCode).toBe(200);
  });

  it.each(['/nothing', '/projects/x/nothing/else'])('answers 404 for the unknown path %s', async (path) => {
    const { status, body } = await service.root.get(path);
    expect({ status, body }).toEqual({ status: 404, body: { code: 'NOT_FOUND', message: 'Path not found.' } });
  });

  it('lists the project that every service starts with', async () => {
    const { body } = await service.root.get('/projects');
    expect(projectPageSchema.parse(body).items.map(({ id, name }) => ({ id, name }))).toEqual([
      { id: service.projectId, name: 'Default' },
    ]);
  });

  it('knows no project of another organization', async () => {
    const { body } = await service.root.get('/projects?organizationId=org_elsewhere');
    expect(body).toEqual({ items: [] });
  });

  it('creates a project, and refuses unknown fields', async () => {
    await using own = await openContractService();
    const created = await own.root.post('/projects', { name: 'Second', description: 'Mine' });
    expect(created.status).toBe(201);
    expect(projectSchema.parse(created.body)).toMatchObject({ name: 'Second', description: 'Mine' });
    const refused = await own.root.post('/projects', { name: 'Third', colour: 'red' });
    expect(refused.body).toEqual({ code: 'VALIDATION_ERROR', message: 'Unrecognized key: "colour"' });
  });
});

describe('request bodies', () => {
  it.each([
    ['text that is not JSON', '{"name": "sk_secret"', 'The request body is not valid JSON.'],
    ['an array', '[]', 'The request body must be a JSON object.'],
    ['null', 'null', 'The request body must be a JSON object.'],
    ['nothing, which reads as {}', '', 'name: Invalid input: expected string, received undefined'],
  ])('refuses %s', async (_what, sent, message) => {
    await using service = await openContractService();
    const { status, body } = await service.root.post('/projects', sent);
    expect({ status, body }).toEqual({ status: 400, body: { code: 'VALIDATION_ERROR', message } });
  });

  it('refuses a body that is nested too deep, and takes one that is not', async () => {
    await using service = await openContractService();
    const nest = (levels: number) => `${'{"a":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`;
    const send = (levels: number) =>
      service.project.post('/servers', `{"name":"${levels}","clientCapabilities":{"[[":${nest(levels)}},${rest}`);
    const rest = '"enabled":true,"transportType":"http","url":"http://127.0.0.1:9/mcp"}';
    expect((await send(400)).status).toBe(201);
    for (const levels of [5000, 500_000]) {
      const { status, body } = await send(levels);
      expect({ status, body }).toEqual({
        status: 400,
        body: { code: 'VALIDATION_ERROR', message: 'The request body is nested more than 500 levels deep.' },
      });
    }
  });

  it('reads a chunked body', async () => {
    await using service = await openContractService();
    const { statusCode, body } = await request(`${service.baseUrl}/projects`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}` },
      body: Readable.from([Buffer.from('{"name":"'), Buffer.from('in parts'), Buffer.from('"}')]),
    });
    expect({ statusCode, body: await body.json() }).toMatchObject({ statusCode: 201, body: { name: 'in parts' } });
  });

  it('ignores the body of a GET', async () => {
    await using service = await openContractService();
    const headers = { authorization: `Bearer ${service.apiKey}` };
    // Every operation of a project reads a body, and the one of a GET has no fields.
    const url = `${service.baseUrl}/projects/${service.projectId}/hosts`;
    const { statusCode, body } = await request(url, { method: 'GET', headers, body: '{"name":"unknown"}' });
    expect({ statusCode, body: await body.json() }).toEqual({ statusCode: 200, body: { items: [] } });
  });

  it('does not execute a request whose client leaves in the middle of the body, which is no error of the service', async () => {
    const errors: string[] = [];
    const error = (message: string) => void errors.push(message);
    await using service = await openContractService({ logger: { ...silentLogger, error } });
    const leave = async function* () {
      yield Buffer.from('{"name":"half"}');
      await setTimeout(20);
      throw new Error('The client leaves.');
    };
    const headers = { authorization: `Bearer ${service.apiKey}` };
    const sent = request(`${service.baseUrl}/projects`, { method: 'POST', headers, body: Readable.from(leave()) });
    await expect(sent).rejects.toThrow('The client leaves.');
    // Further requests show that the service has taken note of the end.
    for (let asked = 0; asked < 20; asked += 1) {
      const { body } = await service.root.get('/projects');
      expect(body.items).toMatchObject([{ id: service.projectId }]);
    }
    expect(errors).toEqual([]);
  });

  it('refuses a body over the limit', async () => {
    await using service = await openContractService({ limits: { ...contractLimits, maxBodyBytes: 100 } });
    for (const length of [200, 300]) {
      const { status, body } = await service.root.post('/projects', { name: 'x'.repeat(length) });
      expect({ status, body }).toEqual({
        status: 400,
        body: { code: 'VALIDATION_ERROR', message: 'The request body is larger than 100 bytes.' },
      });
    }
    // More than the buffers between the two hold, so that the answer is made while the client is still sending.
    const large = await service.root.post('/projects', { name: 'x'.repeat(16 * 2 ** 20) });
    expect(large.status).toBe(400);
    const chunked = await request(`${service.baseUrl}/projects`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}` },
      body: Readable.from([Buffer.from('{"name":"'), Buffer.alloc(200, 'x'), Buffer.from('"}')]),
    });
    await chunked.body.dump();
    expect(chunked.statusCode).toBe(400);
    expect((await service.root.post('/projects', { name: 'small' })).status).toBe(201);
  });
});

describe('the rate limit', () => {
  it('lets a burst through, refuses with whole seconds to wait, and refills with time', async () => {
    const clock = new ManualClock();
    await using service = await openContractService({ clock, rateLimit: { perMinute: 60, burst: 3 } });
    const statuses = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await service.root.get('/me')).status);
    expect(statuses).toEqual([200, 200, 200, 429]);

    const refused = await service.root.get('/me');
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.body).toEqual({ code: 'RATE_LIMITED', message: 'More than 60 requests per minute.' });

    await clock.advance(1000);
    expect((await service.root.get('/me')).status).toBe(200);
    expect((await service.root.get('/me')).status).toBe(429);
  });

  it('lets 60 evenly spread calls of a minute through after a burst, and refuses what comes in addition', async () => {
    const clock = new ManualClock();
    await using service = await openContractService({ clock, rateLimit: { perMinute: 60, burst: 10 } });
    const call = async () => {
      const { status, headers } = await service.root.get('/me');
      return { status, retryAfter: headers['retry-after'] };
    };
    const atOnce = await Promise.all(Array.from({ length: 61 }, call));
    const refused = atOnce.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(51);
    for (const { retryAfter } of refused) expect(retryAfter).toBe('1');
    for (let second = 0; second < 60; second += 1) {
      await clock.advance(1000);
      expect(await call()).toEqual({ status: 200, retryAfter: undefined });
    }
    expect(await call()).toEqual({ status: 429, retryAfter: '1' });
  });

  it('charges no client without a key', async () => {
    const clock = new ManualClock();
    await using service = await openContractService({ clock, rateLimit: { perMinute: 60, burst: 1 } });
    const stranger = createApiCaller(service.baseUrl, null);
    for (let count = 0; count < 3; count += 1) expect((await stranger.get('/me')).status).toBe(401);
    expect((await service.root.get('/me')).status).toBe(200);
  });

  it('does not exist unless it is asked for', async () => {
    await using service = await openContractService({ apiKey: new Secret('sk_given_key') });
    const answers = await Promise.all(Array.from({ length: 50 }, () => service.root.get('/me')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
