import { describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../../support/gate/embedded-gate.ts';
import type { GateInputs } from '../../support/gate/gate-inputs.ts';
import { type Behaviour, startFlakyServer, writeCallingCases } from '../../support/servers/flaky-server.ts';
import { createWorkspace } from '../../support/workspace.ts';

type Scripts = Readonly<Record<string, readonly Behaviour[]>>;

/** Runs a gate with one case for each tool of a server that answers by its scripts. */
async function runGate(scripts: Scripts, { head, evals }: { head: string; evals?: string }, inputs: GateInputs = {}) {
  await using server = await startFlakyServer(scripts);
  const written = evals ?? writeCallingCases(Object.keys(scripts), { head, runs: null });
  await using workspace = await createWorkspace({ 'a.evals.yaml': written });
  const url = { 'server-command': '', 'server-url': server.url };
  const result = await runEmbeddedGate(workspace, { ...url, ...inputs });
  return { ...result, calls: server.countCalls() };
}

const names = ['a', 'b', 'c', 'd', 'e'];
const behaveAll = (...script: Behaviour[]): Scripts => Object.fromEntries(names.map((name) => [name, script]));
const writeHead = (minimum: string, runs = '{ min: 2, max: 8 }', rules = '') =>
  `runs: ${runs}\npolicy: { minimumPassRate: ${minimum}, confidence: 95%${rules} }\n`;

describe('a gate with a range of runs', () => {
  it('passes as soon as a round decides the minimum', async () => {
    const { report, exitCode, calls } = await runGate(behaveAll('passes'), { head: writeHead('60%') });
    expect(exitCode).toBe(0);
    const [suite] = report.suites;
    expect(suite?.demands[0]).toMatchObject({ state: 'met' });
    expect(suite?.rounds).toMatchObject({ min: 2, max: 8, ran: 2, iterations: 10 });
    expect(suite?.rounds?.requirements[0]).toMatchObject({ scope: 'suite', state: 'passed', decidedAfter: 2 });
    expect(calls).toEqual({ a: 2, b: 2, c: 2, d: 2, e: 2 });
  });

  it('fails as soon as a round decides the minimum', async () => {
    const { report, exitCode, calls } = await runGate(behaveAll('passes', 'fails'), { head: writeHead('80%') });
    expect(exitCode).toBe(1);
    const own = report.suites[0]?.rounds?.requirements[0];
    expect(own).toMatchObject({ state: 'failed' });
    expect(own?.decidedAfter).toBe(calls['a']);
    expect(own?.path.map(({ passed, failed }) => passed + failed)).toEqual(own?.path.map(({ round }) => round * 5));
    expect(report.cases[0]?.failures.map(({ iterationNumber }) => iterationNumber)).toContain(2);
  });

  it('is inconclusive at the largest number of runs, with the iterations that would probably settle it', async () => {
    const script: Behaviour[] = ['passes', 'fails', 'passes', 'fails'];
    const { report, exitCode, calls } = await runGate(behaveAll(...script), {
      head: writeHead('50%', '{ min: 1, max: 4 }'),
    });
    expect(exitCode).toBe(3);
    expect(report.verdict).toMatchObject({ outcome: 'inconclusive', reasons: [{ code: 'minimum-unsettled' }] });
    expect(report.verdict.reasons[0]?.message).toContain('open after 4 of at most 4 rounds');
    expect(calls).toEqual({ a: 4, b: 4, c: 4, d: 4, e: 4 });
    const lenient = await runGate(behaveAll(...script), {
      head: writeHead('50%', '{ min: 1, max: 2 }', ', onInconclusive: warn'),
    });
    expect([lenient.exitCode, lenient.report.verdict.outcome]).toEqual([0, 'inconclusive']);
  });
});
