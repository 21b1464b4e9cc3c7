import { stat } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { generator } from '../../src/base/version.ts';
import { listFlags } from '../../src/gate/options/list.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { createWorkspace } from '../support/workspace.ts';

const run = (...args: string[]) => start(runProgramInTest, args);

async function start(runner: typeof runCommand, args: readonly string[]) {
  await using workspace = await createWorkspace();
  return await runner(args, { cwd: workspace.path });
}

describe('mcp-eval-ci --help', () => {
  it.each([
    ['--help'],
    ['run --help'],
    ['validate --help'],
    ['serve --help'],
    ['doctor --help'],
    ['init --help'],
    ['tools --help'],
    ['judge --help'],
    ['render --help'],
    ['history --help'],
    ['merge --help'],
    ['publish --help'],
  ])('of %s fits 80 columns and exits 0', async (words) => {
    const result = await run(...words.split(' '));
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    // An address has no place to break it.
    const isTooWide = (line: string) => line.length > 80 && !/^ *https:\S+$/.test(line);
    expect(result.stdout.split('\n').filter(isTooWide)).toEqual([]);
  });

  it('of run has every option that people set, with its default', async () => {
    const { stdout } = await run('run', '--help');
    for (const { name, default: fallback } of listFlags('run').filter((option) => option.runnerDefault === undefined)) {
      expect(stdout).toMatch(new RegExp(`^  --${name}(?: |\\[=bool\\])`, 'm'));
      expect(stdout).toContain(fallback === '' ? '' : `[${fallback}]`);
    }
  });

  it('is what `help` shows too', async () => {
    expect((await run('help', 'run')).stdout).toBe((await run('run', '--help')).stdout);
  });
});

describe('mcp-eval-ci', () => {
  it('prints its version', async () => {
    expect(await start(runCommand, ['--version'])).toEqual({
      exitCode: 0,
      stdout: `${generator.version}\n`,
      stderr: '',
    });
  });

  it.each([
    ['', /^Usage: mcp-eval-ci/],
    ['rnu', /unknown command 'rnu'\n\(Did you mean run\?\)/, runCommand],
    ['validate', /missing required argument 'files'/],
    ['validate --evals a.yaml', /unknown option '--evals'\nGive the files without a flag: mcp-eval-ci validate /],
    ['doctor', /no server to test; give `server-command` to start one/],
  ])('exits 2 for "%s" and says what is wrong on stderr', async (words, message, runner = runProgramInTest) => {
    const args = words.split(' ').filter((word) => word !== '');
    const result = await start(runner, args);
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });
});

describe('the command of the checkout', () => {
  it.skipIf(process.platform === 'win32')('may be executed, however often the library is built', async () => {
    const { mode } = await stat('lib/cli/main.js');
    expect(mode & 0o111).toBe(0o111);
  });
});
