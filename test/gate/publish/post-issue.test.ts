import { describe, expect, it } from 'vitest';
import { startDeadline } from '../../../src/base/time.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { Secret } from '../../../src/base/redaction.ts';
import { buildKey, nameIssues, renderMarker } from '../../../src/gate/plan/marker.ts';
import { type IssueDraft, postIssue } from '../../../src/gate/publish/post-issue.ts';
import { openGitHub } from '../../../src/github/github-client.ts';
import type { VerdictOutcome } from '../../../src/model/verdict.ts';
import { actionsBot, type GitHubApi, refusals, otherUser, startGitHubApi } from '../../support/github/github-api.ts';
import { hangUp } from '../../support/network/http-server.ts';
import { VirtualClock } from '../../support/clocks/virtual-clock.ts';

const repository = { owner: 'your-org', repo: 'your-server' };
const key = buildKey(['nightly.yml', 'math']);

function createDraft(outcome: VerdictOutcome, run: number, own = key): IssueDraft {
  return {
    repository,
    workflow: '.github/workflows/evals.yml',
    marker: { key: own, run: { id: String(run), number: run, attempt: 1 }, outcome },
    title: 'Evals fail: Math',
    render: () => `run ${run} ${outcome}`,
  };
}

async function post(api: GitHubApi, outcome: VerdictOutcome, run: number, own = key): Promise<string> {
  api.runs.set(String(run), { number: run, attempt: 1 });
  const clock = new VirtualClock();
  const deadline = startDeadline(clock, 120_000, 'Asking GitHub');
  const token = new Secret('ghs_canaryCanaryCanary');
  await using client = openGitHub({ apiUrl: api.url, token, clock, deadline, logger: silentLogger });
  return (await postIssue(client, createDraft(outcome, run, own), silentLogger)).kind;
}

const read = (api: GitHubApi) => api.issues.map(({ state, body }) => [state, body.split('\n')[1]]);

describe('postIssue', () => {
  it('opens one issue, updates it, closes it on recovery and opens it again', async () => {
    await using api = await startGitHubApi();
    const posted: unknown[] = [];
    for (const [run, outcome] of (
      ['passed', 'failed', 'failed', 'inconclusive', 'passed', 'passed', 'failed'] as const
    ).entries()) {
      posted.push([await post(api, outcome, run), ...read(api).flat()]);
    }
    expect(posted).toEqual([
      ['unwanted'],
      ['opened', 'open', 'run 1 failed'],
      ['updated', 'open', 'run 2 failed'],
      ['unwanted', 'open', 'run 2 failed'],
      ['closed', 'closed', 'run 4 passed'],
      ['unwanted', 'closed', 'run 4 passed'],
      ['opened', 'open', 'run 6 failed'],
    ]);
    expect(api.issues.map(({ title }) => title)).toEqual(['Evals fail: Math']);
  });

  it('keeps the issues of suites apart', async () => {
    await using api = await startGitHubApi();
    await post(api, 'failed', 1);
    await post(api, 'failed', 1, buildKey(['nightly.yml', 'search']));
    await post(api, 'passed', 2);
    expect(read(api)).toEqual([
      ['closed', 'run 2 passed'],
      ['open', 'run 1 failed'],
    ]);
  });

  it('lets no older run overwrite the issue of a newer one', async () => {
    await using api = await startGitHubApi();
    await post(api, 'failed', 1);
    await post(api, 'passed', 3);
    expect(await post(api, 'failed', 2)).toBe('outdated');
    expect(read(api)).toEqual([['closed', 'run 3 passed']]);
  });

  it('writes its issue in spite of a marker of a run that GitHub does not know', async () => {
    await using api = await startGitHubApi();
    const body = `${renderMarker(createDraft('passed', 9).marker, nameIssues(repository))}\nAll is well.`;
    api.issues.push({ number: 1, state: 'closed', title: 'x', body, user: actionsBot });
    expect(await post(api, 'failed', 2)).toBe('opened');
    expect(read(api)).toEqual([['open', 'run 2 failed']]);
  });

  it('does not change issues of other authors, nor its own pull requests', async () => {
    await using api = await startGitHubApi();
    const body = `${renderMarker(createDraft('failed', 0).marker, nameIssues(repository))}\ntheirs`;
    const other = { state: 'open', title: 'x', body };
    api.issues.push({ ...other, number: 1, user: otherUser });
    api.issues.push({ ...other, number: 2, user: { id: 666, login: actionsBot.login } });
    api.issues.push({ ...other, number: 3, user: actionsBot, pull_request: {} });
    expect(await post(api, 'failed', 1)).toBe('opened');
    expect(read(api).map(([, text]) => text)).toEqual(['theirs', 'theirs', 'theirs', 'run 1 failed']);
  });

  it('finds its issue behind many others', async () => {
    await using api = await startGitHubApi();
    await post(api, 'failed', 1);
    for (let number = 201; number <= 350; number += 1) {
      api.issues.push({ number, state: 'open', title: 'x', body: '', user: actionsBot });
    }
    expect(await post(api, 'failed', 2)).toBe('updated');
  });

  it('opens one issue although the response to the first request was lost', async () => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST issues', times: 1, answer: hangUp, isCarriedOut: true });
    await post(api, 'failed', 1);
    expect(read(api)).toEqual([['open', 'run 1 failed']]);
  });

  it('throws an error about the missing permission', async () => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST issues', answer: refusals.forbidden });
    await expect(post(api, 'failed', 1)).rejects.toMatchObject({ status: 403 });
  });
});
