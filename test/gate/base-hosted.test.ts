import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHostedGate } from '../support/gate/hosted-gate.ts';
import { type Behaviour, startFlakyServer, writeCallingCases } from '../support/servers/flaky-server.ts';
import type { ContractService } from '../support/service/contract-service.ts';
import { startServeProcess } from '../support/service/serve-process.ts';
import { openServiceTap } from '../support/service/service-tap.ts';

let service: ContractService;

beforeAll(async () => {
  service = await startServeProcess();
});

afterAll(() => service[Symbol.asyncDispose]());

const steady: Record<string, Behaviour[]> = { add: ['passes'], greet: ['passes'] };

describe('a hosted gate with a base', () => {
  // The second gate finds the suite of the first.
  it.each([
    ['creates', 8],
    ['finds', 3],
  ])('runs both servers in one group when it %s the suite, and leaves neither', async (_, runs) => {
    await using tap = await openServiceTap(service);
    await using before = await startFlakyServer(steady);
    await using after = await startFlakyServer({ ...steady, greet: ['fails'] });
    const { report, exitCode, leftovers } = await runHostedGate(
      tap.service,
      {
        'server-url': after.url,
        base: `url=${before.url}\nseed=1`,
        evals: 'a.evals.yaml',
        'suite-scope': 'shared',
        'min-pass-rate': '50%',
      },
      { files: { 'a.evals.yaml': writeCallingCases(Object.keys(steady), { runs }) } },
    );
    expect(report.baseComparison).toMatchObject({ problem: null });
    expect(report.baseComparison?.cases.map(({ id, isWorse }) => [id, isWorse])).toEqual([
      ['greet', true],
      ['add', false],
    ]);
    expect(exitCode).toBe(1);
    expect(report.totals).toMatchObject({ iterations: 2 * runs, passed: runs });
    const launches = tap.launches.map(({ serverIds, runGroupId }) => ({ serverIds, runGroupId }));
    expect(launches.length % 2).toBe(0);
    expect(new Set(launches.map(({ serverIds }) => String(serverIds))).size).toBe(2);
    expect(new Set(launches.map(({ runGroupId }) => runGroupId)).size).toBe(1);
    expect(before.countCalls()).toEqual({ add: runs, greet: after.countCalls()['greet'] });
    expect(leftovers).toBeNull();
    expect((await service.project.get('/servers')).body.items).toEqual([]);
  });
});
