import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../../src/base/errors.ts';
import { parseGateOptions } from '../../../src/gate/options.ts';
import { renderReportJson } from '../../../src/report/report-json.ts';
import { planGate } from '../../../src/gate/plan/plan.ts';
import { ciExamples } from '../../support/runner/ci-variables.ts';
import { type GitHubApi, refusals, startGitHubApi } from '../../support/github/github-api.ts';
import { jobToken } from '../../support/runner/github-job.ts';
import { json } from '../../support/network/http-server.ts';
import { createPullRequest, runGitIn as git } from '../../support/github/pull-request.ts';
import { createReport } from '../../support/factories/report-factory.ts';
import { createWorkspace, greenEvals } from '../../support/workspace.ts';

const withPolicy = (policy: string) => `${greenEvals}policy: ${policy}\n`;

async function planBase(
  { workspace, environment }: Awaited<ReturnType<typeof createPullRequest>>,
  texts: Record<string, string> = {},
) {
  const inputs = { 'server-command': 'node server.js', evals: 'a.yaml', 'policy-ref': 'base', ...texts };
  return await planGate(parseGateOptions(inputs), { cwd: workspace.path, environment });
}

describe('policy-ref: base', () => {
  it('judges by the policy of the base, and reports that the pull request changes it', async () => {
    const pullRequest = await createPullRequest(
      { 'a.yaml': withPolicy('{ minimumPassRate: 90% }'), 'p.yaml': 'confidence: 95%\n' },
      {
        'a.yaml': withPolicy('{ minimumPassRate: 10%, reportOnly: true }').replace('    required: true\n', ''),
        'p.yaml': 'confidence: 50%\nreportOnly: true\n',
      },
    );
    await using _workspace = pullRequest.workspace;
    const plan = await planBase(pullRequest, { policy: 'p.yaml' });
    expect(plan.suites).toMatchObject([
      {
        requirements: {
          minimumPassRate: { value: 0.9, source: 'main:a.yaml:23' },
          confidence: { value: 0.95, source: 'main:p.yaml:1' },
          reportOnly: { value: false, source: 'default' },
          required: [{ name: 'sum', source: 'main:a.yaml:9' }],
        },
      },
    ]);
    expect(plan.policyNotes).toEqual([
      'p.yaml is changed by this pull request; that of main counts.',
      'The policy in a.yaml is changed by this pull request; that of main counts.',
    ]);
  });

  it('takes the rules about the whole gate from the base, too', async () => {
    const report = renderReportJson(createReport());
    const pullRequest = await createPullRequest(
      { 'a.yaml': greenEvals, 'old.json': report, 'p.yaml': 'maximumRegressions: 1\nprobation: 2\n' },
      { 'a.yaml': greenEvals, 'p.yaml': 'maximumRegressions: 100\nstopEarly: true\n' },
    );
    await using _workspace = pullRequest.workspace;
    const plan = await planBase(pullRequest, { policy: 'p.yaml', 'history-path': 'h.jsonl', baseline: 'old.json' });
    expect(plan).toMatchObject({ stopsEarly: false, limits: { maximumRegressions: { value: 1 } } });
    expect(plan.suites[0]?.requirements.probation).toHaveLength(2);
    expect(plan.policyNotes[0]).toBe('p.yaml is changed by this pull request; that of main counts.');
  });

  it('reports nothing if the pull request does not change the policy', async () => {
    const pullRequest = await createPullRequest(
      { 'a.yaml': withPolicy('{ minimumPassRate: 90% }') },
      { 'a.yaml': `# A line more\n${withPolicy('{ minimumPassRate: 90% }')}` },
    );
    await using _workspace = pullRequest.workspace;
    expect((await planBase(pullRequest)).policyNotes).toEqual([]);
  });

  it('takes what is new from the pull request, and says so', async () => {
    const pullRequest = await createPullRequest(
      { 'README.md': '' },
      { 'a.yaml': withPolicy('{ minimumPassRate: 30% }'), 'p.yaml': 'onInconclusive: warn\n' },
    );
    await using _workspace = pullRequest.workspace;
    const plan = await planBase(pullRequest, { policy: 'p.yaml' });
    expect(plan.suites).toMatchObject([
      { requirements: { minimumPassRate: { value: 0.3 }, onInconclusive: { value: 'warn' } } },
    ]);
    expect(plan.policyNotes).toEqual([
      'main has no p.yaml yet, so that the policy file of this change counts.',
      'main has no a.yaml, so that its own policy counts.',
    ]);
  });

  it('is an error where the base was not fetched', async () => {
    const pullRequest = await createPullRequest({ 'a.yaml': greenEvals }, {});
    await using _workspace = pullRequest.workspace;
    const event = { pull_request: { number: 1, base: { sha: '0'.repeat(40) } } };
    await writeFile(pullRequest.environment['GITHUB_EVENT_PATH'] ?? '', JSON.stringify(event));
    const error: unknown = await planBase(pullRequest).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      message:
        'policy-ref: is base, and the commit of main is not here: git does not know 0000000000000000000000000000000000000000. Set `fetch-depth: 0` on actions/checkout, or use the checked-out policy with `policy-ref: head` (base-not-fetched)',
    });
  });

  it('takes the policy as it is checked out where there is no base, and says so in the log', async () => {
    await using workspace = await createWorkspace({ 'a.yaml': withPolicy('{ minimumPassRate: 40% }') });
    const plan = await planBase({ workspace, environment: {} });
    expect(plan).toMatchObject({
      suites: [{ requirements: { minimumPassRate: { value: 0.4 } } }],
      policyNotes: [],
      notes: [],
    });
    expect(plan.remarks).toEqual([
      '`policy-ref: base`: this is no pull or merge request, so the policy is the one that is checked out.',
    ]);
  });

  it('reads the branch that `base-ref` names, on whatever event', async () => {
    const pullRequest = await createPullRequest(
      { 'a.yaml': withPolicy('{ minimumPassRate: 90% }') },
      { 'a.yaml': withPolicy('{ minimumPassRate: 10% }') },
    );
    await using workspace = pullRequest.workspace;
    const plan = await planBase({ workspace, environment: {} }, { 'base-ref': 'main' });
    expect(plan).toMatchObject({
      suites: [{ requirements: { minimumPassRate: { value: 0.9, source: 'main:a.yaml:23' } } }],
    });
    const inputs = { 'policy-ref': 'head', 'base-ref': 'main' };
    await expect(planBase({ workspace, environment: {} }, inputs)).rejects.toThrow(
      'base-ref: has no effect with `policy-ref: head`; set `policy-ref: base` or `base: git`, or remove it (needs-policy-ref)',
    );
  });

  it.each([
    [
      'CircleCI, pull request',
      'policy-ref: is base, and CircleCI does not say which branch PR 7 goes into. Name it with `base-ref`, such as main, or use the checked-out policy with `policy-ref: head` (base-not-fetched)',
    ],
    [
      'GitLab, push to a branch with an open merge request',
      'policy-ref: is base, and GitLab CI does not say which branch MR 7 goes into. Name it with `base-ref`, such as main, or use the checked-out policy with `policy-ref: head` (base-not-fetched)',
    ],
    [
      'Jenkins, pull request',
      'policy-ref: is base, and the commit of main is not here: git does not know refs/remotes/origin/main. Fetch it before the gate starts, with `git fetch origin +refs/heads/main:refs/remotes/origin/main`, or use the checked-out policy with `policy-ref: head` (base-not-fetched)',
    ],
  ])('is an error where it cannot be had: %s', async (name, message) => {
    await using workspace = await createWorkspace({ 'a.yaml': greenEvals });
    git(workspace, 'init', '-q', '-b', 'feature/x');
    const error: unknown = await planBase({ workspace, environment: ciExamples[name]?.variables as never }).catch(
      (error: unknown) => error,
    );
    expect(error).toMatchObject({ message, exitCode: 2 });
  });

  it('refuses a commit that is an option of git', async () => {
    const pullRequest = await createPullRequest({ 'a.yaml': greenEvals }, {});
    await using _workspace = pullRequest.workspace;
    const event = { pull_request: { number: 1, base: { sha: '--output=x' } } };
    await writeFile(pullRequest.environment['GITHUB_EVENT_PATH'] ?? '', JSON.stringify(event));
    await expect(planBase(pullRequest)).rejects.toThrow(/git does not know refs\/remotes\/origin\/main/);
  });
});

