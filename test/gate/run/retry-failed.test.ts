import { describe, expect, it } from 'vitest';
import type { FlakyEffect } from '../../../src/model/policy.ts';
import type { Report } from '../../../src/model/report.ts';
import { runEmbeddedGate, writeSayingCases } from '../../support/gate/embedded-gate.ts';
import { type Behaviour, startFlakyServer, writeCallingCases } from '../../support/servers/flaky-server.ts';
import type { GateInputs } from '../../support/gate/gate-inputs.ts';
import { plainServerCommand } from '../../support/servers/bundled-servers.ts';
import { createWorkspace } from '../../support/workspace.ts';

/** Runs a gate against a server with these behaviours of its tools, with one case for each tool. */
async function runGate(
  scripts: Readonly<Record<string, readonly Behaviour[]>>,
  inputs: GateInputs,
  { head = '', runs = 1, files = {} }: { head?: string; runs?: number; files?: Record<string, string> } = {},
) {
  await using server = await startFlakyServer(scripts);
  const evals = writeCallingCases(Object.keys(scripts), { head, runs });
  await using workspace = await createWorkspace({ 'a.evals.yaml': evals, ...files });
  const url = { 'server-command': '', 'server-url': server.url };
  const result = await runEmbeddedGate(workspace, { ...url, ...inputs });
  const log = inputs['report-formats'] === 'iterations' ? await workspace.read('mcp-eval-report/iterations.jsonl') : '';
  const junit = await workspace.read('mcp-eval-report/junit.xml');
  return { ...result, calls: server.countCalls(), log, junit };
}

const listCases = ({ cases }: Report) =>
  Object.fromEntries(cases.map(({ id, classification, retries }) => [id, [classification, retries]]));

const missed = { passed: 0, total: 1 };
const held = { passed: 1, total: 1 };

describe('a gate that runs again what failed', () => {
  const scripts = {
    steady: ['passes'],
    first: ['fails', 'passes'],
    second: ['fails', 'fails', 'passes'],
    broken: ['fails'],
  } as const;

  it('runs in each round only what still fails, and says what is flaky', async () => {
    const { report, exitCode, calls } = await runGate(scripts, { policy: { retryFailed: 2 } });
    expect(calls).toEqual({ steady: 1, first: 2, second: 3, broken: 3 });
    expect(listCases(report)).toEqual({
      steady: ['passed', []],
      first: ['flaky', [held]],
      second: ['flaky', [missed, held]],
      broken: ['failed', [missed, missed]],
    });
    expect([exitCode, report.totals]).toMatchObject([1, { passed: 1, failed: 3 }]);
    const [suite] = report.suites;
    expect(suite?.retries).toMatchObject([
      { round: 1, cases: 3, shortfall: null },
      { round: 2, cases: 2, shortfall: null },
    ]);
    const runIds = [suite?.run?.id, ...(suite?.retries ?? []).map(({ run }) => run?.id)];
    expect(new Set(runIds).size).toBe(3);
  });

  it('stops when nothing fails any more', async () => {
    const { report, calls } = await runGate({ first: ['fails', 'passes'] }, { policy: { retryFailed: 5 } });
    expect(calls).toEqual({ first: 2 });
    expect(report.suites[0]?.retries).toHaveLength(1);
  });

  it('runs nothing again unless asked to', async () => {
    const { report, calls } = await runGate(scripts, {});
    expect(calls).toEqual({ steady: 1, first: 1, second: 1, broken: 1 });
    expect(listCases(report)['first']).toEqual(['failed', []]);
  });

  it('runs all iterations of a case again, and takes it for flaky only where all of them pass', async () => {
    const repeated = {
      mostly: ['fails', 'passes'],
      seldom: ['fails', 'fails', 'fails', 'passes', 'fails'],
    } as const;
    const { report, calls } = await runGate(repeated, { policy: { retryFailed: 1, flaky: 'pass' } }, { runs: 3 });
    expect(calls).toEqual({ mostly: 6, seldom: 6 });
    expect(listCases(report)).toEqual({
      mostly: ['flaky', [{ passed: 3, total: 3 }]],
      seldom: ['failed', [{ passed: 1, total: 3 }]],
    });
    expect(report.totals).toMatchObject({ passed: 3, failed: 3 });
    expect(report.suites[0]?.repeats).toMatchObject({ k: 3, cases: 2, passAtK: 0.5, passHatK: 0 });
  });
});

