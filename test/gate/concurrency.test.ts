import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runEmbeddedGate } from '../support/gate/embedded-gate.ts';
import { folderServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const server = `${process.execPath} ${folderServerPath}`;

/**
 * Writes a suite of cases that each call one tool. Cases that call `look` run `looks` times, and wait until they have seen as many other
 * processes. This shows which processes run at the same time, because the last one to start does not see ended ones.
 */
function writeCases(tools: readonly string[], { head = '', looks = 2, others = 1 } = {}): string {
  const cases = tools.map(
    (tool, index) => `  - title: Case ${index + 1}
    runs: ${tool === 'look' ? looks : 1}
    steps:
      - toolCall: ${tool}
        arguments: { value: ${index + 1}, ${tool === 'look' ? `wait: ${others}` : 'delayMs: 50'} }
      - assert: { toolResultContains: ${tool === 'look' ? 'saw' : 'changed'} }
${tool === 'look' ? '      - assert: { toolResultMatches: "saw [1-9]" }\n' : ''}`,
  );
  return `suite: Folder\n${head}cases:\n${cases.join('')}`;
}

async function runFolderGate(workspace: Workspace, suite: string, inputs: Record<string, string> = {}) {
  await writeFile(join(workspace.path, 'folder.evals.yaml'), suite);
  const folder = join(workspace.path, 'data');
  await mkdir(folder, { recursive: true });
  const { report } = await runEmbeddedGate(workspace, {
    'server-command': `${server} ${folder}`,
    isolation: 'iteration',
    // The server identifies the other processes by their ids, which a sandbox hides.
    sandbox: 'off',
    ...inputs,
  });
  const changes = await readFile(join(folder, 'changes'), 'utf8').catch(() => '');
  return { report, concurrency: report.suites[0]?.concurrency, changes: changes.split('\n').filter(Boolean).join(' ') };
}

describe('iterations that call a tool that is not declared read-only', () => {
  it('run alone and in the order of the file, with no other process of the server next to them', async () => {
    await using workspace = await createWorkspace();
    const { report, concurrency, changes } = await runFolderGate(workspace, writeCases(['change', 'change', 'change']));
    expect(report.totals).toMatchObject({ passed: 3, failed: 0 });
    expect(changes).toBe('1 2 3');
    expect(concurrency).toEqual({
      setting: 'auto',
      source: 'default',
      rule: 'not-read-only',
      limit: 1,
      tool: 'change',
      cases: 3,
      serialCases: 3,
    });
  });

  it('meet other processes where the concurrency is 4, and fail', async () => {
    await using workspace = await createWorkspace();
    const { report, concurrency } = await runFolderGate(workspace, writeCases(['change', 'change', 'change']), {
      concurrency: '4',
    });
    expect(report.verdict.outcome).toBe('failed');
    expect(JSON.stringify(report.cases)).toContain('Another process has the folder open.');
    expect(concurrency).toMatchObject({ rule: 'given', limit: 4, source: 'concurrency' });
  });

  it('keep their position between others that run side by side', async () => {
    await using workspace = await createWorkspace();
    const suite = writeCases(['look', 'change', 'change', 'look']);
    const { report, concurrency, changes } = await runFolderGate(workspace, suite);
    expect(report.totals).toMatchObject({ passed: 6, failed: 0 });
    expect(changes).toBe('2 3');
    expect(concurrency).toMatchObject({ rule: 'not-read-only', limit: 4, tool: 'change', cases: 4, serialCases: 2 });
  });

  it('run alone in a second suite as well, whose server is connected to once the first suite has ended', async () => {
    await using workspace = await createWorkspace({
      'other.evals.yaml': writeCases(['change']).replace('Folder', 'Other'),
    });
    const { report } = await runFolderGate(workspace, writeCases(['change']));
    expect(report.suites.map(({ name, totals }) => [name, totals.passed])).toEqual([
      ['Folder', 1],
      ['Other', 1],
    ]);
  });
});

describe('iterations that may overlap', () => {
  it.each([
    ['call read-only tools alone', { looks: 2, others: 3 }, { rule: 'read-only', setting: 'auto', limit: 4 }],
    [
      'are called independent by their suite',
      { looks: 2, others: 3, head: 'independent: true\n' },
      { rule: 'independent', setting: 'auto', limit: 4, source: 'default' },
    ],
    [
      'have a concurrency in their suite',
      { looks: 1, others: 1, head: 'concurrency: 2\n' },
      { rule: 'given', setting: 2, limit: 2, source: 'folder.evals.yaml:2' },
    ],
  ])('run side by side where they %s', async (_, suite, concurrency) => {
    await using workspace = await createWorkspace();
    const ran = await runFolderGate(workspace, writeCases(['look', 'look'], suite));
    expect(ran.report.totals).toMatchObject({ passed: 2 * suite.looks, failed: 0 });
    expect(ran.concurrency).toMatchObject({ tool: null, serialCases: 0, ...concurrency });
  });

  it('run one at a time where the option says so, whatever the suite says', async () => {
    await using workspace = await createWorkspace();
    const suite = writeCases(['change', 'change'], { head: 'concurrency: 4\nindependent: true\n' });
    const { report, concurrency } = await runFolderGate(workspace, suite, { concurrency: '1' });
    expect(report.totals).toMatchObject({ passed: 2, failed: 0 });
    expect(concurrency).toMatchObject({ rule: 'given', setting: 1, limit: 1, source: 'concurrency', serialCases: 2 });
  });

  it('take turns on one process with `isolation: run`', async () => {
    await using workspace = await createWorkspace();
    const inputs = { isolation: 'run', concurrency: '4' };
    const { report, concurrency } = await runFolderGate(workspace, writeCases(['change', 'change']), inputs);
    expect(report.totals).toMatchObject({ passed: 2, failed: 0 });
    expect(concurrency).toMatchObject({ rule: 'one-process', limit: 1 });
  });
});
