import { describe, expect, it } from 'vitest';
import { renderReportJson } from '../../src/report/report-json.ts';
import { createRedReport } from '../support/factories/report-factory.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { createWorkspace } from '../support/workspace.ts';

async function render(args: readonly string[], run: typeof runCommand = runProgramInTest) {
  await using workspace = await createWorkspace({
    'reports/report.json': renderReportJson(createRedReport()),
    'bad.json': '{}',
  });
  const result = await run(['render', ...args], { cwd: workspace.path });
  return { ...result, written: await workspace.read('out.txt').catch(() => null) };
}

describe('mcp-eval-ci render', () => {
  it('exits 0 for a report of a gate that failed, with the link and the name of the job in the comment', async () => {
    const { exitCode, stdout } = await render(
      ['reports', '--as', 'comment', '--job', 'evals', '--url', 'https://ci.example/9'],
      runCommand,
    );
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^### ❌ Eval gate failed: `evals`\n/);
    expect(stdout).toContain('[Job](<https://ci.example/9>)');
  });

  it('writes a file instead of stdout with --out', async () => {
    const { exitCode, stdout, written } = await render(['reports/report.json', '--as', 'summary', '--out', 'out.txt']);
    expect([exitCode, stdout]).toEqual([0, '']);
    expect(written).toMatch(/^## ❌ Eval gate failed\n/);
  });

  it.each([
    [['reports', '--as', 'html'], /Allowed choices are comment, summary, code-quality/],
    [['nowhere', '--as', 'comment'], /nowhere: Cannot be rendered: there is no such report/, runCommand],
    [['bad.json', '--as', 'comment'], /bad\.json: Cannot be rendered/],
  ])('exits 2 for %j', async (args, message, run = runProgramInTest) => {
    const { exitCode, stdout, stderr } = await render(args, run);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });
});