describe('policy-ref: base without the base in git', () => {
  const baseSha = 'b'.repeat(40);
  const high = withPolicy('{ minimumPassRate: 90% }');
  const low = withPolicy('{ minimumPassRate: 10% }');

  /** Plans a gate in a GitHub job with a checkout of only the head. The step works in `cwd`. */
  async function planRemote(api: GitHubApi, options: { texts?: Record<string, string>; cwd?: string } = {}) {
    const { texts = {}, cwd = '.' } = options;
    await using workspace = await createWorkspace({
      [join(cwd, 'a.yaml')]: low,
      [join(cwd, 'p.yaml')]: 'reportOnly: true\n',
      'event.json': JSON.stringify({ pull_request: { number: 1, base: { sha: baseSha } } }),
    });
    const inputs = { 'server-command': 'x', evals: 'a.yaml', 'policy-ref': 'base', 'github-token': jobToken, ...texts };
    return await planGate(parseGateOptions(inputs), {
      cwd: join(workspace.path, cwd),
      environment: {
        GITHUB_API_URL: api.url,
        GITHUB_BASE_REF: 'main',
        GITHUB_EVENT_PATH: join(workspace.path, 'event.json'),
        GITHUB_REPOSITORY: 'your-org/your-server',
        GITHUB_WORKSPACE: workspace.path,
      },
    });
  }

  it('reads it from GitHub, from wherever the job works', async () => {
    await using api = await startGitHubApi();
    api.files.set(baseSha, { 'server/a.yaml': high, 'server/p.yaml': 'confidence: 95%\n' });
    const plan = await planRemote(api, { cwd: 'server', texts: { policy: 'p.yaml' } });
    expect(plan.suites).toMatchObject([
      {
        requirements: {
          minimumPassRate: { value: 0.9 },
          confidence: { source: 'main:p.yaml:1' },
          reportOnly: { value: false },
        },
      },
    ]);
    expect(plan.policyNotes).toHaveLength(2);
  });

  it('takes what the base does not have from the pull request, and says so', async () => {
    await using api = await startGitHubApi();
    api.files.set(baseSha, {});
    const plan = await planRemote(api);
    expect(plan).toMatchObject({
      suites: [{ requirements: { minimumPassRate: { value: 0.1 } } }],
      policyNotes: ['main has no a.yaml, so that its own policy counts.'],
    });
  });

  it.each([
    ['does not know the commit', null, 'GitHub does not know bbbbbbbb'],
    ['hides the repository', refusals.notFound, 'GitHub does not know bbbbbbbb'],
    ['refuses', refusals.forbidden, '403'],
  ])('is an error, and never the policy of the pull request, where GitHub %s', async (_, answer, reason) => {
    await using api = await startGitHubApi();
    if (answer !== null) api.trouble.push({ request: 'GET commits', answer });
    const error: unknown = await planRemote(api).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/policy-ref: is base, .*\(base-not-fetched\)/);
    expect(String(error)).toContain(reason);
  });

  it('exits with code 3 if a file of the base cannot be read', async () => {
    await using api = await startGitHubApi();
    api.files.set(baseSha, { 'a.yaml': high });
    api.trouble.push({ request: 'GET contents', answer: refusals.forbidden });
    await expect(planRemote(api)).rejects.toMatchObject({ status: 403, exitCode: 3 });
    api.trouble.splice(0, 1, { request: 'GET contents', answer: json(200, [{ type: 'file' }]) });
    await expect(planRemote(api)).rejects.toMatchObject({ code: 'PROTOCOL', exitCode: 3 });
  });

  it('sends no request without a token', async () => {
    await using api = await startGitHubApi();
    await expect(planRemote(api, { texts: { 'github-token': '' } })).rejects.toThrow(/base-not-fetched/);
    expect(api.requests).toEqual([]);
  });
});
