import { describe, expect, it } from 'vitest';
import { listFailedCases, selectFailed } from '../../src/cli/failed-cases.ts';
import { renderReportJson } from '../../src/report/report-json.ts';
import { createInconclusiveReport, createRedReport, createReport } from '../support/factories/report-factory.ts';
import { split } from 'shlex';
import { runProgramInTest } from '../support/process/program.ts';
import { addingServerPath, createWorkspace, redEvals } from '../support/workspace.ts';

const defaultReportDir = 'mcp-eval-report';
const select = (cwd: string, texts: Record<string, string> = {}) => selectFailed(texts, { cwd, defaultReportDir });

describe('the failed cases of a report', () => {
  it('are those that failed or have no result, with their files', () => {
    const red = createRedReport();
    const failed = red.cases.filter(({ outcome }) => outcome !== 'passed');
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(red.cases.length);
    expect(listFailedCases(red).cases).toEqual([...new Set(failed.map(({ id }) => id))]);
    expect(listFailedCases(createReport())).toEqual({ cases: [], files: [] });
    const { cases } = createInconclusiveReport();
    expect(listFailedCases(createInconclusiveReport()).cases).toEqual(
      cases.filter(({ outcome }) => outcome === 'inconclusive').map(({ id }) => id),
    );
  });

  it('are selected from the directory for reports, and keep the evals files that are given', async () => {
    const text = renderReportJson(createRedReport());
    await using workspace = await createWorkspace({ 'mcp-eval-report/report.json': text, 'other/report.json': text });
    const { cases, files } = listFailedCases(createRedReport());
    const chosen = { cases: cases.join('\n'), evals: files.join('\n') };
    expect(await select(workspace.path)).toEqual(chosen);
    const given = { 'report-dir': 'other', evals: '\nmine.yaml' };
    expect(await select(workspace.path, given)).toEqual({ ...given, cases: chosen.cases });
  });

  it('are none where every case passed', async () => {
    await using workspace = await createWorkspace({ 'mcp-eval-report/report.json': renderReportJson(createReport()) });
    expect(await select(workspace.path)).toBeNull();
  });

  it.each([
    ['no report', {}, {}, 'there is no report in mcp-eval-report; run without `--failed` first'],
    [
      'the report of another version',
      {
        'mcp-eval-report/report.json': renderReportJson(createReport()).replace(
          '"schemaVersion": "3"',
          '"schemaVersion": "2"',
        ),
      },
      {},
      'schemaVersion 2, and this version of mcp-eval-ci reads 3',
    ],
    ['a damaged report', { 'mcp-eval-report/report.json': '{' }, {}, 'the report in mcp-eval-report cannot be used'],
    ['cases of its own', {}, { cases: 'a' }, 'leave out `--cases`'],
  ])('are refused with %s', async (_what, files, texts, message) => {
    await using workspace = await createWorkspace(files);
    await expect(select(workspace.path, texts)).rejects.toThrow(message);
  });
});

describe('mcp-eval-ci run --failed', () => {
  it('runs only what failed in the last run', async () => {
    await using workspace = await createWorkspace({ 'a.yaml': redEvals });
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
    const first = await runProgramInTest([...run, 'a.yaml'], { cwd: workspace.path });
    expect(first).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('of 3 cases') });
    const line = /Run it again: npx mcp-eval-ci (.*)/.exec(first.stdout)?.[1] ?? '';
    const printed = await runProgramInTest(split(line), { cwd: workspace.path });
    expect(printed).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('0 of 1 iteration passed') });
    const listed = await runProgramInTest([...run, '--failed', '--list'], { cwd: workspace.path });
    expect(listed).toMatchObject({ exitCode: 0, stdout: 'a.yaml:3  Echoes a message\n1 case in 1 file.\n' });
    const again = await runProgramInTest([...run, '--failed'], { cwd: workspace.path });
    expect(again).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('0 of 1 iteration passed') });
    await workspace.write('a.yaml', redEvals.replace('Echo: goodbye', 'Echo: hello'));
    const mended = await runProgramInTest([...run, '--failed', 'a.yaml'], { cwd: workspace.path });
    expect(mended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 iteration of 1 case: 1 passed') });
    const nothing = await runProgramInTest([...run, '--failed'], { cwd: workspace.path });
    expect(nothing).toMatchObject({ exitCode: 0, stdout: 'Every case passed last time; nothing was run.\n' });
  });
});
