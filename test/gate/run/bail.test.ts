import { describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../../support/gate/embedded-gate.ts';
import type { GateInputs } from '../../support/gate/gate-inputs.ts';
import { type Behaviour, startFlakyServer, writeCallingCases } from '../../support/servers/flaky-server.ts';
import { createWorkspace } from '../../support/workspace.ts';

const passes: readonly Behaviour[] = ['passes'];
const fails: readonly Behaviour[] = ['fails'];

async function runGate(names: Readonly<Record<string, readonly Behaviour[]>>, inputs: GateInputs) {
  await using server = await startFlakyServer(names);
  await using workspace = await createWorkspace({
    'a.evals.yaml': writeCallingCases(Object.keys(names), { head: 'concurrency: 1\n' }),
    'b.evals.yaml': writeCallingCases(['last'], { head: 'concurrency: 1\n' }).replace('Flaky', 'Later'),
  });
  const texts = { 'server-command': '', 'server-url': server.url, evals: 'a.evals.yaml\nb.evals.yaml' };
  return await runEmbeddedGate(workspace, { ...texts, ...inputs });
}

const outcomes = ({ report }: Awaited<ReturnType<typeof runGate>>) =>
  report.cases.map(({ passed, failed }) => `${passed} ${failed}`);

describe('a gate that stops at the first failure', () => {
  const scripts = { first: passes, bad: fails, next: passes, last: passes };

  it('runs nothing after it, in no suite, and fails although its minimum tolerates the failure', async () => {
    const result = await runGate(scripts, { bail: 'true', 'min-pass-rate': '10%' });
    const { report, exitCode } = result;
    expect([exitCode, report.verdict.outcome]).toEqual([1, 'failed']);
    expect(report.verdict.reasons[0]).toMatchObject({
      code: 'first-failure',
      message: expect.stringContaining('(bail); the rest did not run.'),
    });
    expect(report.suites.map(({ verdict }) => verdict.outcome)).toEqual(['failed', 'inconclusive']);
    expect(outcomes(result).toSorted()).toEqual(['0 0', '0 0', '0 0', '0 1', '1 0']);
    expect(report.cases.filter(({ total }) => total === 0).flatMap(({ failures }) => failures)).toEqual([]);
  });

  it('runs everything without the option, or if no case that counts fails', async () => {
    const all = await runGate(scripts, { 'min-pass-rate': '10%' });
    expect([all.exitCode, all.report.totals.iterations]).toEqual([0, 5]);
    const quarantine = [{ suite: 'Flaky', case: 'bad', owner: 'team', reason: 'flaky', expires: '2099-01-01' }];
    const exempt = await runGate(scripts, { bail: 'true', policy: { quarantine } });
    expect([exempt.exitCode, exempt.report.cases.filter(({ total }) => total === 0)]).toEqual([0, []]);
  });
});
