import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CancelledError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createRedactor, Secret } from '../../../src/base/redaction.ts';
import { parseGateOptions } from '../../../src/gate/options.ts';
import { planGate } from '../../../src/gate/plan/plan.ts';
import { publishToGitHub } from '../../../src/gate/publish/publish-github.ts';
import type { Report } from '../../../src/model/report.ts';
import { type GitHubApi, refusals, startGitHubApi } from '../../support/github/github-api.ts';
import { createGitHubJob, jobToken } from '../../support/runner/github-job.ts';
import { findClosedPort } from '../../support/network/http-server.ts';
import { createHostileReport, createRedReport, createReport } from '../../support/factories/report-factory.ts';
import { createCaseResults, createFailure, createSuiteResults } from '../../support/factories/results-factory.ts';
import {
  createMergeGroupEvent,
  createPullRequestEvent,
  createPullRequestTargetEvent,
  createPushEvent,
  createScheduleEvent,
} from '../../support/runner/events.ts';
import { VirtualClock } from '../../support/clocks/virtual-clock.ts';
import { createWorkspace } from '../../support/workspace.ts';

const report: Report = { ...createRedReport(), revision: { commit: '1'.repeat(40), branch: 'PR 7' } };

interface Job {
  texts?: Record<string, string>;
  job?: Parameters<typeof createGitHubJob>[2];
  cwd?: string;
  report?: Report;
  signal?: AbortSignal;
  /** A secret of the job in addition to the token. */
  secret?: string;
}

/** Plans a gate in such a job and publishes the report as if the gate had ended with it. */
async function publish(apiUrl: string, options: Job = {}) {
  await using workspace = await createWorkspace({ 'packages/server/package.json': '{}' });
  const environment = await createGitHubJob(workspace, apiUrl, options.job);
  const tests = '- title: Echoes\n  steps: [{ toolCall: echo }]\n';
  const texts = { tests, 'server-command': 'x', 'report-to': 'comment', 'github-token': jobToken, ...options.texts };
  const plan = await planGate(parseGateOptions(texts), {
    cwd: join(workspace.path, options.cwd ?? '.'),
    environment: { ...environment, ...options.job?.variables },
  });
  const said: string[] = [];
  const warnings: string[] = [];
  const secrets = options.secret === undefined ? [] : [new Secret(options.secret)];
  if (plan.github !== null) {
    await publishToGitHub(options.report ?? report, plan.github, {
      clock: new VirtualClock(),
      logger: { ...silentLogger, info: (text) => said.push(text), warning: (text) => warnings.push(text) },
      redactor: createRedactor([...plan.secrets, ...secrets]),
      signal: options.signal ?? new AbortController().signal,
    });
  }
  return { plan, said, warnings, notes: plan.notes };
}

const readComment = (api: GitHubApi) => api.comments.map(({ body }) => body).join('\n---\n');

