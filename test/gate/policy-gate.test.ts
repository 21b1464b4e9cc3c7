import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createRedactor } from '../../src/base/redaction.ts';
import { gate } from '../../src/gate/gate.ts';
import type { PolicyInput } from '../../src/index.ts';
import { planGate } from '../../src/gate/plan/plan.ts';
import { type GateInputs, readGateInputs } from '../support/gate/gate-inputs.ts';
import { startSumsServer } from '../support/servers/sums-server.ts';
import { createWorkspace, redEvals } from '../support/workspace.ts';

async function run(inputs: GateInputs, files: Record<string, string>, now = () => systemClock.now()) {
  await using workspace = await createWorkspace({ 'a.yaml': redEvals, ...files });
  await using server = 'server-command' in inputs ? null : await startSumsServer();
  const texts = { ...(server && { 'server-url': server.url }), evals: 'a.yaml', ...inputs };
  const environment = process.env;
  const plan = await planGate(readGateInputs(texts), { cwd: workspace.path, environment });
  const warnings: string[] = [];
  const result = await gate(plan, {
    clock: { ...systemClock, now },
    logger: { ...silentLogger, warning: (text) => void warnings.push(text) },
    redactor: createRedactor(),
    signal: new AbortController().signal,
    environment,
  });
  return { ...result, warnings };
}

const quarantine = `quarantine:
  - { suite: everything, case: echo, owner: '@alice', reason: Says goodbye., expires: 2026-09-21 }
`;

describe('a gate with a policy', () => {
  it('shows a failed verdict and ends with 0 where it only reports', async () => {
    const { report, exitCode } = await run({ policy: { reportOnly: true } }, {});
    expect([report.verdict.outcome, report.stopsJob, exitCode]).toEqual(['failed', false, 0]);
    expect(report.notes).toEqual([
      'Everything failed and is only reported (reportOnly, from policy.reportOnly), so that the job goes on.',
    ]);
  });

  it("excludes a case in quarantine until its last day ends by the gate's clock", async () => {
    const at = (day: string) => () => Date.parse(day);
    const files = { 'p.yaml': quarantine };
    const held = await run({ policy: 'p.yaml' }, files, at('2026-09-21T23:59:59Z'));
    expect(held).toMatchObject({ exitCode: 0, report: { verdict: { outcome: 'passed' }, totals: { cases: 2 } } });
    expect(held.report.cases.find(({ id }) => id === 'echo')).toMatchObject({
      outcome: 'failed',
      quarantine: { owner: '@alice', expires: '2026-09-21', source: 'p.yaml:2' },
    });
    const over = await run({ policy: 'p.yaml' }, files, at('2026-09-22T00:00:00Z'));
    expect(over).toMatchObject({ exitCode: 1, report: { verdict: { outcome: 'failed' } } });
    expect(over.warnings).toEqual([over.report.suites[0]?.requirements.at(-1)?.finding]);
    expect(over.report.suites[0]?.requirements.at(-1)).toMatchObject({ kind: 'quarantine', state: 'not-met' });
  });

  it('cancels a run that outlasts its budget of wall time, and says what was spent', async () => {
    const slow = `suite: Slow
policy: { budgets: { wallTime: 1500ms } }
cases:
  - title: Echoes
    steps: [{ toolCall: echo, arguments: { message: hello } }]
  - title: Waits
    steps: [{ toolCall: trigger-long-running-operation, arguments: { duration: 50, steps: 5 } }]
`;
    const { report, exitCode } = await run({}, { 'a.yaml': slow });
    expect([report.verdict.outcome, exitCode]).toEqual(['inconclusive', 3]);
    expect(report.verdict.reasons[0]).toMatchObject({ code: 'budget-exceeded', suiteId: 'slow' });
    expect(report.verdict.reasons[0]?.message).toMatch(
      /^The run was cancelled after 1.5 s, its budget wallTime \(from a.yaml:2\)\. Spent by then: \d iterations?, 0 tokens\.$/,
    );
  });

  it('holds each case of an upstream suite file to its own threshold', async () => {
    const write = (threshold: number) => `schemaVersion: "1"
mode: agentWorkflow
suite: { id: s_demo, name: Demo }
target: { servers: [{ name: everything }] }
defaults: { repetitions: 2, validity: {}, passThreshold: 0.5 }
cases:
  - id: c_echo
    title: Echoes
    steps: [{ id: s1, kind: toolCall, serverName: everything, toolName: echo, arguments: { message: hello } }]
  - id: c_missing
    title: Calls a tool that is gone
    passThreshold: ${threshold}
    steps: [{ id: s1, kind: toolCall, serverName: everything, toolName: gone, arguments: {} }]
`;
    const tolerant = await run({}, { 'a.yaml': write(0) });
    expect([tolerant.report.verdict.outcome, tolerant.exitCode]).toEqual(['passed', 0]);
    const strict = await run({}, { 'a.yaml': write(0.5) });
    expect([strict.report.verdict.outcome, strict.exitCode]).toEqual(['failed', 1]);
    expect(strict.report.verdict.reasons.map(({ message }) => message)).toMatchInlineSnapshot(`
      [
        "Of the case "Calls a tool that is gone", 0 of 2 iterations passed (0%), the minimum is 50% (from a.yaml:12)",
      ]
    `);
    const missing = strict.report.cases.find(({ id }) => id === 'c_missing');
    expect(missing?.failures[0]?.reasons).toEqual([expect.stringMatching(/^The server lists no tool "gone"; /)]);
  });

  it('lets an inconclusive verdict pass with a warning', async () => {
    const inputs = { policy: { onInconclusive: 'warn', confidence: '95%' }, 'min-pass-rate': '60%' } as const;
    const { report, exitCode, warnings } = await run(inputs, {});
    expect([report.verdict.outcome, exitCode]).toEqual(['inconclusive', 0]);
    expect(report.verdict.reasons[0]?.code).toBe('minimum-unsettled');
    expect(warnings).toEqual(report.notes);
  });

  const neverStarts = { 'server-command': 'no-such-program-anywhere' };

  it.each<[PolicyInput, number]>([
    [{ onInconclusive: 'warn' }, 3],
    [{ onInconclusive: 'pass', onNothingRun: 'fail' }, 3],
    [{ onNothingRun: 'warn' }, 0],
    [{ onNothingRun: 'pass' }, 0],
  ])('ends for a server that does not start, with %j, with exit code %i', async (policy, expected) => {
    const { report, exitCode, warnings } = await run({ ...neverStarts, policy }, {});
    expect([report.verdict.outcome, report.verdict.reasons[0]?.code]).toEqual(['inconclusive', 'server-lost']);
    expect([exitCode, report.stopsJob]).toEqual([expected, expected === 3]);
    const isWarned = Object.values(policy).includes('warn') && expected === 0;
    expect(warnings).toEqual(
      isWarned
        ? [
            'Everything has no verdict, because results are missing; the job goes on all the same (onNothingRun: warn, from policy.onNothingRun).',
          ]
        : [],
    );
  });
});
