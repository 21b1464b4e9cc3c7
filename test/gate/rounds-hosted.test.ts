import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContractService } from '../support/service/contract-service.ts';
import { startFlakyServer, writeCallingCases } from '../support/servers/flaky-server.ts';
import { runHostedGate } from '../support/gate/hosted-gate.ts';
import { startServeProcess } from '../support/service/serve-process.ts';
import { openServiceTap } from '../support/service/service-tap.ts';

let service: ContractService;

beforeAll(async () => {
  service = await startServeProcess();
});

afterAll(() => service[Symbol.asyncDispose]());

describe('a hosted gate with a range of runs', () => {
  it('starts one run for each block of rounds, with the cases that are open', async () => {
    await using tap = await openServiceTap(service);
    const scripts = { a: ['passes'], b: ['passes'], c: ['passes'] } as const;
    await using server = await startFlakyServer(scripts);
    const head = 'runs: { min: 5, max: 9 }\npolicy: { minimumPassRate: 30%, confidence: 95%, cases: { a: 55% } }\n';
    const files = { 'a.evals.yaml': writeCallingCases(Object.keys(scripts), { head, runs: null }) };
    const inputs = { 'server-url': server.url, evals: 'a.evals.yaml', 'suite-scope': 'shared' };
    const { report, exitCode, leftovers } = await runHostedGate(tap.service, inputs, { files });
    expect(exitCode).toBe(0);
    const [own, single] = report.suites[0]?.rounds?.requirements ?? [];
    expect([own?.state, single?.state]).toEqual(['passed', 'passed']);
    expect(server.countCalls()).toEqual({ a: single?.decidedAfter, b: own?.decidedAfter, c: own?.decidedAfter });
    const [first, ...further] = tap.launches;
    expect([first?.['caseIds'], first?.['iterationOverride']]).toEqual([undefined, undefined]);
    expect(further.map(({ tests }) => tests)).toEqual(further.map(() => undefined));
    expect(further.at(-1)?.['caseIds']).toHaveLength(1);
    const rounds = further.reduce((sum, { iterationOverride }) => sum + Number(iterationOverride), 5);
    expect(rounds).toBe(single?.decidedAfter);
    expect(report.results[0]?.rounds?.runs.map(({ id }) => id)).toEqual(tap.runIds);
    expect(leftovers).toBeNull();
  });
});