describe('a gate with comment', () => {
  it('comments on the pull request, with links to the run and to the lines', async () => {
    await using api = await startGitHubApi();
    const { said, warnings, notes } = await publish(api.url, { job: { attempt: 2 } });
    expect({ warnings, notes }).toEqual({ warnings: [], notes: [] });
    expect(said).toEqual([
      'Commented on pull request 7: https://github.com/your-org/your-server/pull/7#issuecomment-1001',
    ]);
    const lines = readComment(api).split('\n');
    expect(lines[0]).toMatch(
      /^<!-- mcp-eval-ci key=[0-9a-f]{16} run=41 number=12 attempt=2 verdict=failed digest=[0-9a-f]{32} -->$/,
    );
    expect(lines[1]).toMatch(/^<!-- mcp-eval-ci commit=1111111 failed=[0-9a-f,]{21} unscored= -->$/);
    expect(lines[2]).toBe('### ❌ Eval gate failed: `evals / test`');
    const blob = `https://github.com/your-org/your-server/blob/${'1'.repeat(40)}`;
    expect(readComment(api)).toContain(`[\`evals/math.evals.yaml:7\`](<${blob}/evals/math.evals.yaml#L7>)`);
    expect(lines.at(-2)).toBe(
      '[Run 12, attempt 2](<https://github.com/your-org/your-server/actions/runs/41/attempts/2>) · commit `1111111`',
    );
  });

  it('updates it in the next run', async () => {
    await using api = await startGitHubApi();
    await publish(api.url);
    api.runs.set('41', { number: 13, attempt: 1 });
    const { said } = await publish(api.url, { job: { run: 13 } });
    expect(said).toEqual([
      'Updated the comment on pull request 7: https://github.com/your-org/your-server/pull/7#issuecomment-1001',
    ]);
    expect(readComment(api)).toContain('Since the last run: 2 cases still fail.');
    expect((await publish(api.url)).said).toEqual([
      'A newer run has posted its verdict on pull request 7; that comment stays.',
    ]);
    expect(api.comments).toHaveLength(1);
  });

  it('has one for every workflow, job, entry of a matrix and step of the action', async () => {
    await using api = await startGitHubApi();
    const jobs: Job[] = [
      {},
      { job: { variables: { GITHUB_JOB: 'other' } } },
      { job: { variables: { GITHUB_ACTION: 'second' } } },
      { job: { variables: { GITHUB_WORKFLOW_REF: 'your-org/your-server/.github/workflows/b.yml@refs/heads/main' } } },
      { texts: { 'comment-id': '1' } },
    ];
    for (const job of [...jobs, ...jobs]) await publish(api.url, job);
    expect(api.comments).toHaveLength(jobs.length);
    // GitHub numbers scripts across the job, so that another script before this one would change its name.
    for (const step of ['__run', '__run_2']) await publish(api.url, { job: { variables: { GITHUB_ACTION: step } } });
    expect(api.comments).toHaveLength(jobs.length + 1);
  });

  it('finds the lines of a job that works in a directory of its own', async () => {
    await using api = await startGitHubApi();
    await publish(api.url, { cwd: 'packages/server' });
    expect(readComment(api)).toContain(`/packages/server/evals/math.evals.yaml#L7>`);
  });

  it('links no path that leads out of the repository', async () => {
    await using api = await startGitHubApi();
    for (const path of ['../../../evil', '/etc/passwd', 'C:\\x', 'a/../../b', 'tests']) {
      await publish(api.url, { report: { ...createHostileReport(path), revision: report.revision } });
      expect(readComment(api)).not.toContain('/blob/');
    }
  });

  it.each([
    ['pull_request of a fork', createPullRequestEvent({ isFork: true }), 7],
    ['pull_request_target', createPullRequestTargetEvent(), 7],
    ['merge_group', createMergeGroupEvent(), 7],
  ])('knows the pull request of %s', async (_, event, number) => {
    await using api = await startGitHubApi();
    const { plan } = await publish(api.url, { job: { event }, texts: { 'allow-pull-request-target': 'true' } });
    expect(plan.github?.comment?.pullNumber).toBe(number);
    expect(api.comments.map(({ issue }) => issue)).toEqual([number]);
  });

  it.each([
    ['push', createPushEvent()],
    ['schedule', createScheduleEvent()],
  ])('says nothing on %s, where there is no pull request', async (_, event) => {
    await using api = await startGitHubApi();
    expect(await publish(api.url, { job: { event } })).toMatchObject({ said: [], warnings: [], notes: [] });
    expect(api.requests).toEqual([]);
  });

  it('sends no request if `report-to` does not need GitHub', async () => {
    await using api = await startGitHubApi();
    expect((await publish(api.url, { texts: { 'report-to': 'summary' } })).plan.github).toBeNull();
    expect(api.requests).toEqual([]);
  });

  it('takes secrets out of what it posts', async () => {
    await using api = await startGitHubApi();
    const secret = 'a-secret-of-the-job-0123456789';
    await publish(api.url, { report: createHostileReport(`leaks ${secret} and ${jobToken}`), secret });
    expect(readComment(api)).toContain('leaks *** and ***');
    expect(readComment(api)).not.toMatch(/a-secret|canary/);
  });
});

describe('a gate with check-run', () => {
  it('adds a check next to the comment', async () => {
    await using api = await startGitHubApi();
    const { said } = await publish(api.url, { texts: { 'report-to': 'comment, check-run' } });
    expect(said[1]).toBe('Added a check: https://github.com/your-org/your-server/runs/1');
    expect([api.comments.length, api.checks.length]).toEqual([1, 1]);
  });

  it('adds one where there is no pull request, and without a comment', async () => {
    await using api = await startGitHubApi();
    const { said } = await publish(api.url, {
      texts: { 'report-to': 'check-run' },
      job: { event: createPushEvent() },
    });
    expect(said).toEqual(['Added a check: https://github.com/your-org/your-server/runs/1']);
    expect(api.asked()).toEqual(['POST check-runs']);
  });

  it('warns of its own permission, and still comments', async () => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST check-runs', answer: refusals.forbidden });
    const { said, warnings } = await publish(api.url, { texts: { 'report-to': 'comment, check-run' } });
    expect(said).toHaveLength(1);
    expect(warnings).toEqual([
      'Could not add a check: GitHub answered 403 to POST /repos/your-org/your-server/check-runs: Resource not accessible by integration. The token needs the permission `checks: write`. The verdict stands.',
    ]);
  });

  it('adds it where the comment is refused', async () => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST issues', answer: refusals.forbidden });
    const { warnings } = await publish(api.url, { texts: { 'report-to': 'comment, check-run' } });
    expect([warnings.length, api.checks.length]).toEqual([1, 1]);
  });
});

