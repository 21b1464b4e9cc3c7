import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
} from '../../../../test/support/service/contract-service.ts';
import type { ContractService } from '../../../../test/support/service/contract-service.ts';
import { startEchoServer } from '../../../../test/support/servers/echo-server.ts';
import type { FixtureMcpServer } from '../../../../test/support/servers/fixture-mcp-server.ts';

/** A test as a run's body carries it, where more is required. */
function runTest(toolName: string, fields: Record<string, unknown> = {}) {
  return inlineTest(toolName, { runs: 1, model: 'none/none', provider: 'none', ...fields });
}

describe('the creation of a run', () => {
  let mcp: FixtureMcpServer;
  let service: ContractService;
  let serverId: string;
  beforeAll(async () => {
    mcp = await startEchoServer();
  });
  afterAll(async () => {
    await mcp[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    service = await openContractService();
    serverId = await saveServer(service, { url: mcp.url });
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  const create = (body: unknown, headers = {}) => service.project.post('/eval-runs', body, headers);

  const listTitles = async (runId: string) => {
    const { body } = await service.project.get(`/eval-runs/${runId}/iterations`);
    return body.items.map(
      (item: { title: string; iterationNumber: number }) => `${item.title} #${item.iterationNumber}`,
    );
  };

  it('runs a suite as it is', async () => {
    const { suiteId } = await saveSuite(service, serverId, [inlineTest('echo'), inlineTest('fail', { runs: 2 })]);
    const { body } = await create({ suiteId, suiteRerun: false });
    expect(await listTitles(body.runId)).toEqual(['Calls echo #1', 'Calls fail #1', 'Calls fail #2']);
  });

  it('writes tests into a suite by title, and runs those', async () => {
    const { suiteId, caseIds } = await saveSuite(service, serverId, [inlineTest('echo'), inlineTest('fail')]);
    const { status, body } = await create({ suiteId, tests: [runTest('new'), runTest('fail', { runs: 2 })] });
    expect(status).toBe(202);
    const [added, kept] = body.caseUpsert.committed;
    expect([added.name, kept]).toEqual(['Calls new', { id: caseIds[1], name: 'Calls fail' }]);
    expect(await listTitles(body.runId)).toEqual(['Calls new #1', 'Calls fail #1', 'Calls fail #2']);
    const { body: cases } = await service.project.get(`/eval-suites/${suiteId}/cases`);
    expect(cases.items.map(({ id, iterations }: Record<string, unknown>) => [id, iterations])).toEqual([
      [caseIds[0], 1],
      [caseIds[1], 2],
      [added.id, 1],
    ]);
  });

  it('makes a new suite of a name, tests and servers', async () => {
    const { status, body } = await create({ suiteName: 'Fresh', tests: [runTest('echo')], serverIds: [serverId] });
    expect(status).toBe(202);
    const { body: suite } = await service.project.get(`/eval-suites/${body.suiteId}`);
    expect(suite).toMatchObject({ name: 'Fresh', environment: { servers: [serverId] } });
  });

  it('is possible on the short path, with the project in the body or as the only one', async () => {
    const { suiteId } = await saveSuite(service, serverId);
    const short = await service.root.post('/eval-runs', { suiteId });
    expect(short.status).toBe(202);
    await waitForEnd(service, short.body.runId);
    await service.root.post('/projects', { name: 'Second' });
    expect(await service.root.post('/eval-runs', { suiteId })).toMatchObject({
      status: 400,
      body: { message: 'projectId: Required, since the key reaches several projects' },
    });
    expect((await service.root.post('/eval-runs', { suiteId, projectId: service.projectId })).status).toBe(202);
    expect((await service.root.post('/eval-runs', { suiteId, projectId: 'prj_missing' })).status).toBe(404);
  });

  it('takes chosen cases, by either id, in the order of the suite', async () => {
    const { suiteId, caseIds } = await saveSuite(service, serverId, [
      inlineTest('a'),
      inlineTest('b'),
      inlineTest('c'),
    ]);
    const { body: cases } = await service.project.get(`/eval-suites/${suiteId}/cases`);
    const { body } = await create({ suiteId, caseIds: [cases.items[2].declaredId, caseIds[0]] });
    expect(await listTitles(body.runId)).toEqual(['Calls a #1', 'Calls c #1']);
    expect(await create({ suiteId, caseIds: [caseIds[0], 'case_missing'] })).toMatchObject({
      status: 404,
      body: { message: 'caseIds.1: Case not found.' },
    });
  });

  it('raises iterations to the suite’s floor, and replaces them with the run’s own number', async () => {
    const { suiteId } = await saveSuite(service, serverId, [inlineTest('a'), inlineTest('b', { runs: 3 })]);
    await service.project.patch(`/eval-suites/${suiteId}`, { settings: { minimumIterations: 2 } });
    const floored = await create({ suiteId });
    expect((await waitForEnd(service, floored.body.runId)).summary.total).toBe(5);
    const replaced = await create({ suiteId, iterationOverride: 1 });
    expect((await waitForEnd(service, replaced.body.runId)).summary.total).toBe(2);
  });

  it.each([
    [{}, 400, 'suiteId: Required, or else suiteName with tests and serverIds'],
    [{ tests: [runTest('echo')] }, 400, 'suiteId: Required, or else suiteName with tests and serverIds'],
    [{ suiteName: 'x', serverIds: ['s'] }, 400, 'tests: Required with suiteName'],
    [{ suiteName: 'x', tests: [runTest('echo')] }, 400, 'serverIds: Required with suiteName'],
    [{ suiteName: 'x', tests: [runTest('echo')], serverIds: ['srv_missing'] }, 404, 'Server not found.'],
    [{ suiteId: 'ste_missing' }, 404, 'Suite not found.'],
    [{ suiteId: 'x', colour: 'red' }, 400, 'Unrecognized key: "colour"'],
    [{ suiteId: 'x', iterationOverride: 11 }, 400, 'iterationOverride: Too big: expected number to be <=10'],
    [{ suiteId: 'x', caseIds: [] }, 400, 'caseIds: Too small: expected array to have >=1 items'],
    [
      { suiteId: 'x', tests: [inlineTest('echo', { runs: 1, model: 'a/b' })] },
      400,
      'tests.0.provider: Invalid input: expected string, received undefined',
    ],
  ])('is refused for %j', async (body, status, message) => {
    const answer = await create(body);
    expect({ status: answer.status, message: answer.body.message }).toEqual({ status, message });
  });

  it('takes match options in either vocabulary, not in both', async () => {
    const { suiteId } = await saveSuite(service, serverId);
    const override = async (matchOptionsOverride: unknown) => {
      const { status, body } = await create({ suiteId, matchOptionsOverride });
      if (status === 202) await waitForEnd(service, body.runId);
      return status === 202 ? status : body.message;
    };
    expect(await override({ toolCallOrder: 'in-order', extraToolCalls: 1, arguments: 'exact' })).toBe(202);
    expect(await override({ toolCallOrder: 'superset', maxExtraToolCalls: null })).toBe(202);
    expect(await override({ toolCallOrder: 'strict', extraToolCalls: 1 })).toBe(
      'matchOptionsOverride: Unrecognized key: "extraToolCalls"',
    );
    expect(await override({ extraToolCalls: 1, argumentMatching: 'exact' })).toBe(
      'matchOptionsOverride: Unrecognized key: "extraToolCalls"',
    );
    expect(await override({ toolCallOrder: 'any', extraToolCalls: -1 })).toBe(
      'matchOptionsOverride.extraToolCalls: Too small: expected number to be >=0',
    );
  });

  it('is refused where a model would be needed, naming the case', async () => {
    const prompt = { title: 'Asks', steps: [{ id: 'p1', kind: 'prompt', prompt: 'Hello?' }] };
    const { suiteId } = await saveSuite(service, serverId, [inlineTest(), prompt]);
    expect(await create({ suiteId })).toMatchObject({
      status: 422,
      body: {
        code: 'FEATURE_NOT_SUPPORTED',
        message: 'Case "Asks" needs a model: this service runs none.',
      },
    });
  });

  it('is refused for more than 300 model calls', async () => {
    const steps = Array.from({ length: 31 }, (_, index) => ({ id: `p${index}`, kind: 'prompt', prompt: 'Hello?' }));
    const { suiteId } = await saveSuite(service, serverId, [{ title: 'Chatty', steps, runs: 10 }]);
    expect(await create({ suiteId })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: { totalCalls: 310, cap: 300 } },
    });
  });

  it('is refused for a suite without cases or servers', async () => {
    const { suiteId, caseIds } = await saveSuite(service, serverId);
    await service.project.delete(`/servers/${serverId}`);
    expect(await create({ suiteId })).toMatchObject({
      status: 400,
      body: { details: { reason: 'NO_SAVED_SERVER_SELECTION', suiteId } },
    });
    await service.project.delete(`/eval-suites/${suiteId}/cases/${caseIds[0]}`);
    const other = await saveServer(service, { url: mcp.url });
    expect(await create({ suiteId, serverIds: [other] })).toMatchObject({
      status: 400,
      body: { message: 'The suite has no cases to run.' },
    });
  });

  it('records nothing when the server cannot be reached', async () => {
    const dead = await saveServer(service, { name: 'dead', url: 'http://127.0.0.1:9/mcp?k=canary' });
    const answer = await create({ suiteName: 'Unreached', tests: [runTest('echo')], serverIds: [dead] });
    expect(answer).toMatchObject({ status: 502, body: { code: 'SERVER_UNREACHABLE' } });
    expect(answer.body.message).toContain('The MCP server dead at http://127.0.0.1:9 could not be reached');
    expect(JSON.stringify(answer.body)).not.toContain('canary');
    expect((await service.project.get('/eval-suites')).body.items).toEqual([]);
  });

  it('is refused for servers that this service cannot run against', async () => {
    const save = async (fields: Record<string, unknown>) => {
      const record = { enabled: true, transportType: 'http', url: mcp.url, ...fields };
      const { body } = await service.project.post('/servers', record);
      const { suiteId } = await saveSuite(service, body.id);
      const answer = await create({ suiteId });
      return [answer.status, answer.body.message];
    };
    expect(await save({ name: 'a', transportType: 'stdio', command: 'node' })).toEqual([
      422,
      'Server "a" speaks stdio, and the service starts commands of records only with `serve --allow-stdio`; start it behind a bridge and save its URL.',
    ]);
    expect((await save({ name: 'b', useOAuth: true }))[0]).toBe(401);
    expect(await save({ name: 'c', enabled: false })).toEqual([400, 'Server "c" is disabled.']);
  });

  it('allows two runs at once', async () => {
    const { suiteId } = await saveSuite(service, serverId, [inlineTest('hang')]);
    const [first] = [await create({ suiteId }), await create({ suiteId })];
    const third = await create({ suiteId });
    expect(third).toMatchObject({
      status: 429,
      body: { code: 'RATE_LIMITED', details: { reason: 'CONCURRENT_RUN_LIMIT', maxConcurrentRuns: 2 } },
    });
    expect(third.headers['retry-after']).toBeUndefined();
    await service.project.post(`/eval-runs/${first?.body.runId}/cancel`);
    await expect.poll(async () => (await create({ suiteId })).status).toBe(202);
  });

  it.each([
    ['an id', { serverId: 'srv_missing' }, 'srv_missing'],
    ['a name', { serverName: 'gamma' }, 'gamma'],
    ['the name in another step', { kind: 'ping', serverName: 'gamma' }, 'gamma'],
  ])('refuses a call of a server that it does not have, by %s', async (_what, fields, named) => {
    const call = { kind: 'toolCall', serverName: 'demo', toolName: 'echo', arguments: {} };
    const steps = [{ id: 's1', ...('kind' in fields ? fields : { ...call, ...fields }) }];
    const { suiteId } = await saveSuite(service, serverId, [inlineTest('echo', { title: 'Elsewhere', steps })]);
    const { status, body } = await create({ suiteId });
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: `Step "s1" of case "Elsewhere" calls server "${named}", which is not among the run's servers.`,
    });
    const downId = await saveServer(service, { name: 'down' });
    expect(await create({ suiteId, serverIds: [downId] })).toMatchObject({
      status: 502,
      body: { code: 'SERVER_UNREACHABLE' },
    });
  });
});

