import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgramInTest } from '../support/process/program.ts';
import { createCommandReader } from '../support/runner/runner-commands.ts';
import { addingServerPath, createWorkspace, greenEvals, redEvals } from '../support/workspace.ts';

const run = [
  'run',
  '--quiet',
  '--isolation',
  'run',
  '--sandbox',
  'off',
  '--server-command',
  `node ${addingServerPath}`,
];

/** The commands that the runner would obey in this output. */
function listCommands(output: string) {
  const reader = createCommandReader();
  return output.split('\n').flatMap((line) => {
    const read = reader.readLine(line);
    return read.kind === 'command' ? [read.command] : [];
  });
}

describe('flags of mcp-eval-ci run', () => {
  it('takes tests from the command line, indented as a here-document leaves them', async () => {
    await using workspace = await createWorkspace();
    const tests = '\n    - title: Echoes\n      steps:\n        - { toolCall: echo, arguments: { message: hi } }\n';
    const result = await runProgramInTest([...run, '--tests', tests], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    expect(result.stdout).toContain('Inline tests  1 passed');
  });

  it('adds up flags that are lists, and takes the last of the others', async () => {
    await using workspace = await createWorkspace({ 'a.yaml': redEvals });
    const flags = ['--cases', 'sum', '--cases', 'refusal', '--runs', '9', '--runs', '1', '--server-command', 'false'];
    const command = ['--server-command', `node ${addingServerPath}`];
    const result = await runProgramInTest([...run, ...flags, ...command, 'a.yaml'], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    expect(result.stdout).toContain('2 iterations of 2 cases: 2 passed');
  });

  it('takes no word after a boolean flag for its value', async () => {
    await using workspace = await createWorkspace({ 'a.yaml': greenEvals });
    const dry = async (...flags: string[]) => await runProgramInTest([...run, ...flags], { cwd: workspace.path });
    const preview = expect.stringContaining('Everything (a.yaml): 3 cases, 4 iterations');
    expect(await dry('--dry-run', 'a.yaml')).toMatchObject({ exitCode: 0, stdout: preview });
    expect(await dry('--allow-pull-request-target', '--dry-run', '--report-formats', 'none', 'a.yaml')).toMatchObject({
      exitCode: 0,
      stdout: preview,
    });
    // The value of another flag, and a file whose name looks like a flag.
    expect(await dry('--dry-run=true', '--tags', '--summary', '--', 'a.yaml')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('"--summary"'),
    });
    expect(await dry('--dry-run=maybe', 'a.yaml')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('dry-run: "maybe" is not a boolean; write true or false (bad-dry-run)'),
    });
  });

  it('refuses a boolean that is written as a word of its own', async () => {
    await using workspace = await createWorkspace({ 'a.yaml': greenEvals });
    expect(await runProgramInTest([...run, 'a.yaml', '--dry-run', 'false'], { cwd: workspace.path })).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        'error: --dry-run and false are two words. Join them with an equals sign: --dry-run=false\nRun with --help for the options.\n',
    });
  });

  it('starts the server in a directory, and exits 2 for one that is not there', async () => {
    await using workspace = await createWorkspace({ 'a.yaml': greenEvals });
    await mkdir(join(workspace.path, 'a b'));
    const flags = ['--evals', 'a.yaml', '--cases', 'echo'];
    expect(await runProgramInTest([...run, ...flags, '--server-cwd', 'a b'], { cwd: workspace.path })).toMatchObject({
      exitCode: 0,
    });
    const missing = await runProgramInTest([...run, ...flags, '--server-cwd', 'nowhere'], { cwd: workspace.path });
    expect(missing).toMatchObject({ exitCode: 2, stdout: '' });
    expect(missing.stderr).toContain('server-cwd: "nowhere" is not a directory');
  });
});

describe('mcp-eval-ci run in a workflow', () => {
  it('annotates failing cases by their path in the workspace, unless disabled', async () => {
    await using workspace = await createWorkspace({ 'packages/a/evals/red.yaml': redEvals });
    const options = {
      cwd: join(workspace.path, 'packages/a'),
      env: { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: workspace.path },
    };
    const result = await runProgramInTest([...run, 'evals/red.yaml'], options);
    expect(result.exitCode).toBe(1);
    expect(listCommands(result.stdout).map(({ properties: { file, line } }) => [file, line])).toEqual([
      [undefined, undefined],
      ['packages/a/evals/red.yaml', '3'],
    ]);
    const silent = await runProgramInTest([...run, '--report-to=summary', 'evals/red.yaml'], options);
    expect(listCommands(silent.stdout)).toEqual([]);
  });

  it('annotates findings in evals files', async () => {
    await using workspace = await createWorkspace({ 'bad.yaml': 'suite: Bad\n' });
    const env = { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: workspace.path };
    const result = await runProgramInTest([...run, 'bad.yaml'], { cwd: workspace.path, env });
    expect(result.exitCode).toBe(2);
    expect(listCommands(result.stdout)).toMatchObject([
      { command: 'error', properties: { file: 'bad.yaml', line: '1' } },
    ]);
  });
});
