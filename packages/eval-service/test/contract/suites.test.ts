import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requestKinds } from '../../../../src/cases/step.ts';
import {
  deletedSchema,
  suiteCreatedSchema,
  suiteDetailSchema,
  suitePageSchema,
  casePageSchema,
} from '../../../../src/service/wire.ts';
import {
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
} from '../../../../test/support/service/contract-service.ts';
import type { ContractService } from '../../../../test/support/service/contract-service.ts';

const stepKinds = [
  'prompt',
  'toolCall',
  'interact',
  'assert',
  ...requestKinds,
  'subscribe',
  'waitForUpdate',
  'wait',
  'command',
  'repeat',
];

describe('suites', () => {
  let service: ContractService;
  let serverId: string;
  beforeEach(async () => {
    service = await openContractService();
    serverId = await saveServer(service);
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  const suite = (fields: Record<string, unknown> = {}) => ({
    name: 'Smoke',
    serverIds: [serverId],
    model: 'none/none',
    tests: [inlineTest('a'), inlineTest('b')],
    ...fields,
  });

  it('are created with their cases, listed in the order of the tests', async () => {
    const { status, body } = await service.project.post('/eval-suites', suite());
    expect(status).toBe(201);
    const created = suiteCreatedSchema.parse(body);
    expect(created).toMatchObject({ name: 'Smoke', servers: [{ id: serverId, name: 'demo' }] });
    expect(created.caseUpsert.committed?.map(({ name }) => name)).toEqual(['Calls a', 'Calls b']);
    expect(created.caseUpsert.failed).toEqual([]);
    const cases = await service.project.get(`/eval-suites/${body.suiteId}/cases`);
    expect(casePageSchema.parse(cases.body).items.map(({ id }) => id)).toEqual(
      created.caseUpsert.committed?.map(({ id }) => id),
    );
  });

  it.each([
    [{ colour: 'red' }, 'Unrecognized key: "colour"'],
    [{ tests: [] }, 'tests: Too small: expected array to have >=1 items'],
    [{ serverIds: [] }, 'serverIds: Too small: expected array to have >=1 items'],
    [{ model: undefined }, 'model: Invalid input: expected string, received undefined'],
    [{ tests: [inlineTest('a', { runs: 11 })] }, 'tests.0.runs: Too big: expected number to be <=10'],
    [{ tests: [inlineTest('a', { iterations: 2 })] }, 'tests.0: Unrecognized key: "iterations"'],
    [{ tests: [inlineTest('a', { steps: [] })] }, 'tests.0.steps: Too small: expected array to have >=1 items'],
    [
      { tests: [inlineTest('a', { matchOptions: { toolCallOrder: 'any' } })] },
      'tests.0.matchOptions.toolCallOrder: Invalid option: expected one of "ignore"|"superset"|"strict"',
    ],
    [
      { tests: [{ title: 't', steps: [{ id: 's', kind: 'dance' }] }] },
      `tests.0.steps.0.kind: Invalid discriminator value. Expected ${stepKinds.map((kind) => `'${kind}'`).join(' | ')}`,
    ],
    [
      { tests: [{ title: 't', steps: [{ id: 's', kind: 'prompt', prompt: 'x', colour: 'red' }] }] },
      'tests.0.steps.0: Unrecognized key: "colour"',
    ],
    [
      { tests: [{ title: 't', steps: [{ id: 's', kind: 'assert', assertion: { type: 'x', kind: 'textVisible' } }] }] },
      'tests.0.steps.0.assertion: Expected a predicate, which has a "type", or a widget assertion, which has a known "kind" and its fields',
    ],
    [
      {
        tests: [
          inlineTest('a', {
            steps: [{ id: 's', kind: 'toolCall', toolName: 't', arguments: { a: 'x'.repeat(100_001) } }],
          }),
        ],
      },
      'tests.0.steps.0.arguments: Expected at most 100000 characters when serialised',
    ],
  ])('are refused with %j', async (fields, message) => {
    const { status, body } = await service.project.post('/eval-suites', suite(fields));
    expect({ status, body }).toEqual({ status: 400, body: { code: 'VALIDATION_ERROR', message } });
  });

  it('are refused with more than 100 tests or a server that does not exist', async () => {
    const many = suite({ tests: Array.from({ length: 101 }, () => inlineTest()) });
    expect((await service.project.post('/eval-suites', many)).status).toBe(400);
    const lost = suite({ serverIds: ['srv_missing'] });
    expect(await service.project.post('/eval-suites', lost)).toMatchObject({
      status: 404,
      body: { message: 'Server not found.' },
    });
    expect((await service.project.get('/eval-suites')).body.items).toEqual([]);
  });

  it.each(['x-svc-idempotency-key', 'x-mcpjam-idempotency-key', 'idempotency-key'])(
    'are created once for one %s',
    async (header) => {
      const first = await service.project.post('/eval-suites', suite(), { [header]: 'k1' });
      const second = await service.project.post('/eval-suites', suite(), { [header]: ' k1 ' });
      expect({ status: second.status, body: second.body }).toEqual({ status: 201, body: first.body });
      const other = await service.project.post('/eval-suites', suite({ name: 'Other' }), { [header]: 'k1' });
      expect(other).toMatchObject({
        status: 409,
        body: { code: 'CONFLICT', details: { reason: 'IDEMPOTENCY_CONFLICT' } },
      });
      const malformed = await service.project.post('/eval-suites', suite(), { [header]: 'k'.repeat(257) });
      expect(malformed.body.suiteId).not.toBe(first.body.suiteId);
      expect((await service.project.get('/eval-suites')).body.items).toHaveLength(2);
    },
  );

  it('are read in full', async () => {
    const { body: created } = await service.project.post(
      '/eval-suites',
      suite({ description: 'All of it', passCriteria: { minimumPassRate: 90 }, tags: ['ci'] }),
    );
    const { status, body } = await service.project.get(`/eval-suites/${created.suiteId}`);
    expect(status).toBe(200);
    suiteDetailSchema.parse(body);
    const { createdAt, updatedAt, ...rest } = body;
    expect(updatedAt).toBe(createdAt);
    expect(rest).toEqual({
      id: created.suiteId,
      name: 'Smoke',
      description: 'All of it',
      projectId: service.projectId,
      environment: { servers: [serverId], computerEnvironment: null },
      executionConfig: { model: 'none/none' },
      hosts: [],
      environmentIds: [],
      settings: {
        minimumAccuracy: 90,
        minimumIterations: null,
        matchOptions: null,
        checks: [],
        judge: { enabled: false },
      },
      schedule: { enabled: false, intervalMinutes: null, environmentId: null },
    });
  });

  it('are listed with the totals of their runs, which are empty at first', async () => {
    const { suiteId } = await saveSuite(service, serverId);
    const { body } = await service.project.get('/eval-suites');
    suitePageSchema.parse(body);
    expect(body.items).toMatchObject([
      { id: suiteId, latestRun: null, totals: { passed: 0, failed: 0, runs: 0 }, passRateTrend: [] },
    ]);
    expect((await service.project.get(`/eval-suites/${suiteId}/runs`)).body).toEqual({ items: [] });
  });

  it('take new settings, and null clears the ones that can be cleared', async () => {
    const { suiteId } = await saveSuite(service, serverId);
    const second = await saveServer(service, { name: 'second' });
    const settings = {
      minimumAccuracy: 80,
      minimumIterations: 3,
      matchOptions: { toolCallOrder: 'exact' },
      checks: [{ type: 'noToolErrors' }],
    };
    const patch = { name: 'New', description: 'D', environment: { servers: ['demo', second] }, settings };
    const { status, body } = await service.project.patch(`/eval-suites/${suiteId}`, patch);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        name: 'New',
        description: 'D',
        environment: { servers: [serverId, second] },
        settings: {
          ...settings,
          matchOptions: { toolCallOrder: 'exact', extraToolCalls: 'unlimited', arguments: 'partial' },
        },
      },
    });
    const cleared = await service.project.patch(`/eval-suites/${suiteId}`, {
      settings: { minimumIterations: null, matchOptions: null, checks: null },
    });
    expect(cleared.body).toMatchObject({
      name: 'New',
      settings: { minimumAccuracy: 80, minimumIterations: null, matchOptions: null, checks: [] },
    });
  });

  it.each([
    [{ colour: 'red' }, 400, 'Unrecognized key: "colour"'],
    [{ settings: { minimumAccuracy: 101 } }, 400, 'settings.minimumAccuracy: Too big: expected number to be <=100'],
    [{ environment: { servers: ['absent'] } }, 404, 'Server "absent" not found.'],
    [
      { settings: { checks: [{ type: 'responseMatches', pattern: '' }] } },
      400,
      'settings.checks.0.pattern: An empty pattern matches everything',
    ],
    [{ environmentIds: ['e'] }, 404, 'Environment not found.'],
    [{ environmentIds: [] }, 400, 'environmentIds: Expected at least one environment; null removes all of them'],
    [
      { environment: { computerEnvironment: 'c' } },
      422,
      'This service runs no evals in computers: environment.computerEnvironment.',
    ],
  ])('are not changed by %j', async (patch, status, message) => {
    const { suiteId } = await saveSuite(service, serverId);
    const before = (await service.project.get(`/eval-suites/${suiteId}`)).body;
    const answer = await service.project.patch(`/eval-suites/${suiteId}`, patch);
    expect({ status: answer.status, message: answer.body.message }).toEqual({ status, message });
    expect((await service.project.get(`/eval-suites/${suiteId}`)).body).toEqual(before);
  });

  it('are deleted with their cases', async () => {
    const { suiteId, caseIds } = await saveSuite(service, serverId);
    const { body } = await service.project.delete(`/eval-suites/${suiteId}`);
    expect(deletedSchema.parse(body)).toEqual({ id: suiteId, deleted: true });
    for (const path of ['', '/cases', `/cases/${caseIds[0]}`, '/runs']) {
      const answer = await service.project.get(`/eval-suites/${suiteId}${path}`);
      expect({ status: answer.status, body: answer.body }).toEqual({
        status: 404,
        body: { code: 'NOT_FOUND', message: 'Suite not found.' },
      });
    }
  });
});
