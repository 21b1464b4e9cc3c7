import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CancelledError } from '../../src/base/errors.ts';
import type { ContractService } from '../support/service/contract-service.ts';
import { type Behaviour, startFlakyServer, writeCallingCases } from '../support/servers/flaky-server.ts';
import type { GateInputs } from '../support/gate/gate-inputs.ts';
import { type HostedGateOptions, runHostedGate } from '../support/gate/hosted-gate.ts';
import { startServeProcess } from '../support/service/serve-process.ts';
import { openServiceTap, type ServiceTap } from '../support/service/service-tap.ts';

let service: ContractService;

beforeAll(async () => {
  service = await startServeProcess();
});

afterAll(() => service[Symbol.asyncDispose]());

async function runGate(
  tap: ServiceTap,
  scripts: Readonly<Record<string, readonly Behaviour[]>>,
  inputs: GateInputs,
  options: HostedGateOptions = {},
) {
  await using server = await startFlakyServer(scripts);
  const url = { 'server-url': server.url, evals: 'a.evals.yaml', 'suite-scope': 'shared' };
  const files = { 'a.evals.yaml': writeCallingCases(Object.keys(scripts)) };
  const result = await runHostedGate(tap.service, { ...url, ...inputs }, { files, ...options });
  return { ...result, calls: server.countCalls() };
}

const scripts = { steady: ['passes'], first: ['fails', 'passes'], broken: ['fails'] } as const;

describe('a hosted gate that runs again what failed', () => {
  it.each(['creates', 'finds'])('sends the ids of the cases in each round when it %s the suite', async () => {
    await using tap = await openServiceTap(service);
    const { report, exitCode, calls, leftovers } = await runGate(tap, scripts, {
      policy: { retryFailed: 2, flaky: 'pass' },
    });
    expect(exitCode).toBe(1);
    expect(calls).toEqual({ steady: 1, first: 2, broken: 3 });
    expect(Object.fromEntries(report.cases.map(({ id, classification }) => [id, classification]))).toEqual({
      steady: 'passed',
      first: 'flaky',
      broken: 'failed',
    });
    const { body } = await service.project.get(`/eval-suites/${report.run?.suiteId}/cases`);
    const titles = new Map<unknown, string>(
      body.items.map(({ id, title }: { id: string; title: string }) => [id, title]),
    );
    const nameCases = (ids: unknown) => (ids as string[] | undefined)?.map((id) => titles.get(id));
    expect(tap.launches.map(({ caseIds }) => nameCases(caseIds))).toEqual([
      undefined,
      ['Calls first', 'Calls broken'],
      ['Calls broken'],
    ]);
    expect(new Set(tap.launches.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
    expect(tap.launches.slice(1).map(({ tests }) => tests)).toEqual([undefined, undefined]);
    expect(tap.runIds).toEqual([report.run?.id, ...(report.suites[0]?.retries ?? []).map(({ run }) => run?.id)]);
    expect(report.suites[0]?.retries[0]?.run?.url).toContain(tap.runIds[1]);
    expect(leftovers).toBeNull();
  });

  it('does not mistake an earlier run for a new one', async () => {
    await using tap = await openServiceTap(service);
    const { report, log } = await runGate(
      tap,
      { ...scripts, steady: ['fails'] },
      { policy: { retryFailed: 2 } },
      { onProgress: ({ kind }) => void (kind === 'run-finished' && tap.replayLaunches()) },
    );
    expect(report.suites[0]?.retries).toMatchObject([
      { round: 1, shortfall: 'The service returned an earlier run instead of a new one.' },
    ]);
    expect(report.cases.map(({ classification, retries }) => [classification, retries])).toEqual([
      ['failed', []],
      ['failed', []],
      ['failed', []],
    ]);
    expect(log.at(-1)).toContain('round 1, of 3 failed cases, was not completed');
  });

  it('cancels a round that is under way when it is stopped, and keeps the first verdict', async () => {
    await using tap = await openServiceTap(service);
    const controller = new AbortController();
    let runs = 0;
    const { exitCode, report, leftovers } = await runGate(
      tap,
      { ...scripts, first: ['fails', 'hangs'] },
      { policy: { retryFailed: 2 } },
      {
        signal: controller.signal,
        onProgress: ({ kind }) => {
          if (kind === 'run-started') runs += 1;
          if (runs === 2) controller.abort(new CancelledError('Stopped by SIGTERM.', { signal: 'SIGTERM' }));
        },
      },
    );
    expect([exitCode, report.verdict.outcome, leftovers]).toEqual([143, 'failed', null]);
    expect(report.suites[0]?.retries).toMatchObject([{ round: 1, shortfall: 'Stopped by SIGTERM.' }]);
    expect(tap.requests.filter((request) => request.endsWith(`/eval-runs/${tap.runIds[1]}/cancel`))).toHaveLength(1);
    // The tunnel ends too, and the service may notice that first.
    const { body } = await service.project.get(`/eval-runs/${tap.runIds[1]}`);
    expect(['cancelled', 'failed']).toContain(body.status);
  });
});
