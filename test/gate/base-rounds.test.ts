import { describe, expect, it } from 'vitest';
import { listOutputs } from '../../src/action/outputs.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { type Behaviour, startFlakyServer, writeCallingCases } from '../support/servers/flaky-server.ts';
import { moodyServer } from '../support/servers/moody-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const names = Array.from({ length: 20 }, (_, index) => `tool-${index}`);
type Scripts = Record<string, readonly Behaviour[]>;
const scriptAll = (others: Scripts = {}): Scripts => ({
  ...Object.fromEntries(names.map((name) => [name, ['passes'] as const])),
  ...others,
});

async function compare(
  { base = scriptAll(), head = scriptAll() }: { base?: Scripts; head?: Scripts },
  { policy = 'minimumPassRate: 50%\n', evals = writeCallingCases(names, { runs: 1 }) } = {},
) {
  await using workspace = await createWorkspace({ 'x.evals.yaml': evals, 'policy.yaml': policy });
  await using before = await startFlakyServer(base);
  await using after = await startFlakyServer(head);
  return await runEmbeddedGate(workspace, {
    'server-command': '',
    'server-url': after.url,
    base: `url=${before.url}\nseed=7`,
    policy: 'policy.yaml',
  });
}

const noFiles = { reportPath: null, junitPath: null, htmlPath: null, ctrfPath: null, badgePath: null };
const lenient = 'minimumPassRate: 50%\nmaximumRegressions: 5\nmaximumRateDrop: 10%\n';

describe('the rounds of a comparison', () => {
  it('leave the rate as it is where they only confirm', async () => {
    const { report, exitCode } = await compare({ head: scriptAll({ 'tool-3': ['fails'] }) }, { policy: lenient });
    expect(report.baseComparison?.cases.filter(({ isWorse }) => isWorse).map(({ id }) => id)).toEqual(['tool-3']);
    expect(report.baseComparison?.rates).toMatchObject([
      { baseline: { passed: 20, total: 20 }, current: { passed: 19, total: 20 } },
    ]);
    expect(exitCode).toBe(0);
  });

  it('fail a suite whose rate fell in the rounds that were asked for', async () => {
    const broken = Object.fromEntries(names.slice(0, 6).map((name) => [name, ['fails'] as const]));
    const evals = writeCallingCases(names.slice(0, 10), { runs: 14 });
    const policy = lenient.replace('50%', '10%').replace('Regressions: 5', 'Regressions: 20');
    const { report, exitCode } = await compare({ head: scriptAll(broken) }, { policy, evals });
    expect(report.baseComparison?.rates[0]).toMatchObject({ isWorse: true });
    expect(exitCode).toBe(1);
  });

  it('count the cases that regressed against the base in the output `regressions`', async () => {
    const { report } = await compare({ head: scriptAll({ 'tool-3': ['fails'], 'tool-4': ['fails'] }) });
    const read = (name: string) => listOutputs(report, noFiles).find((output) => output.name === name)?.value;
    expect(read('regressions')).toBe('2');
  });

  it('say that they assume no lasting state where the gate did not start the servers', async () => {
    const { report } = await compare({});
    expect(report.baseComparison?.processes).toBe('several-rounds');
    expect(renderSummary(report)).toContain('assumes that they share no state');
  });
});

describe('a setup that fails on the base alone', () => {
  const evals = `suite: x
cases:
  - title: Reads
    id: reads
    setup:
      - toolCall: tool-0
    steps:
      - toolCall: tool-1
`;

  it('leaves the verdict open, since the case was not compared', async () => {
    const { report, exitCode } = await compare({ base: scriptAll({ 'tool-0': ['fails'] }) }, { evals });
    expect(report.verdict.reasons).toMatchObject([{ code: 'base-not-compared', caseId: 'reads' }]);
    expect(exitCode).toBe(3);
  });

  it('is no problem where it works on both sides', async () => {
    const { exitCode } = await compare({}, { evals });
    expect(exitCode).toBe(0);
  });
});

describe('a process that iterations share', () => {
  const titles = [0, 1];
  const evals = `suite: x\nruns: 3\ncases:\n${titles
    .map((n) => `  - title: Asks ${n}\n    steps: [{ toolCall: ask }, { assert: { toolResultContains: good } }]\n`)
    .join('')}`;
  const run = async (broken: string) => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals, 'server.mjs': moodyServer });
    const command = (log: string, numbers: string) => `${process.execPath} server.mjs ${log} ${numbers}`;
    return await runEmbeddedGate(workspace, {
      'server-command': command('head.log', broken),
      'base-server-command': command('base.log', ''),
      base: 'seed=7',
      isolation: 'run',
      'min-pass-rate': '10%',
    });
  };

  it('serves one round, so that one bad start of an unchanged server fails no gate', async () => {
    const { report, exitCode } = await run('1');
    expect(report.baseComparison?.processes).toBe('round');
    expect(report.totals.failed).toBe(2);
    expect(exitCode).toBe(0);
  });

  it('fails a change whose every start is bad', async () => {
    const { report, exitCode } = await run(Array.from({ length: 60 }, (_, index) => index + 1).join(' '));
    expect(report.baseComparison?.cases.filter(({ isWorse }) => isWorse).length).toBeGreaterThan(0);
    expect(exitCode).toBe(1);
  });

  it('serves no iteration that confirms a regression since a baseline, where it served the failure', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals, 'server.mjs': moodyServer });
    const gate = async (log: string, broken: string, inputs: Record<string, string>) =>
      await runEmbeddedGate(workspace, {
        'server-command': `${process.execPath} server.mjs ${log} ${broken}`,
        isolation: 'run',
        'min-pass-rate': '0%',
        ...inputs,
      });
    await gate('then.log', '', { 'report-dir': 'then' });
    const once = await gate('once.log', '1', { baseline: 'then' });
    expect(once.report.totals).toMatchObject({ passed: 0, failed: 6 });
    expect(once.report.comparison?.cases.map(({ confirming }) => confirming)).toEqual(
      titles.map(() => ({ passed: 1, total: 1 })),
    );
    expect(once.exitCode).toBe(0);
    const always = await gate('always.log', '1 2 3 4 5 6', { baseline: 'then' });
    expect(always.report.comparison?.counts.regressed).toBe(2);
    expect(always.exitCode).toBe(1);
  });
});
