import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseHistory } from '../../src/history/history-record.ts';
import { ciExamples } from '../support/runner/ci-variables.ts';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const evals = (minimum: string) =>
  writeSayingCases('Says', ['a', 'b'], { head: `policy: { minimumPassRate: ${minimum} }\n` });

function git({ path }: Workspace, ...args: string[]): string {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@t.example', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', [...identity, ...args], { cwd: path, encoding: 'utf8', stdio: 'pipe' }).trim();
}

/** Lists the variables of a job, without the commits, because those of the checkout apply. */
function listVariables(name: string): Record<string, string> {
  const variables = Object.entries(ciExamples[name]?.variables ?? {});
  return Object.fromEntries(variables.filter(([, value]) => !/^[0-9a-f]{12,}$/.test(value)));
}

describe('a merge request on GitLab that lowers its minimum', () => {
  /** Checks out like GitLab's runner: a detached HEAD, and only the fetched part of the target branch. */
  async function createMergeRequest({ fetches }: { fetches: boolean }): Promise<Workspace & { upstream: Workspace }> {
    const upstream = await createWorkspace({ 'x.evals.yaml': evals('100%') });
    git(upstream, 'init', '-q', '-b', 'main');
    git(upstream, 'add', '.');
    git(upstream, 'commit', '-q', '-m', 'base');
    git(upstream, 'checkout', '-q', '-b', 'feature/x');
    await writeFile(join(upstream.path, 'x.evals.yaml'), evals('0%'));
    git(upstream, 'commit', '-q', '-a', '-m', 'lower');
    const workspace = await createWorkspace();
    git(workspace, 'init', '-q');
    git(workspace, 'remote', 'add', 'origin', upstream.path);
    git(workspace, 'fetch', '-q', 'origin', 'feature/x');
    git(workspace, 'checkout', '-q', 'FETCH_HEAD');
    if (fetches) git(workspace, 'fetch', '-q', 'origin', '+refs/heads/main:refs/remotes/origin/main');
    return { ...workspace, upstream };
  }
  const environment = listVariables('GitLab, merge request');

  it('is judged by the policy of the branch that it goes into', async () => {
    const mergeRequest = await createMergeRequest({ fetches: true });
    await using workspace = mergeRequest;
    await using _upstream = mergeRequest.upstream;
    const inputs = { 'policy-ref': 'base' };
    const { exitCode, report } = await runEmbeddedGate(workspace, inputs, { says: 'a', environment });
    expect(exitCode).toBe(1);
    expect(report).toMatchObject({
      revision: { branch: 'MR 7', commit: git(workspace, 'rev-parse', 'HEAD') },
      suites: [{ minimumPassRate: 1, minimumPassRateSource: 'main:x.evals.yaml:2' }],
      notes: ['The policy in x.evals.yaml is changed by this merge request; that of main counts.'],
    });
  });

  it('ends with exit code 2 where that branch was not fetched', async () => {
    const mergeRequest = await createMergeRequest({ fetches: false });
    await using workspace = mergeRequest;
    await using _upstream = mergeRequest.upstream;
    const judged = runEmbeddedGate(workspace, { 'policy-ref': 'base' }, { says: 'a', environment });
    await expect(judged).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('git fetch origin') });
  });
});

describe('a regression on Buildkite', () => {
  it('fails the change with baseline: branch:main', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals('0%') });
    const inputs = { 'history-path': 'history.jsonl', baseline: 'branch:main' };
    const first = await runEmbeddedGate(workspace, inputs, {
      says: 'a b',
      environment: listVariables('Buildkite, push to the default branch'),
    });
    expect(first.exitCode).toBe(0);
    const second = await runEmbeddedGate(workspace, inputs, {
      says: 'b',
      environment: listVariables('Buildkite, pull request'),
    });
    expect(second).toMatchObject({ exitCode: 1, warnings: [], report: { verdict: { reasons: [{ caseId: 'a' }] } } });
    const { records } = parseHistory(await workspace.read('history.jsonl'));
    expect(records.map(({ branch }) => branch)).toEqual(['main', 'PR 7']);
  });
});

describe('probation on GitLab', () => {
  it('does not end through gates of merge requests', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals('100%') });
    const inputs = { 'history-path': 'history.jsonl', policy: { probation: 1 } };
    const run = (name: string) => runEmbeddedGate(workspace, inputs, { says: 'a b', environment: listVariables(name) });
    expect((await run('GitLab, merge request')).exitCode).toBe(3);
    expect((await run('GitLab, push to the default branch')).exitCode).toBe(3);
    expect((await run('GitLab, merge request')).exitCode).toBe(0);
  });
});
