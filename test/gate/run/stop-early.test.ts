import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../../src/base/errors.ts';
import { planGate } from '../../../src/gate/plan/plan.ts';
import { runEmbeddedGate } from '../../support/gate/embedded-gate.ts';
import { type GateInputs, readGateInputs } from '../../support/gate/gate-inputs.ts';
import { type Behaviour, startFlakyServer, writeCallingCases } from '../../support/servers/flaky-server.ts';
import { createWorkspace } from '../../support/workspace.ts';

/** Runs a gate that stops early. A tool that hangs does so until its call is cancelled. */
async function runGate(
  scripts: Readonly<Record<string, readonly Behaviour[]>>,
  inputs: Record<string, string>,
  head = '',
) {
  await using server = await startFlakyServer(scripts);
  await using workspace = await createWorkspace({ 'a.evals.yaml': writeCallingCases(Object.keys(scripts), { head }) });
  const texts = {
    'server-command': '',
    'server-url': server.url,
    policy: { stopEarly: true },
    'history-path': 'h.jsonl',
  };
  const result = await runEmbeddedGate(workspace, { ...texts, ...inputs });
  const read = (file: string) => workspace.read(file).catch(() => null);
  return { ...result, history: await read('h.jsonl'), junit: await read('mcp-eval-report/junit.xml') };
}

const passes: readonly Behaviour[] = ['passes'];
const fails: readonly Behaviour[] = ['fails'];
const hangs: readonly Behaviour[] = ['hangs'];

describe('a gate that stops early', () => {
  it('stops a run that cannot pass any more, and says what its rate is', async () => {
    const { report, exitCode, infos, history, junit } = await runGate({ first: passes, bad: fails, slow: hangs }, {});
    expect([exitCode, report.verdict.outcome]).toEqual([1, 'failed']);
    expect(report.verdict.reasons).toMatchObject([
      {
        code: 'below-minimum',
        message: expect.stringMatching(/; stopped early, since 1 iteration outstanding could not/),
      },
    ]);
    const [suite] = report.suites;
    expect(suite).toMatchObject({
      stoppedEarly: { planned: 3, ran: 2 },
      totals: { passed: 1, failed: 1 },
      run: { status: 'cancelled' },
      repeats: null,
    });
    expect(report.cases.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['bad', 'failed'],
      ['slow', 'inconclusive'],
      ['first', 'passed'],
    ]);
    expect(infos).toContain('Flaky: the verdict is settled, whatever is outstanding; the run is stopped.');
    expect(history).toBeNull();
    expect(junit).toMatch(/<skipped message="0 of 1 passed, 1 without a result; the run was stopped early"\/>/);
  });

  it('stops a run that cannot fail any more', async () => {
    const scripts = { first: passes, second: passes, slow: hangs };
    const { report, exitCode } = await runGate(scripts, { 'min-pass-rate': '60%' });
    expect([exitCode, report.verdict.outcome]).toEqual([0, 'passed']);
    expect(report.suites[0]?.stoppedEarly).toEqual({ planned: 3, ran: 2 });
  });

  it('runs to the end while the verdict is open', async () => {
    const scripts = { bad: fails, first: passes };
    const { report, exitCode, history } = await runGate(scripts, { 'min-pass-rate': '50%' }, 'concurrency: 1\n');
    expect([exitCode, report.suites[0]?.stoppedEarly, report.suites[0]?.run?.status]).toEqual([0, null, 'completed']);
    expect(history?.trimEnd().split('\n')).toHaveLength(1);
  });

  it('stops each suite for itself', async () => {
    const { report } = await runGate(
      { bad: fails, slow: hangs },
      { tests: writeCallingCases(['bad']).replace('Flaky', 'Inline') },
    );
    expect(report.suites.map(({ stoppedEarly, verdict }) => [stoppedEarly?.ran ?? null, verdict.outcome])).toEqual([
      [1, 'failed'],
      [null, 'failed'],
    ]);
  });
});

describe('stopEarly', () => {
  const listIssues = async (inputs: GateInputs, head = ''): Promise<string[]> => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': writeCallingCases(['first'], { head }) });
    const texts = {
      evals: '*.evals.yaml',
      'server-url': 'http://127.0.0.1:9/mcp',
      policy: { stopEarly: true },
      ...inputs,
    };
    try {
      await planGate(readGateInputs(texts), { cwd: workspace.path, environment: {} });
      return [];
    } catch (error) {
      return error instanceof ConfigurationError
        ? error.issues.map(({ input, code, message }) => `${input}: ${code}: ${message}`)
        : [];
    }
  };
  const hosted = { service: 'svc', 'base-url': 'https://evals.example/api/v1', 'api-key': 'sk_1234567890' };

  it.each([
    [
      hosted,
      '',
      'policy.stopEarly: needs-embedded-service: `stopEarly` stops runs of the embedded service alone; leave it out with the service svc, or use `service: embedded`',
    ],
    [
      { shard: '1/1' },
      '',
      'policy.stopEarly: stop-early-and-shard: `stopEarly` judges a part, and the whole may need the rest; leave it out of shards',
    ],
    [
      { baseline: 'report.json' },
      '',
      'policy.stopEarly: stop-early-and-baseline: `stopEarly` leaves out iterations that would be compared with `baseline`; give one of the two',
    ],
    [
      {},
      'policy: { retryFailed: 1 }\n',
      'policy.stopEarly: stop-early-and-retries: `stopEarly` stops before everything has run, and Flaky runs failed cases again (`retryFailed`, from a.evals.yaml:2); leave out one of the two',
    ],
  ])('is refused with %j %s', async (inputs, head, issue) => {
    expect(await listIssues(inputs, head)).toEqual([issue]);
    expect(await listIssues({ ...inputs, policy: { stopEarly: false } }, head)).toEqual([]);
  });
});
