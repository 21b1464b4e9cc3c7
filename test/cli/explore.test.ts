import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { nameExploredServer } from '../support/explore.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { createWorkspace } from '../support/workspace.ts';

const server = (...sets: string[]) => ['--server-command', nameExploredServer(...sets)];

describe('mcp-eval-ci explore', () => {
  it('writes an evals file that is valid and passes, and ends with a summary', async () => {
    await using workspace = await createWorkspace();
    const cwd = workspace.path;
    const args = ['explore', ...server('notes', 'words'), '--call', 'all', '--budget', '150', '--time-limit', '1h'];
    const { exitCode, stdout } = await runCommand([...args, '--write', 'evals/explored.evals.yaml'], { cwd });
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd().split('\n').slice(-4)).toEqual([
      expect.stringMatching(/^Coverage: 7 of 7 tools, 8 of 8 parameters, \d+ of \d+ error paths$/),
      'Findings: none',
      expect.stringMatching(/^Files: evals\/explored\.evals\.yaml with \d+ cases$/),
      expect.stringContaining('Next: mcp-eval-ci run --evals evals/explored.evals.yaml'),
    ]);
    const text = await readFile(path.join(cwd, 'evals/explored.evals.yaml'), 'utf8');
    expect(text).toContain('title: list_notes finds what create_note made');
    expect(text).toContain('id1: /structuredContent/id');
    const validated = await runProgramInTest(['validate', 'evals/explored.evals.yaml'], { cwd });
    expect([validated.exitCode, validated.stderr]).toEqual([0, '']);
    const run = await runProgramInTest(['run', '--evals', 'evals/explored.evals.yaml', ...server('notes', 'words')], {
      cwd,
    });
    expect([run.exitCode, run.stdout]).toEqual([0, expect.stringContaining('✓')]);
  });

  it('names what a run of the written file needs in addition', async () => {
    await using workspace = await createWorkspace();
    const args = ['explore', ...server('words'), '--call', 'all', '--budget', '10', '--write', 'found.evals.yaml'];
    const { stdout } = await runCommand([...args, '--server-env', 'DATA={{workspace}}/data'], { cwd: workspace.path });
    expect(stdout).toMatch(
      /^Next: .* words', with your `--server-env` and your directory instead of `\{\{workspace\}\}`$/m,
    );
  });

  it('exits 1 with --findings-only for a finding of the severity, and writes it into the file as a comment', async () => {
    await using workspace = await createWorkspace();
    const args = ['explore', ...server('error-flag'), '--call', 'all', '--budget', '20', '--time-limit', '1h'];
    const explore = async (...more: string[]) => await runProgramInTest([...args, ...more], { cwd: workspace.path });
    const strict = await explore('--findings-only', '--severity', 'warning', '--write', 'found.evals.yaml');
    expect([strict.exitCode, strict.stdout]).toEqual([1, expect.stringContaining('warning  error-flag  fetch_page')]);
    expect(await workspace.read('found.evals.yaml')).toContain(
      '# Finding error-flag: the result is the text of an error',
    );
    const lenient = await explore('--findings-only', '--format', 'json');
    expect([lenient.exitCode, JSON.parse(lenient.stdout).findings]).toEqual([
      0,
      [expect.objectContaining({ kind: 'error-flag' })],
    ]);
    const markdown = await explore('--format', 'markdown');
    expect(markdown.stdout).toContain('## Findings\n\n- **warning** `error-flag` `fetch_page`');
  });

  it('fails as the policy says, and accepts what it waives', async () => {
    await using workspace = await createWorkspace({
      'strict.yml': 'explore: { warning: fail }\n',
      'waived.yml':
        'explore: { warning: fail, waivers: [{ kind: error-flag, tool: fetch_page, reason: It shows pages. }, { kind: hang, tool: gone, reason: Old. }] }\n',
      'wrong.yml': 'explore: { warnings: fail }\n',
    });
    const args = ['explore', ...server('error-flag'), '--call', 'all', '--budget', '20', '--time-limit', '1h'];
    const explore = async (policy: string) =>
      await runProgramInTest([...args, '--findings-only', '--policy', policy], { cwd: workspace.path });
    expect((await explore('strict.yml')).exitCode).toBe(1);
    const waived = await explore('waived.yml');
    expect(waived.exitCode).toBe(0);
    expect(waived.stdout).toContain('    waived: It shows pages.\n');
    expect(waived.stdout).toContain('\nFindings: 1 waived\n');
    expect(waived.stderr).toContain('no finding is hang of gone; remove the waiver');
    const wrong = await explore('wrong.yml');
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('warnings')]);
  });

  it.each([
    [['--budget', '0'], 'budget: "0" is no whole number from 1 on'],
    [['--seed', 'first'], 'seed: "first" is no whole number from 0 on'],
    [['--time-limit', 'soon'], 'time-limit: "soon" is no duration'],
    [['--severity', 'fatal'], 'Allowed choices are error, warning, note'],
    [['--workspace', 'missing'], 'workspace: "missing" is not a directory'],
    [['--write', 'there.yaml'], 'write: there.yaml exists, and stays as it is'],
  ])('refuses %j before anything starts', async (args, message) => {
    await using workspace = await createWorkspace({ 'there.yaml': 'suite: Mine\n' });
    const touch = ['--server-command', 'touch started'];
    const { exitCode, stderr } = await runProgramInTest(['explore', ...touch, ...args], { cwd: workspace.path });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(existsSync(path.join(workspace.path, 'started'))).toBe(false);
  });

  it('refuses a URL, and says why a server does not start', async () => {
    await using workspace = await createWorkspace();
    const cwd = workspace.path;
    const url = await runProgramInTest(['explore', '--server-url', 'http://127.0.0.1:1/mcp'], { cwd });
    expect([url.exitCode, url.stderr]).toEqual([2, expect.stringContaining('explore starts the server itself')]);
    const dead = await runProgramInTest(['explore', '--server-command', 'node -e process.exit(4)'], { cwd });
    expect([dead.exitCode, dead.stderr]).toEqual([3, expect.stringContaining('it ended with exit code 4')]);
  });
});
