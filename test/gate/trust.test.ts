import { describe, expect, it } from 'vitest';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import type { GateInputs } from '../support/gate/gate-inputs.ts';
import { runCommand } from '../support/process/command.ts';
import { createWorkspace } from '../support/workspace.ts';

const evals = writeSayingCases('Says', ['old', 'new']);
const inputs = { 'history-path': 'history.jsonl', policy: { probation: 2 } };

describe('a gate with a probation of two gates', () => {
  it('is inconclusive at first, then counts what has passed twice, and shows the rest', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    const night = (says: string) => runEmbeddedGate(workspace, inputs, { says });
    expect(await night('old')).toMatchObject({
      exitCode: 3,
      report: {
        verdict: {
          reasons: [{ message: 'Every case that has results is on probation (2 cases), so none counts yet.' }],
        },
      },
    });
    expect((await night('old')).exitCode).toBe(3);
    const third = await night('old');
    expect(third).toMatchObject({ exitCode: 0, report: { totals: { cases: 1, passed: 1, failed: 0 } } });
    expect(third.report.cases).toMatchObject([
      { id: 'new', outcome: 'failed', probation: { passedGates: 0, neededGates: 2 } },
      { id: 'old', outcome: 'passed', probation: null },
    ]);
    expect(await workspace.read('mcp-eval-report/junit.xml')).toContain('on probation, passed in 0 of 2 gates');
    // A failure does not end the trust, neither tonight nor tomorrow.
    expect((await night('new')).exitCode).toBe(1);
    expect((await night('new')).exitCode).toBe(1);
    const judged = await runCommand(['judge', 'mcp-eval-report'], { cwd: workspace.path });
    expect(judged).toMatchObject({ exitCode: 1 });
  });

  it.each<[GateInputs, string]>([
    [
      { 'history-path': '' },
      'policy.probation: `probation` counts gates of the history; name its file with `history-path` (needs-history-path)',
    ],
    [{ policy: { probation: 101 } }, 'policy.probation: `probation` must be at most 100, not 101 (out-of-range)'],
  ])('refuses %j', async (changed, message) => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    await expect(runEmbeddedGate(workspace, { ...inputs, ...changed })).rejects.toThrow(message);
  });
});
