import { describe, expect, it } from 'vitest';
import { parseGateOptions } from '../../../src/gate/options.ts';
import { planGate } from '../../../src/gate/plan/plan.ts';
import { startGitHubApi } from '../../support/github/github-api.ts';
import {
  commitFiles,
  createPullRequest,
  describePullRequest,
  type FileChange,
  type PullRequestCheckout,
  runGitIn,
} from '../../support/github/pull-request.ts';
import { jobToken } from '../../support/runner/github-job.ts';
import { createWorkspace, greenEvals } from '../../support/workspace.ts';

type Files = Readonly<Record<string, FileChange>>;

const directory = 'evals/recordings/everything';
const base = {
  'evals/a.yaml': greenEvals,
  [`${directory}/echo.openai-m.jsonl`]: '{"answer":"hello"}\n',
  [`${directory}/sum.openai-m.jsonl`]: '{"answer":"5"}\n',
};

async function listNotes({ workspace, environment }: PullRequestCheckout, texts: Record<string, string> = {}) {
  const inputs = { 'server-command': 'node server.js', evals: 'evals/*.yaml', 'policy-ref': 'base', ...texts };
  const plan = await planGate(parseGateOptions(inputs), { cwd: workspace.path, environment });
  expect(plan.protectionFindings).toEqual([]);
  return plan.policyNotes;
}

async function listNotesOf(before: Files, head: Files): Promise<string[]> {
  const pullRequest = await createPullRequest(before, {});
  await using workspace = pullRequest.workspace;
  await commitFiles(workspace, head);
  return await listNotes(pullRequest);
}

describe('the notes of a change to recordings', () => {
  it.each<[string, Files, string]>([
    ['a changed one', { [`${directory}/sum.openai-m.jsonl`]: '{"answer":"6"}\n' }, 'changed sum.openai-m.jsonl'],
    ['a removed one', { [`${directory}/sum.openai-m.jsonl`]: null }, 'removed sum.openai-m.jsonl'],
    ['a new one', { [`${directory}/new.openai-m.jsonl`]: '{}\n' }, 'added new.openai-m.jsonl'],
    [
      'several, of which three of a kind',
      {
        [`${directory}/sum.openai-m.jsonl`]: null,
        ...Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [`${directory}/${name}.jsonl`, '{}\n'])),
      },
      'added a.jsonl, b.jsonl, c.jsonl, 2 more; removed sum.openai-m.jsonl',
    ],
    [
      'one of which a link leads to another file',
      { [`${directory}/sum.openai-m.jsonl`]: { link: 'echo.openai-m.jsonl' } },
      'changed sum.openai-m.jsonl',
    ],
  ])('name %s', async (_, head, what) => {
    expect(await listNotesOf(base, head)).toEqual([
      `This pull request changes recordings of the suite "Everything" in evals/recordings/everything: ${what}. Review their answers, which replace calls of models.`,
    ]);
  });

  it.each<[string, Files]>([
    ['recordings that are the same', { 'README.md': 'Read me.\n' }],
    [
      'recordings with the line ends of Windows',
      { [`${directory}/sum.openai-m.jsonl`]: '{"answer":"5"}\r\n', 'README.md': '' },
    ],
    ['other files', { [`${directory}/README.md`]: 'Read me.\n', 'evals/recordings/x.jsonl': '{}\n' }],
  ])('name none of %s', async (_, head) => {
    expect(await listNotesOf(base, head)).toEqual([]);
  });

  it('name no new file that git does not track, and one that it does', async () => {
    const untracked = await createPullRequest(base, { [`${directory}/new.jsonl`]: '{}\n' });
    await using workspace = untracked.workspace;
    expect(await listNotes(untracked)).toEqual([]);
    runGitIn(workspace, 'add', '-A');
    expect(await listNotes(untracked)).toEqual([expect.stringContaining('added new.jsonl')]);
  });

  it('name what the change did, and not what the base did since', async () => {
    await using workspace = await createWorkspace();
    runGitIn(workspace, 'init', '-q', '-b', 'main');
    await commitFiles(workspace, base);
    runGitIn(workspace, 'checkout', '-q', '-b', 'feature');
    await commitFiles(workspace, { [`${directory}/echo.openai-m.jsonl`]: '{"answer":"edited"}\n' });
    runGitIn(workspace, 'checkout', '-q', 'main');
    const sha = await commitFiles(workspace, {
      [`${directory}/sum.openai-m.jsonl`]: '{"answer":"renewed"}\n',
      [`${directory}/more.jsonl`]: '{}\n',
    });
    runGitIn(workspace, 'checkout', '-q', 'feature');
    const environment = await describePullRequest(workspace, sha);
    expect(await listNotes({ workspace, environment })).toEqual([
      expect.stringContaining(`${directory}: changed echo.openai-m.jsonl. Review`),
    ]);
  });

  it('compare with the base on GitHub where git does not have it', async () => {
    await using api = await startGitHubApi();
    const sha = 'b'.repeat(40);
    api.files.set(sha, base);
    await using workspace = await createWorkspace({ ...base, [`${directory}/sum.openai-m.jsonl`]: '{"answer":"6"}\n' });
    runGitIn(workspace, 'init', '-q', '-b', 'feature');
    const environment = {
      ...(await describePullRequest(workspace, sha)),
      GITHUB_API_URL: api.url,
      GITHUB_REPOSITORY: 'your-org/your-server',
      GITHUB_WORKSPACE: workspace.path,
    };
    expect(await listNotes({ workspace, environment }, { 'github-token': jobToken })).toEqual([
      expect.stringContaining(`${directory}: changed sum.openai-m.jsonl. Review`),
    ]);
  });
});
