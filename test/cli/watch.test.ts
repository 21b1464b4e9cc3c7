import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createOwnFiles, openChangeLog, watchRuns } from '../../src/cli/watch.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { addingServerPath, createWorkspace, greenEvals, redEvals, type Workspace } from '../support/workspace.ts';

/** Replaces a file in one step, so that no run finds half of it. */
async function replace(workspace: Workspace, file: string, text: string): Promise<void> {
  await mkdir(join(workspace.path, 'node_modules'), { recursive: true });
  await workspace.write('node_modules/next', text);
  await rename(join(workspace.path, 'node_modules/next'), join(workspace.path, file));
}

/** Watches a directory with runs that end with these exit codes, and resolves with the log of everything once the last has run. */
async function watch(workspace: Workspace, exitCodes: readonly number[]) {
  const stop = new AbortController();
  const log: string[] = [];
  let runs = 0;
  const exitCode = await watchRuns({
    directory: workspace.path,
    ignored: ['report'],
    run: async ({ isFailedOnly }) => {
      const code = exitCodes[runs] ?? 0;
      runs += 1;
      log.push(isFailedOnly ? 'failed' : 'all');
      if (runs === exitCodes.length) stop.abort();
      return code;
    },
    print: (line) => {
      log.push(line.startsWith('Waiting') ? 'waiting' : line);
      if (line.startsWith('Waiting')) void replace(workspace, 'src.js', `// ${log.length}`);
    },
    signal: stop.signal,
  });
  return { log, exitCode };
}

describe('watching', () => {
  it('runs again after a change, the failed cases first and all cases once they pass', async () => {
    await using workspace = await createWorkspace({ 'src.js': '' });
    const { log, exitCode } = await watch(workspace, [1, 1, 0, 0, 3]);
    expect(log).toEqual(['all', 'waiting', 'failed', 'waiting', 'failed', 'all', 'waiting', 'all']);
    expect(exitCode).toBe(3);
  });
});

describe('a log of changes', () => {
  it('has what changed, came and went since the last call, and what another file replaced', async () => {
    await using workspace = await createWorkspace({ 'a/x.js': '', 'gone.js': '', 'same.js': '' });
    const log = await openChangeLog(workspace.path, []);
    expect(await log.take()).toEqual([]);
    await workspace.write('a/x.js', 'longer');
    await mkdir(join(workspace.path, 'new'));
    await workspace.write('new/y.js', '');
    await rm(join(workspace.path, 'gone.js'));
    expect((await log.take()).toSorted()).toEqual(['a/x.js', 'gone.js', 'new/y.js']);
    for (const text of ['1', '2']) {
      await replace(workspace, 'a/x.js', text);
      expect(await log.take()).toEqual(['a/x.js']);
    }
    expect(await log.take()).toEqual([]);
  });

  it('has no files of reports, git and packages', async () => {
    await using workspace = await createWorkspace({ 'report/r.json': '', 'node_modules/p/i.js': '', '.git/index': '' });
    const log = await openChangeLog(workspace.path, ['report']);
    for (const file of ['report/r.json', 'node_modules/p/i.js', '.git/index']) await workspace.write(file, 'changed');
    expect(await log.take()).toEqual([]);
  });
});

describe('files of the server', () => {
  it('are those that change in two runs one after the other', () => {
    const files = createOwnFiles();
    expect(files.add(['db', 'src.js'])).toEqual({ changed: ['db', 'src.js'], own: [] });
    expect(files.add(['db'])).toEqual({ changed: [], own: ['db'] });
    expect(files.add(['db', 'src.js'])).toEqual({ changed: ['src.js'], own: [] });
    expect(files.add([])).toEqual({ changed: [], own: [] });
    expect(files.add(['src.js'])).toEqual({ changed: ['src.js'], own: [] });
  });
});

describe('mcp-eval-ci run --watch', () => {
  it('refuses --list, which starts nothing', async () => {
    const { exitCode, stderr } = await runProgramInTest(['run', '--watch', '--list', 'x.evals.yaml'], {
      cwd: process.cwd(),
    });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--list: starts nothing')]);
  });

  it('runs the evals again after a change of them, until it is interrupted', async () => {
    await using workspace = await createWorkspace({ 'a.yaml': redEvals });
    const stop = new AbortController();
    const changes: Array<Promise<void>> = [];
    const args = [
      'run',
      '--watch',
      '--isolation',
      'run',
      '--sandbox',
      'off',
      '--server-command',
      `node ${addingServerPath}`,
      'a.yaml',
    ];
    const { exitCode, stdout, stderr } = await runCommand(args, {
      cwd: workspace.path,
      stop: stop.signal,
      onOutput: (output) => {
        const waits = output.split('Waiting for changes').length - 1;
        if (waits === 1 && changes.length === 0) changes.push(replace(workspace, 'a.yaml', greenEvals));
        if (waits === 2) stop.abort('SIGINT');
        return undefined;
      },
    });
    await Promise.all(changes);
    const verdicts = [...stdout.matchAll(/^[✓✗] (?:Passed|Failed): \d+ of \d+ iterations?/gm)].map(([line]) => line);
    expect(verdicts).toEqual([
      '✗ Failed: 3 of 4 iterations',
      '✓ Passed: 1 of 1 iteration',
      '✓ Passed: 4 of 4 iterations',
    ]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringContaining('Press Ctrl+C to end.') });
  });
});