describe('a gate with a flaky case', () => {
  const scripts = { steady: ['passes'], first: ['fails', 'passes'] } as const;

  it.each<[FlakyEffect, number, object, string]>([
    ['fail', 1, { passed: 1, failed: 1 }, '<failure '],
    ['pass', 0, { passed: 2, failed: 0 }, '<flakyFailure '],
    ['report', 0, { passed: 1, failed: 0 }, '<skipped '],
  ])('lets it count by policy: %s', async (flaky, exitCode, totals, element) => {
    const gate = await runGate(scripts, { policy: { retryFailed: 1, flaky } });
    expect(gate.exitCode).toBe(exitCode);
    expect(gate.report.totals).toMatchObject(totals);
    expect(gate.report.cases.find(({ id }) => id === 'first')).toMatchObject({
      outcome: 'failed',
      failed: 1,
      flaky: { effect: flaky, source: 'policy.flaky' },
    });
    expect(gate.junit).toContain(element);
  });

  it('takes rounds and effect from the evals file, and from a policy file before that', async () => {
    const head = 'policy: { retryFailed: 1, flaky: pass }\n';
    const own = await runGate(scripts, {}, { head });
    expect([own.exitCode, own.calls]).toEqual([0, { steady: 1, first: 2 }]);
    expect(own.report.cases.find(({ id }) => id === 'first')?.flaky?.source).toBe('a.evals.yaml:2');
    const files = { 'p.yaml': 'flaky: fail\n' };
    const policed = await runGate(scripts, { policy: 'p.yaml' }, { head, files });
    expect([policed.exitCode, policed.calls]).toEqual([1, { steady: 1, first: 2 }]);
  });

  it('lets no flaky case hide one that is broken', async () => {
    const both = { ...scripts, broken: ['fails'] } as const;
    const { exitCode, report } = await runGate(both, { policy: { retryFailed: 2, flaky: 'pass' } });
    expect([exitCode, report.verdict.outcome]).toEqual([1, 'failed']);
  });

  it('does not run again what is in quarantine', async () => {
    const head = `policy:
  quarantine: [{ case: first, owner: '@alice', reason: Fails at times., expires: 2999-12-31 }]
`;
    const { exitCode, calls } = await runGate(scripts, { policy: { retryFailed: 2 } }, { head });
    expect([exitCode, calls]).toEqual([0, { steady: 1, first: 1 }]);
  });

  it('says in iterations.jsonl in which round an iteration ran', async () => {
    const { log } = await runGate(scripts, { policy: { retryFailed: 1 }, 'report-formats': 'iterations' });
    const lines = log
      .trimEnd()
      .split('\n')
      .map((line): Record<string, unknown> => JSON.parse(line));
    expect(lines.map(({ title, retry, result }) => [title, retry, result])).toEqual([
      ['Calls steady', undefined, 'passed'],
      ['Calls first', undefined, 'failed'],
      ['Calls first', 1, 'passed'],
    ]);
  });
});

