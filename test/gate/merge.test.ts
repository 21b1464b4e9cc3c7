import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseReport } from '../../src/report/report-json.ts';
import { renderSummary } from '../../src/report/summary.ts';
import { runCommand } from '../support/process/command.ts';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import { listMergeIssues, mergeShards } from '../support/gate/merged-gate.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const head = 'policy: { minimumPassRate: 60% }\n';
const files = {
  'one.evals.yaml': writeSayingCases('One', ['a', 'b', 'c'], { head }),
  'two.evals.yaml': writeSayingCases('Two', ['d', 'e'], { head }),
};

async function runShards(workspace: Workspace, says: string, inputs: Record<string, string> = {}): Promise<number[]> {
  const exitCodes: number[] = [];
  for (const index of [1, 2]) {
    const own = { ...inputs, shard: `${index}/2`, 'report-dir': `shards/report-${index}` };
    exitCodes.push((await runEmbeddedGate(workspace, own, { says })).exitCode);
  }
  return exitCodes;
}

/** Runs the command in its own process, for its exit code and output. */
const runMerge = (workspace: Workspace, ...args: string[]) =>
  runCommand(['merge', 'shards', ...args], { cwd: workspace.path });

describe('merged shards', () => {
  it('have the report of one gate', async () => {
    await using workspace = await createWorkspace(files);
    const whole = await runEmbeddedGate(workspace, {}, { says: 'a b d e' });
    await runShards(workspace, 'a b d e');
    const merged = await runMerge(workspace, '--report-formats', 'badge');
    expect(merged).toMatchObject({ exitCode: whole.exitCode });

    const report = parseReport(JSON.parse(await workspace.read('mcp-eval-report/report.json')));
    expect(report.totals).toEqual(whole.report.totals);
    expect(report.verdict.outcome).toBe(whole.report.verdict.outcome);
    expect(report.shard).toBeNull();
    const list = ({ cases }: typeof report) =>
      cases
        .map(({ suiteId, id, outcome, definitionHash }) => `${suiteId}/${id} ${outcome} ${definitionHash}`)
        .toSorted();
    expect(list(report)).toEqual(list(whole.report));
    expect(await workspace.read('mcp-eval-report/junit.xml')).toContain('tests="5"');
    expect(await workspace.read('mcp-eval-report/badge.svg')).toContain('<svg');
  });

  it('pass by the minimum of the whole although a part is below it', async () => {
    await using workspace = await createWorkspace(files);
    expect(await runShards(workspace, 'a b d e')).toContain(1);
    expect(await mergeShards(workspace)).toMatchObject({ exitCode: 0 });
    expect(await runMerge(workspace, '--min-pass-rate', '70%')).toMatchObject({ exitCode: 1 });
  });

  it('are judged as a whole by a policy that is given where they are merged', async () => {
    await using workspace = await createWorkspace({
      ...files,
      'met.yaml': 'suites:\n  One:\n    minimumPassRate: 60%\n    tags: { fast: 60% }\n',
      'broken.yaml': 'suites:\n  One:\n    minimumPassRate: 60%\n    tags: { fast: 70% }\n',
      'one.evals.yaml': writeSayingCases('One', ['a', 'b', 'c']).replaceAll(
        '    steps:',
        '    tags: [fast]\n    steps:',
      ),
    });
    await runShards(workspace, 'a b d e', { 'min-pass-rate': '0%' });
    expect(await mergeShards(workspace, { policy: 'met.yaml' })).toMatchObject({ exitCode: 0 });
    const { exitCode, report } = await mergeShards(workspace, { policy: 'broken.yaml' });
    expect(exitCode).toBe(1);
    expect(renderSummary(report)).toContain('Of the tag "fast", 2 of 3');
  });

  it('judge what a policy requires of a case in the shard that has it alone', async () => {
    await using workspace = await createWorkspace({
      ...files,
      'p.yaml': 'suites: { One: { required: [a, c], cases: { b: 50% } } }\n',
    });
    expect(await runShards(workspace, 'a b c d e', { policy: 'p.yaml' })).toEqual([0, 0]);
    expect(await mergeShards(workspace)).toMatchObject({ exitCode: 0 });
    expect(await runShards(workspace, 'a b d e', { policy: 'p.yaml' })).toContain(1);
    expect(await mergeShards(workspace)).toMatchObject({ exitCode: 1 });
  });

  it('are compared with a baseline and added to the history as one gate', async () => {
    await using workspace = await createWorkspace(files);
    await runEmbeddedGate(workspace, { 'history-path': 'history.jsonl' }, { says: 'a b c d e' });
    await runShards(workspace, 'a b d e', { 'history-path': 'history.jsonl' });
    const inputs = { baseline: 'mcp-eval-report', 'history-path': 'history.jsonl' };
    const { exitCode, report } = await mergeShards(workspace, inputs);
    expect(exitCode).toBe(1);
    expect(renderSummary(report)).toContain('"Says c" regressed');
    expect((await workspace.read('history.jsonl')).trim().split('\n')).toHaveLength(2);
  });

  it('are refused with one error when a shard is missing or of other evals', async () => {
    await using workspace = await createWorkspace(files);
    await runShards(workspace, 'a b d e');
    await runEmbeddedGate(
      workspace,
      { shard: '2/2', runs: '2', 'report-dir': 'shards/report-2' },
      { says: 'a b c d e' },
    );
    const other = await runMerge(workspace);
    expect(other).toMatchObject({ exitCode: 2, stdout: '' });
    expect(other.stderr).toMatch(
      /^merge: The shards cannot be joined: shards\/report-2: cut otherwise than .*\(bad-merge\)\n1 problem/,
    );

    await rm(join(workspace.path, 'shards/report-2'), { recursive: true });
    expect((await listMergeIssues(workspace)).join('\n')).toContain('1 shard of 2 missing: 2 (bad-merge)');
    await rm(join(workspace.path, 'shards/report-1/report.json'));
    expect((await listMergeIssues(workspace)).join('\n')).toContain(
      'shards/report-1: it holds no report.json (bad-merge)',
    );
    await rm(join(workspace.path, 'shards'), { recursive: true });
    expect((await listMergeIssues(workspace)).join('\n')).toContain('shards: there is no such directory (bad-merge)');
  });

  it('reject options that say what to run', async () => {
    await using workspace = await createWorkspace(files);
    const inputs = { merge: 'shards', shard: '1/2', 'server-command': 'node server.js' };
    await expect(runEmbeddedGate(workspace, inputs)).rejects.toThrow(
      'leave out `shard`, `server-command`, `evals` (merge-and-run)',
    );
  });
});
