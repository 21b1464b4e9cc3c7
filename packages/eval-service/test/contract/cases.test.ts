import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { caseBatchResultSchema, casePageSchema, caseSchema, deletedSchema } from '../../../../src/service/wire.ts';
import {
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
} from '../../../../test/support/service/contract-service.ts';
import type { ContractService } from '../../../../test/support/service/contract-service.ts';

const steps = [{ id: 's1', kind: 'toolCall', serverName: 'demo', toolName: 'echo', arguments: { message: 'hi' } }];

describe('cases', () => {
  let service: ContractService;
  let suiteId: string;
  let path: string;
  beforeEach(async () => {
    service = await openContractService();
    ({ suiteId } = await saveSuite(service, await saveServer(service)));
    path = `/eval-suites/${suiteId}/cases`;
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  it('are created with defaults for what is left out', async () => {
    const { status, body } = await service.project.post(path, { title: 'Echoes', steps });
    expect(status).toBe(201);
    caseSchema.parse(body);
    expect(body).toEqual({
      id: expect.stringMatching(/^case_/),
      declaredId: expect.stringMatching(/^c_/),
      title: 'Echoes',
      steps,
      iterations: 1,
      isNegative: false,
      models: [],
      createdAt: expect.any(Number),
      updatedAt: body.createdAt,
    });
    expect((await service.project.get(`${path}/${body.id}`)).body).toEqual(body);
  });

  it.each([
    [
      { type: 'toolResultMatchesSchema', schema: { properties: { a: { type: 'objekt' } } } },
      'steps.1.assertion.schema.properties.a.type: `type` cannot be "objekt"; did you mean `object`?',
    ],
    [
      { type: 'toolResultMatchesSchema', schema: { requried: ['a'] } },
      'steps.1.assertion.schema.requried: Unknown keyword `requried` of JSON Schema 2020-12; did you mean `required`?',
    ],
    [{ type: 'toolResultMatches', pattern: '' }, 'steps.1.assertion.pattern: An empty pattern matches everything'],
    [{ type: 'responseMatches', pattern: '' }, 'steps.1.assertion.pattern: An empty pattern matches everything'],
  ])('are refused with an assertion that nothing can be judged by: %j', async (assertion, message) => {
    const { status, body } = await service.project.post(path, {
      title: 'Echoes',
      steps: [...steps, { id: 's2', kind: 'assert', assertion }],
    });
    expect({ status, ...body }).toEqual({ status: 400, code: 'VALIDATION_ERROR', message });
    const checks = { mode: 'replace', list: [assertion] };
    expect((await service.project.post(path, { title: 'Echoes', steps, checks })).status).toBe(400);
  });

  it('take an assertion that a tool does not exist, and a schema that can be used', async () => {
    const list = [
      { type: 'toolNotFound', toolName: 'x' },
      { type: 'toolResultMatchesSchema', schema: { type: 'object', required: ['a'] } },
    ];
    const { status } = await service.project.post(path, { title: 'E', steps, checks: { mode: 'replace', list } });
    expect(status).toBe(201);
  });

  it('are read in the public vocabulary, filled in, whichever vocabulary they came in', async () => {
    const test = inlineTest('echo', {
      runs: 3,
      isNegativeTest: true,
      model: 'a/b',
      provider: 'a',
      matchOptions: { toolCallOrder: 'superset', maxExtraToolCalls: 2 },
      predicates: { mode: 'extend', list: [{ type: 'noToolErrors' }] },
      advancedConfig: { timeoutMs: 1000 },
    });
    const { body: suite } = await service.project.post('/eval-suites', {
      name: 'Inline',
      serverIds: [(await service.project.get('/servers')).body.items[0].id],
      model: 'none/none',
      tests: [test],
    });
    const { body } = await service.project.get(`/eval-suites/${suite.suiteId}/cases`);
    const [shown] = casePageSchema.parse(body).items;
    expect(shown).toMatchObject({
      iterations: 3,
      isNegative: true,
      models: [{ model: 'a/b', provider: 'a' }],
      matchOptions: { toolCallOrder: 'in-order', extraToolCalls: 2, arguments: 'partial' },
      checks: { mode: 'extend', list: [{ type: 'noToolErrors' }] },
    });
    expect(Object.keys(body.items[0])).not.toContain('advancedConfig');
  });

  it.each([
    [{ title: 't', steps, colour: 1 }, 'Unrecognized key: "colour"'],
    [{ title: 't', steps, runs: 2 }, 'Unrecognized key: "runs"'],
    [{ title: '', steps }, 'title: Too small: expected string to have >=1 characters'],
    [{ title: 't', steps, id: 'a b' }, 'id: Expected 1 to 128 of A-Z, a-z, 0-9, _ and -'],
    [
      { title: 't', steps, matchOptions: { maxExtraToolCalls: 1 } },
      'matchOptions: Unrecognized key: "maxExtraToolCalls"',
    ],
    [{ title: 't', steps, iterations: 0 }, 'iterations: Too small: expected number to be >=1'],
    [
      { title: 't', steps, checks: { mode: 'replace', list: [{}] } },
      'checks.list.0: Expected an object with a string "type" and no "kind"',
    ],
    [
      {
        title: 't',
        steps: [{ id: 's', kind: 'interact', toolName: 't', action: { kind: 'click', target: { nth: 1 } } }],
      },
      'steps.0.action.target: Expected at least one of role, text, css and testId',
    ],
    [
      { title: 't', steps: Array.from({ length: 201 }, () => steps[0]) },
      'steps: Too big: expected array to have <=200 items',
    ],
  ])('are refused as %#', async (body, message) => {
    const answer = await service.project.post(path, body);
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 400,
      body: { code: 'VALIDATION_ERROR', message },
    });
  });

  it('have declared ids that are unique in their suite', async () => {
    expect((await service.project.post(path, { id: 'mine', title: 'a', steps })).body.declaredId).toBe('mine');
    const again = await service.project.post(path, { id: 'mine', title: 'b', steps });
    expect(again).toMatchObject({ status: 409, body: { code: 'CONFLICT', details: { reason: 'DUPLICATE_CASE_ID' } } });
  });

  it('are changed field by field, null clears, and the declared id stays', async () => {
    const { body: before } = await service.project.post(path, {
      title: 'a',
      steps,
      matchOptions: { arguments: 'exact' },
      checks: { list: [{ type: 'noToolErrors' }] },
    });
    expect(before.checks).toEqual({ mode: 'replace', list: [{ type: 'noToolErrors' }] });
    const one = `${path}/${before.id}`;
    const renamed = await service.project.patch(one, { title: 'b', iterations: 5 });
    expect(renamed.body).toEqual({ ...before, title: 'b', iterations: 5, updatedAt: expect.any(Number) });
    const cleared = await service.project.patch(one, { matchOptions: null, checks: null });
    expect(Object.keys(cleared.body)).not.toContain('matchOptions');
    expect(Object.keys(cleared.body)).not.toContain('checks');
    expect((await service.project.patch(one, { id: 'other' })).status).toBe(400);
  });

  it('are deleted one by one', async () => {
    const { body } = await service.project.get(path);
    const id = body.items[0].id;
    expect(deletedSchema.parse((await service.project.delete(`${path}/${id}`)).body)).toEqual({ id, deleted: true });
    expect((await service.project.get(path)).body).toEqual({ items: [] });
    expect((await service.project.delete(`${path}/${id}`)).status).toBe(404);
  });

  it('of another suite are not found', async () => {
    const { body } = await service.project.post(path, { title: 'a', steps });
    const other = await saveSuite(service, (await service.project.get('/servers')).body.items[0].id);
    const answer = await service.project.get(`/eval-suites/${other.suiteId}/cases/${body.id}`);
    expect(answer).toMatchObject({ status: 404, body: { code: 'NOT_FOUND', message: 'Case not found.' } });
  });

  describe('created in a batch', () => {
    const post = (body: unknown, headers = {}) => service.project.post(`${path}/batch`, body, headers);

    it('are reported one by one, those that failed next to the others', async () => {
      await service.project.post(path, { id: 'taken', title: 'Taken', steps });
      const { status, body } = await post({
        cases: [
          { id: 'fresh', title: 'Fresh', steps },
          { id: 'taken', title: 'Other', steps },
          { id: 'a b', title: 'Bad id', steps },
          { title: 'No steps' },
          'text',
          { title: 'Fresh', steps },
        ],
      });
      expect(status).toBe(201);
      caseBatchResultSchema.parse(body);
      expect(body.created).toEqual([
        { index: 0, id: expect.any(String), declaredId: 'fresh', title: 'Fresh', replayed: false },
      ]);
      expect(body.failed.map(({ index, code }: { index: number; code: string }) => [index, code])).toEqual([
        [1, 'DUPLICATE_CASE_ID'],
        [2, 'INVALID_CASE_ID'],
        [3, 'INVALID_CASE'],
        [4, 'INVALID_ITEM'],
        [5, 'DUPLICATE_CONTENT'],
      ]);
      expect(body.duplicatePolicy).toEqual({ effectivePolicy: 'block', coerced: false });
    });

    it('may be duplicates if the policy allows it', async () => {
      const twice = [
        { title: 'Same', steps },
        { title: 'Same', steps },
      ];
      const warned = await post({ cases: twice, duplicatePolicy: 'warn' });
      expect(warned.body.created.map(({ warnings }: { warnings?: string[] }) => warnings)).toEqual([
        undefined,
        ['Another case of the suite says the same.'],
      ]);
      const unreasoned = await post({ cases: twice, duplicatePolicy: 'create_anyway' });
      expect(unreasoned).toMatchObject({ status: 400, body: { details: { reason: 'OVERRIDE_REASON_REQUIRED' } } });
      const reasoned = await post({ cases: twice, duplicatePolicy: 'create_anyway', overrideReason: 'Load.' });
      expect(reasoned.body.created).toHaveLength(2);
    });

    it('read an unknown policy as block, and say so', async () => {
      const { body } = await post({ cases: [{ title: 'x', steps }], duplicatePolicy: 'shrug' });
      expect(body.duplicatePolicy).toEqual({ requestedPolicy: 'shrug', effectivePolicy: 'block', coerced: true });
    });

    it('are created once for one key', async () => {
      const batch = { cases: [{ title: 'Once', steps }] };
      const first = await post(batch, { 'idempotency-key': 'k' });
      const second = await post(batch, { 'idempotency-key': 'k' });
      expect(second.body.created).toEqual([{ ...first.body.created[0], replayed: true }]);
      expect((await post({ cases: [{ title: 'New', steps }] }, { 'idempotency-key': 'k' })).status).toBe(409);
    });

    it('are at least one and at most 100', async () => {
      expect((await post({ cases: [] })).status).toBe(400);
      const tooMany = Array.from({ length: 101 }, (_, index) => ({ title: `t${index}`, steps }));
      expect((await post({ cases: tooMany })).status).toBe(400);
      expect((await post({ cases: tooMany.slice(1) })).body.created).toHaveLength(100);
    });
  });
});
