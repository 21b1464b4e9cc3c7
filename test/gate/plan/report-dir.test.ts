import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planReportDir } from '../../../src/gate/plan/report-dir.ts';
import { publishFiles } from '../../../src/gate/publish/publish-files.ts';
import { createFindings } from '../../../src/base/findings.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createRedactor } from '../../../src/base/redaction.ts';
import { createRedReport, createReport } from '../../support/factories/report-factory.ts';
import { createWorkspace } from '../../support/workspace.ts';

describe('the report directory of a step', () => {
  it('differs from that of an earlier step of the job, whose reports stay', async () => {
    await using workspace = await createWorkspace({ 'temp/keep': '' });
    const environment = { RUNNER_TEMP: join(workspace.path, 'temp') };
    const step = async (label: string, report = createReport()) => {
      const findings = createFindings();
      const reportDir = await planReportDir(label, { cwd: workspace.path, environment }, findings);
      const target = { reportDir, reportFormats: [], summary: false, history: null, page: null };
      const context = { logger: silentLogger, redactor: createRedactor(), summaryPath: null, evidence: null };
      const { reportPath } = await publishFiles(report, target, context);
      return { reportPath, notes: findings.notes };
    };
    expect(await step('reports', createRedReport())).toEqual({ reportPath: 'reports/report.json', notes: [] });
    expect(await step('reports/')).toEqual({
      reportPath: 'reports-2/report.json',
      notes: [
        'An earlier step of this job wrote its reports to reports/, so this step writes to reports-2. Give each step its own `report-dir`.',
      ],
    });
    expect((await step('./reports')).reportPath).toBe('reports-3/report.json');
    expect((await step('others')).notes).toEqual([]);
    const outcome = async (file: string) => JSON.parse(await workspace.read(file)).verdict.outcome;
    expect([await outcome('reports/report.json'), await outcome('reports-2/report.json')]).toEqual([
      'failed',
      'passed',
    ]);
  });

  it('is the one that was asked for outside GitHub, in another job, and where the register is unusable', async () => {
    await using workspace = await createWorkspace({ 'temp/mcp-eval-ci-report-dirs.jsonl': '{"a":1}\nnonsense\n' });
    const findings = createFindings();
    const plan = (environment: Record<string, string>) =>
      planReportDir('reports', { cwd: workspace.path, environment }, findings);
    expect(await plan({})).toMatchObject({ label: 'reports', register: null });
    expect(await plan({ RUNNER_TEMP: join(workspace.path, 'temp') })).toMatchObject({ label: 'reports' });
    expect(await plan({ RUNNER_TEMP: join(workspace.path, 'elsewhere') })).toMatchObject({ label: 'reports' });
    expect(findings.notes).toEqual([]);
  });
});
