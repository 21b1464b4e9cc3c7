import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../src/base/redaction.ts';
import { rejudgeReport } from '../../../src/gate/judge/rejudge.ts';
import { planGate } from '../../../src/gate/plan/plan.ts';
import { readReport } from '../../../src/gate/plan/read-report.ts';
import { announceGate } from '../../../src/gate/publish/announce-gate.ts';
import type { FallbackReport } from '../../../src/supervisor/supervisor-messages.ts';
import { readGateInputs } from '../../support/gate/gate-inputs.ts';
import { createWorkspace, greenEvals } from '../../support/workspace.ts';

describe('the report of a gate that comes to no end', () => {
  it.each([
    ['fail', 3],
    ['pass', 0],
  ] as const)('is one that `judge` accepts, with onNothingRun: %s', async (onNothingRun, exitCode) => {
    await using workspace = await createWorkspace({ 'a.yaml': greenEvals });
    const options = readGateInputs({ 'server-command': 'node server.js', evals: 'a.yaml', policy: { onNothingRun } });
    const plan = await planGate(options, { cwd: workspace.path, environment: {} });
    const announced: FallbackReport[] = [];
    const supervision = {
      signals: { on: () => {} },
      marker: 'marker',
      planned: (_dueInMs: number, fallback: FallbackReport) => void announced.push(fallback),
      judged: () => {},
      done: async (code: number) => code,
    };
    const context = { startedAt: new Date('2026-09-21T12:00:00Z'), redactor: createRedactor(), summaryPath: null };
    await announceGate(plan, supervision, context);
    const text = announced[0]?.files.find(({ path }) => path.endsWith('report.json'))?.text ?? '';
    await writeFile(`${workspace.path}/report.json`, text);
    const read = await readReport(workspace.path);
    if (read.kind !== 'report') throw new Error(JSON.stringify(read));
    expect(read.report).toMatchObject({ stopsJob: true, verdict: { outcome: 'inconclusive' } });
    const { report, exit } = rejudgeReport(read.report, { minimumPassRate: 0, baseline: null, policy: null });
    expect([report.verdict.outcome, exit.exitCode]).toEqual(['inconclusive', exitCode]);
  });
});