describe('a gate that keeps issues', () => {
  const texts = { 'report-to': 'issue' };
  const nightly = { texts, job: { event: createScheduleEvent() } };

  it('opens an issue for every suite that fails, and for none that passes', async () => {
    await using api = await startGitHubApi();
    const failing = createSuiteResults({
      cases: [createCaseResults({ passed: 0, failed: 1, failures: [createFailure()] })],
    });
    const suites = [
      failing,
      createSuiteResults({ suiteId: 'search', name: 'Search' }),
      { ...failing, suiteId: 'b', name: 'B @octocat' },
    ];
    const { said } = await publish(api.url, {
      ...nightly,
      report: createReport({ suites, revision: report.revision }),
    });
    expect(said).toEqual([
      'The issue of Math server is opened: https://github.com/your-org/your-server/issues/100',
      'The issue of B @octocat is opened: https://github.com/your-org/your-server/issues/101',
    ]);
    expect(api.issues.map(({ title }) => title)).toEqual(['Evals fail: Math server', 'Evals fail: B @octocat']);
    const [, ...lines] = api.issues[1]?.body.split('\n') ?? [];
    expect(lines[0]).toBe('### ❌ Eval gate failed: `evals / test`');
    expect(lines.join('\n')).not.toContain('Search');
  });

  it('closes it in the night in which the suite passes', async () => {
    await using api = await startGitHubApi();
    await publish(api.url, nightly);
    await publish(api.url, { ...nightly, report: createReport(), job: { ...nightly.job, run: 13 } });
    expect(api.issues.map(({ state }) => state)).toEqual(['closed']);
  });

  it('opens none on a pull request', async () => {
    await using api = await startGitHubApi();
    expect((await publish(api.url, { texts })).plan.github).toBeNull();
    expect(api.requests).toEqual([]);
  });

  it('warns of its own permission', async () => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST issues', answer: refusals.forbidden });
    const { warnings } = await publish(api.url, nightly);
    expect(warnings).toEqual([
      expect.stringMatching(/^Could not keep the issues .*`issues: write`\. The verdict stands\.$/),
    ]);
  });
});

describe('an obstacle to a comment', () => {
  const permission =
    'The token needs the permission `pull-requests: write`, which jobs of forks and of Dependabot never have; the two workflows that comment on their pull requests: https://github.com/your-org/mcp-eval-ci/blob/v0.1.0/docs/comments.md. The verdict stands.';

  it.each([
    ['forbidden', '403', 'Resource not accessible by integration.'],
    ['notFound', '404', 'Not Found.'],
    ['gone', '410', 'Gone.'],
    ['tooLong', '422', 'Validation Failed: Body is too long.'],
  ] as const)('is a warning that names the permission where it is %s', async (name, status, said) => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST issues/7/comments', answer: refusals[name] });
    expect((await publish(api.url)).warnings).toEqual([
      `Could not comment on pull request 7: GitHub answered ${status} to POST /repos/your-org/your-server/issues/7/comments: ${said} ${permission}`,
    ]);
  });

  it('is a warning without advice on permissions if a rate limit lasts too long', async () => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'GET issues/7', answer: refusals.secondaryLimit({ 'retry-after': '600' }) });
    const { warnings } = await publish(api.url);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/It asks to wait 10 min\. The verdict stands\.$/);
  });

  it('is waited out if it is a rate limit of a minute', async () => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST issues/7/comments', times: 1, answer: refusals.secondaryLimit() });
    expect((await publish(api.url)).warnings).toEqual([]);
    expect(api.comments).toHaveLength(1);
  });

  it('is a warning if GitHub does not respond', async () => {
    const port = await findClosedPort();
    const { warnings } = await publish(`http://127.0.0.1:${port}`);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      new RegExp(
        `^Could not comment on pull request 7: No answer from 127\\.0\\.0\\.1:${port} .* The verdict stands\\.$`,
      ),
    );
  });

  it.each([
    ['no token', { texts: { 'github-token': '' } }, 'github-token: is missing'],
    ['no repository', { job: { variables: { GITHUB_REPOSITORY: '' } } }, 'GITHUB_REPOSITORY: does not say which'],
    [
      'a proxy that is none',
      { job: { variables: { https_proxy: 'ftp://x' } } },
      'https_proxy: https_proxy names a proxy',
    ],
  ])('is a note of the plan where there is %s', async (_, options, said) => {
    await using api = await startGitHubApi();
    const { plan, notes } = await publish(api.url, options);
    expect(plan.github).toBeNull();
    expect(notes).toEqual([
      expect.stringContaining(`The gate will post nothing on GitHub except the job's own results: ${said}`),
    ]);
  });

  it('is no warning in a job that was cancelled', async () => {
    await using api = await startGitHubApi();
    const { warnings, said } = await publish(api.url, { signal: AbortSignal.abort(new CancelledError()) });
    expect({ warnings, said, requests: api.requests.length }).toEqual({ warnings: [], said: [], requests: 0 });
  });
});