describe('a round that cannot be completed', () => {
  it('leaves the verdict as it was, says so, and takes none from the suites after it', async () => {
    const scripts = { first: ['fails', 'breaks', 'passes'], steady: ['passes'] } as const;
    const files = { 'b.evals.yaml': writeCallingCases(['steady']).replace('Flaky', 'Steady') };
    const { report, exitCode, warnings } = await runGate(
      scripts,
      { policy: { retryFailed: 3, flaky: 'pass' } },
      { files },
    );
    expect([exitCode, report.suites.map(({ verdict }) => verdict.outcome)]).toEqual([1, ['failed', 'passed']]);
    expect(listCases(report)['first']).toEqual(['failed', []]);
    const [retry, ...others] = report.suites[0]?.retries ?? [];
    expect(others).toEqual([]);
    expect(retry?.shortfall).toBe('No iteration was scored, so nothing was shown.');
    expect(warnings).toEqual([
      `Flaky: round 1, of 1 failed case, was not completed and counts for nothing: ${retry?.shortfall}`,
    ]);
  });

  it('ends with its own budget of time, and leaves that of the suites after it alone', async () => {
    const scripts = { first: ['fails', 'hangs'], other: ['fails', 'passes'] } as const;
    const budget = 'policy: { retryFailed: 1, budgets: { wallTime: 3s } }\n';
    const files = {
      'a.evals.yaml': writeCallingCases(['first'], { head: budget }),
      'b.evals.yaml': writeCallingCases(['other'], { head: budget }).replace('Flaky', 'Other'),
    };
    const { report } = await runGate(scripts, {}, { files });
    expect(report.suites.map(({ retries }) => retries[0]?.shortfall ?? null)).toEqual([
      expect.stringMatching(/^The run was cancelled after 3 s, its budget wallTime \(from a.evals.yaml:2\)\./),
      null,
    ]);
    expect(listCases(report)).toEqual({ first: ['failed', []], other: ['flaky', [held]] });
    expect(report.suites.map(({ verdict }) => verdict.reasons.map(({ code }) => code))).toEqual([
      ['below-minimum'],
      ['below-minimum'],
    ]);
  });

  it('keeps the findings of earlier rounds', async () => {
    const scripts = { first: ['fails', 'passes'], second: ['fails', 'fails', 'breaks'] } as const;
    const { report } = await runGate(scripts, { policy: { retryFailed: 2 } });
    expect(listCases(report)).toEqual({ first: ['flaky', [held]], second: ['failed', [missed]] });
    expect(report.suites[0]?.retries.map(({ shortfall }) => shortfall === null)).toEqual([true, false]);
  });

  it('does not start if the first round was inconclusive', async () => {
    const { report, exitCode } = await runGate({ lost: ['breaks'] }, { policy: { retryFailed: 2 } });
    expect([exitCode, report.suites[0]?.retries]).toEqual([3, []]);
  });

  it('starts if the failures decide the verdict although a result is missing', async () => {
    const scripts = { first: ['fails', 'passes'], lost: ['breaks'] } as const;
    const { report, exitCode } = await runGate(scripts, { policy: { retryFailed: 2 } });
    expect([exitCode, listCases(report)['first']]).toEqual([1, ['flaky', [held]]]);
  });
});

describe('a gate that starts its server', () => {
  const runStdio = async (isolation: string, evals: string) => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': evals });
    const inputs = { 'server-command': plainServerCommand, policy: { retryFailed: 2 }, isolation };
    return await runEmbeddedGate(workspace, inputs);
  };

  it('has sessions left for what is run again, with a process for each', async () => {
    const { report } = await runStdio('iteration', writeSayingCases('Says', ['one', 'two', 'three']));
    expect(listCases(report)).toEqual({
      one: ['failed', [missed, missed]],
      two: ['failed', [missed, missed]],
      three: ['failed', [missed, missed]],
    });
  });

  it('finds what depends on the state of a server that serves all rounds', async () => {
    const counts = `suite: Counts
cases:
  - id: second
    title: Is the second call
    steps:
      - toolCall: count
      - assert: { toolResultEquals: 2 }
`;
    const { report, exitCode } = await runStdio('run', counts);
    expect([exitCode, listCases(report)]).toEqual([1, { second: ['flaky', [held]] }]);
  });
});
