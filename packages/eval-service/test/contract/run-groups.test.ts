import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contractLimits } from '../../../../src/service/api-limits.ts';
import { ways } from '../../../../test/support/service/answers.ts';
import {
  type ContractService,
  inlineTest,
  openContractService,
  saveServer,
  saveSuite,
  waitForEnd,
} from '../../../../test/support/service/contract-service.ts';
import { startEchoServer } from '../../../../test/support/servers/echo-server.ts';
import type { FixtureMcpServer } from '../../../../test/support/servers/fixture-mcp-server.ts';

describe('a group of runs', () => {
  let mcp: FixtureMcpServer;
  let service: ContractService;
  let reachable: string;
  let unreachable: string;
  beforeAll(async () => {
    mcp = await startEchoServer();
  });
  afterAll(async () => {
    await mcp[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  const start = async (overrides: Parameters<typeof openContractService>[0] = {}) => {
    service = await openContractService(overrides);
    reachable = await saveServer(service, { url: mcp.url });
    unreachable = await saveServer(service, { name: 'dead' });
  };
  const saveHost = async (name: string, serverId: string): Promise<string> =>
    (await service.project.post('/hosts', { name, config: { modelId: 'none/none', serverIds: [serverId] } })).body.id;
  const saveEnvironment = async (name: string, hostId: string): Promise<string> =>
    (await service.project.post('/environments', { name, hostId })).body.id;
  const patchSuite = async (suiteId: string, body: unknown) => {
    const { status } = await service.project.patch(`/eval-suites/${suiteId}`, body);
    expect(status).toBe(200);
  };
  /** A suite with two hosts: of each the name is that of its server's state. */
  const saveHosts = async (tests = [inlineTest()]) => {
    const { suiteId } = await saveSuite(service, reachable, tests);
    const up = await saveHost('Up', reachable);
    const dead = await saveHost('Dead', unreachable);
    await patchSuite(suiteId, { hosts: [{ host: up }, { host: dead }] });
    return { suiteId, up, dead };
  };
  const listRuns = async (suiteId: string): Promise<Array<{ id: string; runGroupId?: string }>> =>
    (await service.project.get(`/eval-suites/${suiteId}/runs`)).body.items;

  it.each(ways)('createEvalRunGroup answers 202: a run in each environment ($way)', async ({ open }) => {
    await start();
    const { suiteId } = await saveSuite(service, reachable);
    const hostId = await saveHost('Host', reachable);
    const environmentIds = [await saveEnvironment('One', hostId), await saveEnvironment('Two', hostId)];
    await patchSuite(suiteId, { environmentIds });
    const targets = environmentIds.map((environmentId) => ({ environmentId }));
    const fields = { suiteId, targets: [...targets, targets[0]], notes: 'Nightly' };
    const { status, body } = await open(service)('createEvalRunGroup', fields);
    expect({ status, body }).toMatchObject({
      status: 202,
      body: {
        suiteId,
        outcome: 'started',
        startedCount: 2,
        failedCount: 0,
        targets: [
          { target: { environmentId: environmentIds[0], name: 'One' }, status: 'started', runStatus: 'running' },
          { target: { environmentId: environmentIds[1], name: 'Two' }, status: 'started', runStatus: 'running' },
        ],
        runId: body.targets[0].runId,
        status: 'running',
      },
    });
    for (const [index, { runId }] of body.targets.entries()) {
      const ended = await waitForEnd(service, runId);
      const { runGroupId } = body;
      const environment = { id: environmentIds[index] };
      expect(ended).toMatchObject({ result: 'passed', runGroupId, notes: 'Nightly', environment });
    }
  });

  it.each(ways)('createEvalRunGroup answers 202: a target that fails leaves the others ($way)', async ({ open }) => {
    await start();
    const { suiteId, up, dead } = await saveHosts();
    const send = open(service);
    const { body } = await send('createEvalRunGroup', {
      suiteId,
      targets: [{ namedHostId: dead }, { namedHostId: up }],
    });
    expect(body).toMatchObject({
      outcome: 'partial',
      startedCount: 1,
      failedCount: 1,
      targets: [
        { target: { namedHostId: dead, name: 'Dead' }, status: 'failed', error: { code: 'SERVER_UNREACHABLE' } },
        { target: { namedHostId: up, name: 'Up' }, status: 'started' },
      ],
      runId: body.targets[1].runId,
    });
    const failed = await send('createEvalRunGroup', { suiteId, targets: [{ namedHostId: dead }] });
    expect(failed).toMatchObject({ status: 202, body: { outcome: 'failed', startedCount: 0, failedCount: 1 } });
    expect(failed.body.runId).toBeUndefined();
    expect(await listRuns(suiteId)).toHaveLength(1);
  });

  it.each(ways)('createEvalRunGroup answers 202: a repeat starts only what failed ($way)', async ({ open }) => {
    await start();
    const { suiteId, up, dead } = await saveHosts();
    const fields = { suiteId, targets: [{ namedHostId: up }, { namedHostId: dead }], idempotencyKey: 'nightly-1' };
    const send = open(service);
    const { body: first } = await send('createEvalRunGroup', fields);
    expect(first.outcome).toBe('partial');
    await service.project.patch(`/servers/${unreachable}`, { url: mcp.url });
    const { body: second } = await send('createEvalRunGroup', fields);
    expect(second).toMatchObject({ runGroupId: first.runGroupId, outcome: 'started' });
    const [kept, added] = second.targets;
    expect([kept.runId, kept.deduped, added.deduped ?? false]).toEqual([first.targets[0].runId, true, false]);
    // A complete group answers even when its suite could not run there any more.
    await patchSuite(suiteId, { hosts: [{ host: up }] });
    const { body: third } = await send('createEvalRunGroup', fields);
    expect(third.targets.map(({ runId }: { runId: string }) => runId)).toEqual([kept.runId, added.runId]);
    const { body: other } = await send('createEvalRunGroup', {
      ...fields,
      targets: [{ namedHostId: up }],
      idempotencyKey: 'b',
    });
    expect(other.runGroupId).not.toBe(first.runGroupId);
    expect(await listRuns(suiteId)).toHaveLength(3);
  });

  it.each(ways)('createEvalRunGroup answers 409: the key of another request ($way)', async ({ open }) => {
    await start();
    const { suiteId, up } = await saveHosts();
    const fields = { suiteId, targets: [{ namedHostId: up }], idempotencyKey: 'nightly-1' };
    expect((await open(service)('createEvalRunGroup', fields)).status).toBe(202);
    const answer = await open(service)('createEvalRunGroup', { ...fields, notes: 'Other' });
    expect(answer).toMatchObject({ status: 409, code: 'CONFLICT' });
  });

  it.each(ways)(
    'createEvalRunGroup answers 400: targets that cannot be, and no run starts ($way)',
    async ({ open }) => {
      await start();
      const { suiteId, up } = await saveHosts();
      const good = { namedHostId: up };
      const many = Array.from({ length: 11 }, (_, index) => ({ namedHostId: `hst_${index}` }));
      for (const targets of [
        [],
        many,
        [{}],
        [good, { environmentId: 'env_1' }],
        [{ ...good, environmentId: 'env_1' }],
        [good, { namedHostId: 'hst_other' }],
      ]) {
        const answer = await open(service)('createEvalRunGroup', { suiteId, targets });
        expect(answer).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
      }
      for (const single of [{ serverIds: [reachable] }, { refreshSnapshot: true }]) {
        const answer = await open(service)('createEvalRunGroup', { suiteId, targets: [good], ...single });
        expect(answer).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
      }
      expect(await listRuns(suiteId)).toEqual([]);
    },
  );

  it('is refused with a reason where targets are not alike, or not those of the suite', async () => {
    await start();
    const { suiteId, up } = await saveHosts();
    const reasonOf = async (targets: unknown[]) =>
      (await service.project.post('/eval-run-groups', { suiteId, targets })).body.details.reason;
    expect(await reasonOf([{ namedHostId: up }, { environmentId: 'env_1' }])).toBe('HETEROGENEOUS_TARGETS');
    expect(await reasonOf([{ namedHostId: up }, { namedHostId: 'hst_other' }])).toBe('HOST_NOT_ATTACHED');
    expect(await reasonOf([{ environmentId: 'env_1' }])).toBe('ENVIRONMENT_NOT_ATTACHED');
  });

  it.each(ways)('createEvalRunGroup answers 404: no such suite ($way)', async ({ open }) => {
    await start();
    const fields = { suiteId: 'ste_none', targets: [{ namedHostId: 'hst_1' }] };
    const answer = await open(service)('createEvalRunGroup', fields);
    expect(answer).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)(
    'createEvalRunGroup answers 429: all slots are taken, of which a group has one ($way)',
    async ({ open }) => {
      await start({ limits: { ...contractLimits, concurrentRuns: 1 } });
      const waits = inlineTest('echo', {
        steps: [{ id: 'w', kind: 'toolCall', serverName: '', toolName: 'hang', arguments: {} }],
      });
      const { suiteId, up } = await saveHosts([waits]);
      const other = await saveHost('Also up', reachable);
      await patchSuite(suiteId, { hosts: [{ host: up }, { host: other }] });
      const fields = { suiteId, targets: [{ namedHostId: up }, { namedHostId: other }] };
      const send = open(service);
      const { body } = await send('createEvalRunGroup', fields);
      expect(body).toMatchObject({ outcome: 'started', startedCount: 2 });
      const refuse = async () =>
        expect(await send('createEvalRunGroup', fields)).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
      await refuse();
      const [first, second] = body.targets.map(({ runId }: { runId: string }) => runId);
      await send('cancelEvalRun', { runId: first });
      // The second run still holds the slot.
      await refuse();
      await send('cancelEvalRun', { runId: second });
      await expect.poll(async () => (await send('createEvalRun', { suiteId, namedHostId: up })).status).toBe(202);
    },
  );
});
