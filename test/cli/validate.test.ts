import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { createWorkspace, greenEvals } from '../support/workspace.ts';

describe('mcp-eval-ci validate', () => {
  it('exits 0 and says what a valid file holds', async () => {
    await using workspace = await createWorkspace({ 'a.evals.yaml': greenEvals });
    expect(await runCommand(['validate', 'a.evals.yaml'], { cwd: workspace.path })).toEqual({
      exitCode: 0,
      stdout: 'a.evals.yaml: Everything, 3 cases, 4 iterations\n1 file is valid.\n',
      stderr: '',
    });
  });

  it('exits 2 with file, line, column and code of every finding in every file', async () => {
    await using workspace = await createWorkspace({
      'a.evals.yaml': greenEvals.replace('required:', 'requierd:').replace('runs: 2', 'runs: 200'),
      'b.evals.yaml': 'suite: B\n',
    });
    const result = await runCommand(['validate', '*.evals.yaml'], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    const lines = result.stderr.trimEnd().split('\n');
    expect(lines.slice(0, -1).map((line) => /^(\S+:\d+:\d+): .* \(([a-z-]+)\)$/.exec(line)?.slice(1))).toEqual([
      ['a.evals.yaml:11:5', 'unknown-key'],
      ['a.evals.yaml:12:11', 'out-of-range'],
      ['b.evals.yaml:1:1', 'missing-key'],
    ]);
    expect(lines.at(-1)).toBe('3 problems in the configuration; nothing was run.');
  });

  it('exits 2 for a pattern that matches nothing', async () => {
    await using workspace = await createWorkspace();
    const result = await runCommand(['validate', 'evals/*.yaml'], { cwd: workspace.path });
    expect(result.exitCode).toBe(2);
    expect(result.stderr).toContain('evals/*.yaml');
  });
});
