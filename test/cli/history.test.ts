import { describe, expect, it } from 'vitest';
import { renderHistoryLine } from '../../src/history/history-record.ts';
import { createReport } from '../support/factories/report-factory.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { createWorkspace } from '../support/workspace.ts';

const commit = '0123456789abcdef0123456789abcdef01234567';
const line = renderHistoryLine(createReport({ revision: { commit, branch: 'main' } }));

async function history(args: readonly string[], run: typeof runCommand = runProgramInTest) {
  await using workspace = await createWorkspace({
    'history.jsonl': `${line}\n${line.slice(0, 20)}\n${line}\n`,
    'newer.jsonl': line.replace('"v":1', '"v":2'),
    'broken.jsonl': '<<<<<<< HEAD\n',
    'empty.jsonl': '\n',
  });
  const result = await run(['history', ...args], { cwd: workspace.path });
  return { ...result, written: await workspace.read('page.html').catch(() => null) };
}

describe('mcp-eval-ci history', () => {
  it('writes a page with links to commits, and says which line it skipped', async () => {
    const args = ['history.jsonl', '--out', 'page.html', '--repository', 'https://github.com/octo/server/'];
    const { exitCode, stdout, stderr, written } = await history(args, runCommand);
    expect([exitCode, stdout]).toEqual([0, '']);
    expect(stderr).toBe('Warning: history.jsonl: Skipped line 2, which is no JSON.\n');
    expect(written).toContain(`href="https://github.com/octo/server/commit/${commit}"`);
    expect(written).toContain('2 of 2 gates passed.');
    const { stdout: page } = await history(['history.jsonl', '--repository', 'https://gitlab.example/octo/server']);
    expect(page).toContain(`https://gitlab.example/octo/server/-/commit/${commit}`);
  });

  it.each([
    [['nowhere.jsonl'], /^nowhere\.jsonl: does not exist; gates write it with --history-path/, runCommand],
    [['.'], /^\.: cannot be read: /],
    [['empty.jsonl'], /^empty\.jsonl: is empty; /],
    [['broken.jsonl'], /^broken\.jsonl: has no record: line 1 is no JSON; /],
    [
      ['newer.jsonl'],
      /^newer\.jsonl: has no record: line 1 has version 2 of the format, and this program reads version 1; /,
    ],
    [['history.jsonl', '--branch', 'dev'], /^history\.jsonl: has no gate of the branch "dev"; it has gates of main /m],
    [['history.jsonl', '--repository', 'javascript:alert(1)'], /is no address of a web page/],
    [['history.jsonl', '--out', 'nowhere/page.html'], /cannot be written/],
  ])('exits 2 for %j', async (args, message, run = runProgramInTest) => {
    const { exitCode, stdout, stderr } = await history(args, run);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });
});
