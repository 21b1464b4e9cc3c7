import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Exploration } from '../../src/explore/exploration.ts';
import { listFindings, nameExploredServer } from '../support/explore.ts';
import { filesystemServerPath } from '../support/servers/bundled-servers.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const server = (...sets: string[]) => ['--server-command', nameExploredServer(...sets)];

describe('mcp-eval-ci explore', () => {
  it('writes an evals file that is valid and passes, and ends with a summary', async () => {
    await using workspace = await createWorkspace();
    const cwd = workspace.path;
    const args = ['explore', ...server('notes', 'words'), '--call', 'all', '--budget', '100', '--time-limit', '1h'];
    const { exitCode, stdout } = await runCommand([...args, '--write', 'evals/explored.evals.yaml'], { cwd });
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd().split('\n').slice(-4)).toEqual([
      expect.stringMatching(/^Coverage: 7 of 7 tools, 8 of 8 parameters, \d+ of \d+ error paths$/),
      'Findings: none',
      expect.stringMatching(/^Files: evals\/explored\.evals\.yaml with \d+ cases$/),
      expect.stringContaining('Next: mcp-eval-ci run --evals evals/explored.evals.yaml'),
    ]);
    const evals = await readFile(path.join(cwd, 'evals/explored.evals.yaml'), 'utf8');
    expect(evals).toContain('title: list_notes finds what create_note made');
    expect(evals).toContain('id1: /structuredContent/id');
    const validated = await runProgramInTest(['validate', 'evals/explored.evals.yaml'], { cwd });
    expect([validated.exitCode, validated.stderr]).toEqual([0, '']);
    const run = await runProgramInTest(
      ['run', '--evals', 'evals/explored.evals.yaml', '--sandbox', 'off', ...server('notes', 'words')],
      { cwd },
    );
    expect([run.exitCode, run.stdout]).toEqual([0, expect.stringContaining('✓')]);
  });

  it('writes the files that its cases need, once, and no evals file without cases', async () => {
    await using workspace = await createWorkspace();
    const cwd = workspace.path;
    const files = ['--server-command', `${process.execPath} ${filesystemServerPath} {{workspace}}`];
    const args = ['explore', ...files, '--budget', '60', '--time-limit', '1h', '--write'];
    const explore = async (...more: string[]) => (await runProgramInTest([...args, ...more], { cwd })).stdout;
    const first = await explore('evals/first.evals.yaml', '--call', 'all');
    expect(first).toMatch(/^Files: evals\/first\.evals\.yaml with \d+ cases, evals\/workspace\/(?:; left out|$)/m);
    const run = ['run', '--evals', 'evals/first.evals.yaml', '--sandbox', 'off', ...files];
    expect(await runProgramInTest(run, { cwd })).toMatchObject({ exitCode: 0 });
    await writeFile(path.join(cwd, 'evals/workspace/mine.txt'), 'Mine\n');
    const second = await explore('evals/second.evals.yaml', '--call', 'all');
    expect(second).not.toMatch(/^Files: .*evals\/workspace\//m);
    expect(await workspace.read('evals/second.evals.yaml')).toMatch(/^workspace: workspace$/m);
    expect(await workspace.read('evals/second.evals.yaml')).toContain('mine.txt');
    const named = await explore('other/third.evals.yaml', '--call', 'all', '--workspace', 'evals/workspace');
    expect(named).not.toMatch(/^Files: .*workspace\//m);
    expect(await workspace.read('other/third.evals.yaml')).toMatch(/^workspace: \.\.\/evals\/workspace$/m);
    await using remote = await startFixtureMcpServer({
      ping: { call: () => text('pong'), annotations: { readOnlyHint: true } },
    });
    // A server elsewhere works in no files of this machine.
    const url = ['explore', '--server-url', remote.url, '--write', 'evals/remote.evals.yaml'];
    expect(await runProgramInTest(url, { cwd })).toMatchObject({ exitCode: 0 });
    expect(await workspace.read('evals/remote.evals.yaml')).not.toMatch(/^workspace:/m);
    const writers = ['--server-command', nameExploredServer('idempotent-sound'), '--call', 'read-only'];
    const none = await runProgramInTest(['explore', ...writers, '--write', 'none.evals.yaml'], { cwd });
    expect(none.stdout).toMatch(/^Files: no evals, since no session is a case/m);
    expect(none.stdout).not.toContain('Next: mcp-eval-ci run');
    await expect(workspace.read('none.evals.yaml')).rejects.toThrow('ENOENT');
  });

  it('names what a run of the written file needs in addition', async () => {
    await using workspace = await createWorkspace();
    const args = ['explore', ...server('words'), '--call', 'all', '--budget', '10', '--write', 'found.evals.yaml'];
    const more = ['--server-env', 'DATA={{workspace}}/data'];
    const { stdout } = await runProgramInTest([...args, ...more], { cwd: workspace.path });
    expect(stdout).toMatch(/^Next: .* words', with your `--server-env`$/m);
    // The suite has a workspace, so that the placeholder needs no other directory.
    const run = ['run', '--evals', 'found.evals.yaml', ...server('words'), ...more, '--sandbox', 'off'];
    expect(await runProgramInTest(run, { cwd: workspace.path })).toMatchObject({ exitCode: 0 });
    const { stdout: plain } = await runProgramInTest([...args.slice(0, -1), 'other.evals.yaml'], {
      cwd: workspace.path,
    });
    expect(plain).toMatch(/^Next: .* words'$/m);
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
    [['--workspace', 'linked'], 'the link out leads out of the workspace; replace it by a file'],
    [['--workspace', 'large'], 'a workspace has at most 10,000 files and 64 MiB, and 1 files and 65 MiB were counted'],
    [['--write', 'there.yaml'], 'write: there.yaml exists, and stays as it is'],
  ])('refuses %j before anything starts', async (args, message) => {
    await using workspace = await createWorkspace({ 'there.yaml': 'suite: Mine\n' });
    for (const name of ['linked', 'large']) await mkdir(path.join(workspace.path, name));
    await symlink('../there.yaml', path.join(workspace.path, 'linked/out'));
    await writeFile(path.join(workspace.path, 'large/big.bin'), '');
    await truncate(path.join(workspace.path, 'large/big.bin'), 65 * 1024 * 1024);
    const touch = ['--server-command', 'touch started'];
    const { exitCode, stderr } = await runProgramInTest(['explore', ...touch, ...args], { cwd: workspace.path });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(existsSync(path.join(workspace.path, 'started'))).toBe(false);
  });

  it('starts from an existing corpus of the same server, and enlarges it', async () => {
    await using workspace = await createWorkspace({ 'other.json': '{"suite": "Mine"}' });
    const cwd = workspace.path;
    const explore = async (budget: string, command: string[], { file = 'corpus.json', run = runProgramInTest } = {}) =>
      await run(['explore', ...command, '--call', 'all', '--budget', budget, '--time-limit', '1h', '--corpus', file], {
        cwd,
      });
    const readAdded = async () => {
      const { sessions }: Exploration = JSON.parse(await workspace.read('corpus.json'));
      return sessions.flatMap(({ adds }) => adds);
    };
    expect((await explore('12', server('notes', 'words'))).exitCode).toBe(0);
    const first = await readAdded();
    expect((await explore('40', server('notes', 'words'))).exitCode).toBe(0);
    const second = await readAdded();
    expect(second).toEqual(expect.arrayContaining(first));
    expect(second.length).toBeGreaterThan(first.length);
    const kept = await workspace.read('corpus.json');
    const other = await explore('12', ['--server-command', `env VERSION=2.0.0 ${nameExploredServer('words')}`]);
    expect([other.exitCode, other.stderr]).toEqual([
      2,
      expect.stringContaining('corpus: is of explored 1.2.3, and this is explored 2.0.0; choose another path'),
    ]);
    expect(await workspace.read('corpus.json')).toBe(kept);
    const none = await explore('12', ['--server-command', 'touch started'], { file: 'other.json', run: runCommand });
    expect([none.exitCode, none.stderr]).toEqual([
      2,
      expect.stringContaining('other.json exists, and is no exploration'),
    ]);
    expect(existsSync(path.join(cwd, 'started'))).toBe(false);
  });

  it('calls only tools that are declared read-only, or named as safe, of a server at a URL', async () => {
    const called: string[] = [];
    const tool = (name: string, annotations: { readOnlyHint?: boolean }) => ({
      annotations,
      inputSchema: { type: 'object' as const, properties: { word: { type: 'string' } }, required: ['word'] },
      call: ({ args: { word } }: { args: Record<string, unknown> }) => {
        called.push(name);
        return text(`${name} ${String(word)}`);
      },
    });
    await using remote = await startFixtureMcpServer({
      find_word: tool('find_word', { readOnlyHint: true }),
      add_word: tool('add_word', {}),
      drop_word: tool('drop_word', {}),
    });
    const args = ['explore', '--server-url', remote.url, '--budget', '40', '--time-limit', '1h', '--format', 'json'];
    await using workspace = await createWorkspace();
    const { exitCode, stdout } = await runCommand([...args, '--safe-tool', 'add_word'], { cwd: workspace.path });
    expect(exitCode).toBe(0);
    expect(new Set(called)).toEqual(new Set(['find_word', 'add_word']));
    const exploration: Exploration = JSON.parse(stdout);
    expect(exploration.coverage.tools).toEqual({ reached: 2, of: 3 });
    expect(exploration.unexplored.map(({ subject }) => subject)).toEqual([
      'files and network',
      'fresh worlds',
      'drop_word',
    ]);
    // The fixture checks no arguments.
    expect(listFindings(exploration)).toEqual(['schema-too-loose find_word', 'schema-too-loose add_word']);
    called.length = 0;
    const unknown = await runProgramInTest([...args, '--safe-tool', 'add_words'], { cwd: workspace.path });
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      2,
      expect.stringContaining(
        'safe-tool: the server has no tool "add_words"; its tools are find_word, add_word, drop_word',
      ),
    ]);
    expect(called).toEqual([]);
  });

  it.each([
    [['--call', 'all'], 'name harmless tools with `--safe-tool`'],
    [['--workspace', 'empty'], 'has no effect on a server at a URL'],
  ])('refuses %j with a URL', async (args, message) => {
    const url = ['--server-url', 'http://127.0.0.1:1/mcp'];
    const { exitCode, stderr } = await runProgramInTest(['explore', ...url, ...args], { cwd: process.cwd() });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('says why a server does not start', async () => {
    await using workspace = await createWorkspace();
    const cwd = workspace.path;
    const dead = await runProgramInTest(['explore', '--server-command', 'node -e process.exit(4)'], { cwd });
    expect([dead.exitCode, dead.stderr]).toEqual([3, expect.stringContaining('it ended with exit code 4')]);
  });
});
