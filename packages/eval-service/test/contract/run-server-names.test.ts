import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  inlineTest,
  openContractService,
  saveServer,
  waitForEnd,
} from '../../../../test/support/service/contract-service.ts';
import type { ContractService } from '../../../../test/support/service/contract-service.ts';
import { startEchoServer } from '../../../../test/support/servers/echo-server.ts';
import {
  startFixtureMcpServer,
  text,
  type FixtureMcpServer,
} from '../../../../test/support/servers/fixture-mcp-server.ts';

/** A case that passes on the server called so, where it has `tool`. */
function calls(server: { serverName: string; serverId?: string }, tool = 'echo') {
  const steps = [
    { id: 's1', kind: 'toolCall', toolName: tool, arguments: {}, ...server },
    { id: 's2', kind: 'assert', assertion: { type: 'noToolErrors' } },
  ];
  const title = `Calls ${tool} of ${server.serverId ?? server.serverName}`;
  return inlineTest(tool, { title, steps, runs: 1, model: 'none', provider: 'custom' });
}

describe("the server names of a run's request", () => {
  let [echo, other]: FixtureMcpServer[] = [];
  let service: ContractService;
  let serverIds: string[];
  beforeAll(async () => {
    echo = await startEchoServer();
    other = await startFixtureMcpServer({ other: { call: () => text('fine') } });
  });
  afterAll(async () => {
    await echo?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    service = await openContractService();
    serverIds = [
      await saveServer(service, { name: 'tunnel 1', url: echo?.url ?? '' }),
      await saveServer(service, { name: 'tunnel 2', url: other?.url ?? '' }),
    ];
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
  });

  const create = (body: object) => service.project.post('/eval-runs', { suiteName: 'Named', ...body });
  const run = async (body: object) => {
    const { status, body: created } = await create(body);
    expect(status).toBe(202);
    return await waitForEnd(service, created.runId);
  };

  it('are what steps call the servers, in addition to their own names and ids', async () => {
    const tests = [
      calls({ serverName: 'first' }),
      calls({ serverName: 'tunnel 1' }),
      calls({ serverName: 'whatever', serverId: serverIds[0] ?? '' }),
      calls({ serverName: '' }),
      calls({ serverName: 'second' }, 'other'),
      calls({ serverName: 'tunnel 2' }, 'other'),
    ];
    const ended = await run({ tests, serverIds, serverNames: ['first', 'second'] });
    expect(ended).toMatchObject({ status: 'completed', result: 'passed', summary: { total: 6, passed: 6 } });
  });

  it('win over the names of records, and are those of one run only', async () => {
    const tests = [calls({ serverName: 'tunnel 2' })];
    const swapped = await run({ tests, serverIds, serverNames: ['tunnel 2', 'tunnel 1'] });
    expect(swapped).toMatchObject({ result: 'passed' });
    const plain = await run({ suiteName: undefined, suiteId: swapped.suiteId, serverIds });
    expect(plain).toMatchObject({ result: 'failed' });
  });

  it('leave stored cases as they were sent', async () => {
    const { suiteId } = await run({ tests: [calls({ serverName: 'first' })], serverIds, serverNames: ['first', ''] });
    const { body } = await service.project.get(`/eval-suites/${suiteId}/cases`);
    expect(body.items[0].steps[0]).toMatchObject({ serverName: 'first' });
  });

  it('are all that a step may call', async () => {
    const answer = await create({
      tests: [calls({ serverName: 'third' })],
      serverIds,
      serverNames: ['first', 'second'],
    });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        message: 'Step "s1" of case "Calls echo of third" calls server "third", which is not among the run\'s servers.',
      },
    });
  });

  it.each([
    ['too few', ['first'], true],
    ['too many', ['first', 'second', 'third'], true],
    ['names of no servers', ['first'], false],
  ])('are refused when they are %s', async (_what, serverNames, hasIds) => {
    const { suiteId } = await run({ tests: [calls({ serverName: '' })], serverIds });
    const body = { suiteName: undefined, suiteId, serverNames, ...(hasIds ? { serverIds } : {}) };
    expect(await create(body)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', message: 'serverNames: Expected one for each of serverIds' },
    });
  });
});
