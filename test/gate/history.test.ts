import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseHistory } from '../../src/history/history-record.ts';
import { runEmbeddedGate, writeSayingCases } from '../support/gate/embedded-gate.ts';
import { createWorkspace } from '../support/workspace.ts';

const evals = writeSayingCases('Says', ['a', 'b'], { head: 'policy: { minimumPassRate: 0% }\n' });
const inputs = { 'history-path': 'evals-history/history.jsonl' };
const night = (sha: string) => ({
  environment: {
    GITHUB_REPOSITORY: 'your-org/your-server',
    GITHUB_RUN_ID: '1',
    GITHUB_REF_NAME: 'main',
    GITHUB_SHA: sha.repeat(40),
  },
});

describe('a gate with a history', () => {
  it('records every night, shows the trend, and compares with the newest of a branch or one of a commit', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    const first = await runEmbeddedGate(
      workspace,
      { ...inputs, baseline: 'branch:main' },
      { says: 'a b', ...night('a') },
    );
    expect(first).toMatchObject({ exitCode: 0, report: { comparison: null, trend: { branch: 'main', runs: [] } } });
    expect(first.warnings).toEqual([
      'evals-history/history.jsonl has no gates yet, so the gate skips the comparison with branch:main.',
    ]);

    const second = await runEmbeddedGate(workspace, inputs, { says: 'b', ...night('b') });
    expect(second).toMatchObject({ exitCode: 0, report: { trend: { runs: [{ passed: 2, total: 2 }] } } });

    const third = await runEmbeddedGate(
      workspace,
      { ...inputs, baseline: 'branch:main' },
      { says: 'b', ...night('c') },
    );
    expect(third).toMatchObject({ exitCode: 0, report: { comparison: { baseline: { commit: 'b'.repeat(40) } } } });

    const fourth = await runEmbeddedGate(
      workspace,
      { ...inputs, baseline: 'commit:aaaaaaa' },
      { says: 'b', ...night('d') },
    );
    expect(fourth).toMatchObject({
      exitCode: 1,
      report: { verdict: { reasons: [{ code: 'regressed', caseId: 'a' }] } },
    });

    const { records } = parseHistory(await workspace.read('evals-history/history.jsonl'));
    expect(records.map(({ commit, outcome }) => `${commit?.[0]} ${outcome}`)).toEqual([
      'a passed',
      'b passed',
      'c passed',
      'd failed',
    ]);
  });

  it('names the branches that it has where it has none of the baseline’s', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    await runEmbeddedGate(workspace, { ...inputs, branch: 'develop' }, { says: 'a b' });
    await runEmbeddedGate(workspace, inputs, { says: 'a b' });
    const compared = (baseline: string) => runEmbeddedGate(workspace, { ...inputs, baseline }, { says: 'b' });
    expect((await compared('branch:main')).warnings).toEqual([
      'evals-history/history.jsonl has no gate of the branch main, so the gate skips the comparison. It has gates of: develop (1), no branch (1). Correct `baseline`, or name the branch of each gate with `branch`.',
    ]);
    expect((await compared('commit:abcdef0')).warnings).toEqual([
      'None of the 3 gates in evals-history/history.jsonl is conclusive and of commit:abcdef0, so the gate skips the comparison.',
    ]);
    expect((await compared('branch:develop')).report.comparison).not.toBeNull();
  });

  it('goes on after a line that was cut off, and says so', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    await runEmbeddedGate(workspace, inputs, { says: 'a b' });
    await appendFile(join(workspace.path, 'evals-history/history.jsonl'), '{"v":1,"ti');
    const second = await runEmbeddedGate(workspace, inputs, { says: 'a b' });
    expect(second.warnings).toEqual(['evals-history/history.jsonl: 1 line is no record and left out.']);
    const { records, skipped } = parseHistory(await workspace.read('evals-history/history.jsonl'));
    expect([records.length, skipped]).toEqual([2, 1]);
  });

  it('is a configuration error when the history is no file, or a baseline needs one', async () => {
    await using workspace = await createWorkspace({ 'x.evals.yaml': evals });
    await mkdir(join(workspace.path, 'evals-history/history.jsonl'), { recursive: true });
    await expect(runEmbeddedGate(workspace, inputs)).rejects.toThrow(/^history-path: .*EISDIR.*\(bad-history-path\)$/);
    await expect(runEmbeddedGate(workspace, { baseline: 'branch:main' })).rejects.toThrow('(needs-history-path)');
    await expect(runEmbeddedGate(workspace, { ...inputs, baseline: 'commit:main' })).rejects.toThrow('(bad-baseline)');
  });
});
