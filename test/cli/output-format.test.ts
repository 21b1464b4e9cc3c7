import { describe, expect, it } from 'vitest';
import { renderReportJson } from '../../src/report/report-json.ts';
import { parseReport } from '../../src/report/report-json.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { createRedReport } from '../support/factories/report-factory.ts';
import { addingServerPath, createWorkspace, redEvals } from '../support/workspace.ts';

const run = [
  'run',
  '--isolation',
  'run',
  '--sandbox',
  'off',
  '--server-command',
  `node ${addingServerPath}`,
  '--evals',
  'red.yaml',
];

describe('--format', () => {
  it('prints the report as it is in report.json, and nothing else on stdout, for a machine', async () => {
    await using workspace = await createWorkspace({ 'red.yaml': redEvals });
    const env = { GITHUB_ACTIONS: 'true' };
    const { exitCode, stdout, stderr } = await runCommand([...run, '--format', 'json'], { cwd: workspace.path, env });
    expect(exitCode).toBe(1);
    expect(stdout).toBe(await workspace.read('mcp-eval-report/report.json'));
    expect(parseReport(JSON.parse(stdout)).verdict.outcome).toBe('failed');
    // The runner reads its commands on either stream.
    expect(stderr).toMatch(/^::error /m);
  });

  it('prints it for people unless it is asked for', async () => {
    await using workspace = await createWorkspace({ 'red.yaml': redEvals });
    const { stdout } = await runProgramInTest(run, { cwd: workspace.path });
    expect(stdout).toMatch(/^✗ Failed: /);
  });

  it('works with judge, too', async () => {
    await using workspace = await createWorkspace({ 'report.json': renderReportJson(createRedReport()) });
    const judged = await runProgramInTest(['judge', '.', '--format', 'json'], { cwd: workspace.path });
    expect(parseReport(JSON.parse(judged.stdout))).toMatchObject({ verdict: { outcome: 'failed' } });
  });

  it('rejects an unknown format', async () => {
    await using workspace = await createWorkspace({ 'red.yaml': redEvals });
    const result = await runProgramInTest([...run, '--format', 'xml'], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr).toContain("'--format <text|json>' argument 'xml' is invalid. Write text or json.");
  });
});