describe('the creation of a run with an idempotency key', () => {
  it('starts one run however often it is asked, even at once', async () => {
    await using mcp = await startEchoServer();
    await using service = await openContractService();
    const { suiteId } = await saveSuite(service, await saveServer(service, { url: mcp.url }));
    const create = (body: object, headers = {}) => service.project.post('/eval-runs', { suiteId, ...body }, headers);

    const answers = await Promise.all([1, 2, 3].map(() => create({ idempotencyKey: 'k1' })));
    expect(new Set(answers.map(({ body }) => body.runId)).size).toBe(1);
    expect(answers.filter(({ body }) => body.deduped === true)).toHaveLength(2);
    const runId = answers[0]?.body.runId;

    await waitForEnd(service, runId);
    const replay = await create({ idempotencyKey: 'k1' }, { 'x-svc-idempotency-key': 'k2' });
    expect(replay).toMatchObject({ status: 202, body: { runId, status: 'completed', deduped: true } });
    expect((await create({}, { 'x-svc-idempotency-key': 'k1' })).body).toEqual(replay.body);
    expect((await create({}, { 'x-mcpjam-idempotency-key': 'k1' })).body).toEqual(replay.body);
    expect((await create({ idempotencyKey: 'k1', projectId: service.projectId })).body).toEqual(replay.body);

    expect(await create({ idempotencyKey: 'k1', notes: 'Other' })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', details: { reason: 'IDEMPOTENCY_CONFLICT' } },
    });
    expect((await create({ idempotencyKey: 'k2' })).body.deduped).toBeUndefined();
    const other = await saveSuite(service, await saveServer(service, { name: 'again', url: mcp.url }));
    expect((await create({ suiteId: other.suiteId, idempotencyKey: 'k1' })).body.deduped).toBeUndefined();
  });

  it('makes one suite where the request makes one', async () => {
    await using mcp = await startEchoServer();
    await using service = await openContractService();
    const serverIds = [await saveServer(service, { url: mcp.url })];
    const body = { suiteName: 'Fresh', tests: [runTest('echo')], serverIds, idempotencyKey: 'k' };
    const first = await service.project.post('/eval-runs', body);
    const second = await service.project.post('/eval-runs', body);
    expect(second.body).toMatchObject({ runId: first.body.runId, caseUpsert: first.body.caseUpsert, deduped: true });
    expect((await service.project.get('/eval-suites')).body.items).toHaveLength(1);
  });

  it('is not spent by a request that failed', async () => {
    await using mcp = await startEchoServer();
    await using service = await openContractService();
    const serverId = await saveServer(service);
    const { suiteId } = await saveSuite(service, serverId);
    const body = { suiteId, idempotencyKey: 'k' };
    expect((await service.project.post('/eval-runs', body)).status).toBe(502);
    await service.project.patch(`/servers/${serverId}`, { url: mcp.url });
    const retried = await service.project.post('/eval-runs', body);
    expect({ status: retried.status, deduped: retried.body.deduped }).toEqual({ status: 202, deduped: undefined });
  });
});
