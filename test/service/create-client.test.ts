import { createServer } from 'node:http';
import { once } from 'node:events';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { ConfigurationError, ServiceError } from '../../src/base/errors.ts';
import { systemClock } from '../../src/base/time.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { Secret } from '../../src/base/redaction.ts';
import { walkOperation } from '../../src/service/call-operation.ts';
import { openServiceClient } from '../../src/service/client.ts';
import { createServiceClient, type EvalServiceClient } from '../../src/service/create-client.ts';
import { defineOperation, nameOperations, none } from '../../src/service/operations/operation.ts';
import { operations } from '../../src/service/operations/table.ts';
import { serviceProfiles } from '../../src/service/profile.ts';
import { type ContractService, openContractService } from '../support/service/contract-service.ts';
import { json, startHttpServer } from '../support/network/http-server.ts';
import { catchError } from '../support/service/service-client.ts';

describe('the client of the eval API', () => {
  let service: ContractService;
  let client: EvalServiceClient;
  beforeAll(async () => {
    service = await openContractService();
    client = createServiceClient({ baseUrl: service.baseUrl, apiKey: service.apiKey, profile: 'embedded' });
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  it('has every operation of the table in its area', () => {
    const has = Object.entries(client).map(([area, functions]) => [area, Object.keys(functions)]);
    const described = Object.entries(operations).map(([area, each]) => [area, Object.keys(each)]);
    expect(Object.fromEntries(has)).toEqual(Object.fromEntries(described));
  });

  it('calls an operation without fields, with fields, and with ids of the path', async () => {
    const me = await client.account.getMe();
    expect(me.id).toBe('user_local');
    const created = await client.account.createProject({ name: 'Typed', visibility: 'public' });
    expectTypeOf(created.name).toEqualTypeOf<string>();
    const { items } = await client.suites.listEvalSuites({ projectId: created.id });
    expect(items).toEqual([]);
  });

  it('refuses wrong fields where it is compiled, and the service refuses them where it is not', async () => {
    // @ts-expect-error -- a project has no color
    const failure = await catchError(client.account.createProject({ name: 'Red', color: 'red' }));
    expect(failure).toBeInstanceOf(ServiceError);
    expect(failure).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each([
    ['svc', 'chatboxes'],
    ['mcpjam', 'scenarios'],
  ] as const)('asks a service of the profile %s for %s', async (profile, segment) => {
    const asked: string[] = [];
    await using server = await startHttpServer((response, { url }) => {
      asked.push(url);
      return json(200, { items: [] })(response, { method: '', url, headers: {}, body: '' });
    });
    await using of = createServiceClient({ baseUrl: server.origin, apiKey: 'sk_x', profile });
    await of.chats.listChatboxes({ projectId: 'prj_1' });
    expect(asked).toEqual([`/projects/prj_1/${segment}`]);
  });

  it('gives the pages of a list', async () => {
    const { projectId } = service;
    const results = [1, 2, 3].map((index) => ({ caseTitle: `Case ${index}`, passed: true }));
    const { runId } = await client.ingest.reportEvalRun({ projectId, suiteName: 'Sent', externalRunId: 'e1', results });
    const pages = [];
    for await (const page of client.runs.listEvalRunIterations({ projectId, runId, limit: 2 })) {
      pages.push(page.map(({ title }) => title));
    }
    expect(pages).toEqual([['Case 1', 'Case 2'], ['Case 3']]);
  });

  it('sends the idempotency key of a body as a header too, so that the request may be repeated', async () => {
    const { projectId } = service;
    const failure = await catchError(client.runs.createEvalRun({ projectId, suiteId: 'no', idempotencyKey: 'k1' }));
    expect(failure).toMatchObject({ status: 404 });
  });

  it('needs a base URL where the profile has none', () => {
    expect(() => createServiceClient({ apiKey: 'sk_x' })).toThrow(ConfigurationError);
    expect(() => createServiceClient({ apiKey: 'sk_x', profile: 'mcpjam' })).not.toThrow();
  });

  it('ends its calls when it is disposed', async () => {
    const own = createServiceClient({ baseUrl: service.baseUrl, apiKey: service.apiKey, profile: 'embedded' });
    await own[Symbol.asyncDispose]();
    await expect(own.account.getMe()).rejects.toThrow('closed');
  });
});

describe('a list whose cursor is in the headers', () => {
  const { listDocuments: documents } = nameOperations({
    listDocuments: defineOperation({
      summary: 'Lists documents.',
      method: 'GET',
      path: '/documents',
      query: z.object({ cursor: z.string().exactOptional() }),
      body: none,
      answer: z.object({ number: z.number() }),
      status: 200,
      errors: [],
      cursor: 'headers',
    }),
  });

  async function walk(nextOf: (cursor: string | null) => string | undefined) {
    const server = createServer((request, response) => {
      const cursor = new URL(request.url ?? '', 'http://localhost').searchParams.get('cursor');
      const next = nextOf(cursor);
      if (next !== undefined) response.setHeader('x-svc-next-cursor', next);
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ number: Number(cursor), extra: 1 }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const client = openServiceClient({
      baseUrl: `http://127.0.0.1:${port}/api/v1`,
      apiKey: new Secret('sk_x'),
      profile: serviceProfiles.embedded,
      clock: systemClock,
      logger: silentLogger,
    });
    try {
      const pages = [];
      for await (const page of walkOperation(client, documents, {})) pages.push(page);
      return pages;
    } finally {
      await client[Symbol.asyncDispose]();
      server.close();
    }
  }

  it('is walked to the answer that names no next page', async () => {
    const pages = await walk((cursor) => ({ null: '1', 1: '2' })[String(cursor)]);
    expect(pages).toEqual([[{ number: 0 }], [{ number: 1 }], [{ number: 2 }]]);
  });

  it('ends with an error when a cursor comes a second time', async () => {
    await expect(walk(() => '7')).rejects.toThrow('leads back to an earlier one');
  });
});
