import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createRedactor } from '../../../src/base/redaction.ts';
import { parseGateOptions } from '../../../src/gate/options.ts';
import { nameComments, parseMarker, renderMarker } from '../../../src/gate/plan/marker.ts';
import { publishReport } from '../../../src/gate/publish/publish-report.ts';
import type { Report } from '../../../src/model/report.ts';
import { renderReportJson } from '../../../src/report/report-json.ts';
import { type GitHubApi, refusals, startGitHubApi } from '../../support/github/github-api.ts';
import { createGitHubJob, jobToken } from '../../support/runner/github-job.ts';
import { hostileTexts } from '../../support/text/hostile-text.ts';
import { listActiveNodes } from '../../support/text/markdown-tree.ts';
import { createGreenReport, createHostileReport, createRedReport } from '../../support/factories/report-factory.ts';
import { createPushEvent, createWorkflowRunEvent, type RunnerEvent } from '../../support/runner/events.ts';
import { VirtualClock } from '../../support/clocks/virtual-clock.ts';
import { createWorkspace, type Workspace } from '../../support/workspace.ts';

const headSha = '1'.repeat(40);
const report: Report = { ...createRedReport(), revision: { commit: headSha, branch: 'PR 7' } };

interface Publishing {
  texts?: Record<string, string>;
  event?: RunnerEvent;
  variables?: Record<string, string>;
  /** The text of the artifact's file. Default: the red report of the head. */
  text?: string;
  prepare?: (workspace: Workspace) => Promise<void>;
}

/** Publishes a report in a job that another workflow's end started. */
async function publish(api: GitHubApi, options: Publishing = {}) {
  await using workspace = await createWorkspace({ 'report/report.json': options.text ?? renderReportJson(report) });
  await options.prepare?.(workspace);
  const event = options.event ?? createWorkflowRunEvent({ isFork: true });
  const { variables = {} } = options;
  const environment = await createGitHubJob(workspace, api.url, { event, run: 900, variables });
  const said: string[] = [];
  const warnings: string[] = [];
  const texts = { publish: 'report', 'github-token': jobToken, ...options.texts };
  const outcome = await publishReport(parseGateOptions(texts), {
    cwd: workspace.path,
    environment,
    clock: new VirtualClock(),
    logger: { ...silentLogger, info: (text) => said.push(text), warning: (text) => warnings.push(text) },
    redactor: createRedactor(),
    signal: new AbortController().signal,
  }).catch((error: unknown) => (error instanceof ConfigurationError ? error.issues : Promise.reject(error)));
  return { outcome, said, warnings };
}

/** Starts the API with a pull request from a fork and one from the repository itself. */
async function startWithFork(): Promise<GitHubApi> {
  const api = await startGitHubApi();
  api.pulls.clear();
  api.pulls.set(7, { sha: headSha, owner: 'someone', branch: 'change' });
  api.pulls.set(8, { sha: '9'.repeat(40), owner: 'your-org', branch: 'change' });
  return api;
}

const described = (code: string) => [expect.objectContaining({ code })];

describe('publishReport', () => {
  it('comments on the pull request of a fork, as its own run would', async () => {
    await using api = await startWithFork();
    expect(await publish(api)).toEqual({
      outcome: 0,
      said: ['Commented on pull request 7: https://github.com/your-org/your-server/pull/7#issuecomment-1001'],
      warnings: [],
    });
    const [comment] = api.comments;
    expect(comment?.issue).toBe(7);
    expect(comment?.body.split('\n')[0]).toMatch(/ run=41 number=12 attempt=1 verdict=failed digest=[0-9a-f]{32} -->$/);
    expect(comment?.body).toContain('### ❌ Eval gate failed: `evals`\n');
    expect(comment?.body).toContain('[Run 12](<https://github.com/your-org/your-server/actions/runs/41/attempts/1>)');
    expect(comment?.body).toContain(`/blob/${headSha}/evals/math.evals.yaml#L7>`);
  });

  it('updates it, and lets no older run overwrite a newer one', async () => {
    await using api = await startWithFork();
    const runEvent = (number: number, attempt: number): RunnerEvent => {
      const event = createWorkflowRunEvent({ isFork: true });
      const run = { ...(event.payload['workflow_run'] as object), run_number: number, run_attempt: attempt };
      return { ...event, payload: { ...event.payload, workflow_run: run } };
    };
    api.runs.set('41', { number: 12, attempt: 2 });
    await publish(api, { event: runEvent(12, 2) });
    expect((await publish(api, { event: runEvent(12, 1) })).said).toEqual([
      'A newer run has posted its verdict on pull request 7; that comment stays.',
    ]);
    expect((await publish(api, { event: runEvent(13, 1) })).said[0]).toMatch(/^Updated/);
    expect(api.comments).toHaveLength(1);
  });

  it('reads no marker out of the report: the first line of the comment is its own', async () => {
    await using api = await startWithFork();
    const place = nameComments({ owner: 'your-org', repo: 'your-server' }, 7);
    const run = { id: '99', number: 99, attempt: 1 };
    const marker = renderMarker({ key: 'a'.repeat(16), run, outcome: 'passed' }, place);
    const foreign = [
      ...report.suites.map(({ name }) => name),
      ...report.cases.flatMap(({ failures }) => failures.flatMap(({ reasons }) => reasons)),
    ];
    // Replaces it in the whole report, which would otherwise contradict itself.
    const text = foreign.reduce(
      (json, each) => json.replaceAll(JSON.stringify(each), JSON.stringify(marker)),
      renderReportJson({ ...report, notes: [marker, `\n${marker}`] }),
    );
    expect(text.split('key=aaaaaaaaaaaaaaaa').length).toBeGreaterThan(4);
    await publish(api, { text });
    expect(parseMarker(api.comments[0]?.body ?? '', place)).toMatchObject({ run: { id: '41' }, outcome: 'failed' });
    expect((await publish(api)).said[0]).toMatch(/^Updated/);
    expect(api.comments).toHaveLength(1);
  });

  it.each([
    ['a whole path', { publish: 'report/report.json' }],
    ['a pull request by its number', { 'pull-number': '7' }],
  ])('takes %s', async (_, texts) => {
    await using api = await startWithFork();
    expect(await publish(api, { texts })).toMatchObject({ outcome: 0, warnings: [] });
    expect(api.comments.map(({ issue }) => issue)).toEqual([7]);
  });

  it('publishes by hand, where the pull request is named', async () => {
    await using api = await startWithFork();
    const variables = { GITHUB_RUN_ID: '', GITHUB_RUN_NUMBER: '', GITHUB_JOB: '', GITHUB_WORKFLOW: '' };
    const options = { event: createPushEvent(), variables, texts: { 'pull-number': '7' } };
    expect(await publish(api, options)).toMatchObject({ outcome: 0 });
    expect(await publish(api, options)).toMatchObject({ said: [expect.stringMatching(/^Updated/)] });
    const { outcome } = await publish(api, { ...options, texts: {} });
    expect(outcome).toEqual(described('missing-pull-number'));
  });

  it('follows the mode', async () => {
    await using api = await startWithFork();
    const passed = { ...createGreenReport(), revision: report.revision };
    const options = { texts: { 'report-to': 'comment:on-failure' }, text: JSON.stringify(passed) };
    expect((await publish(api, options)).said).toEqual([
      'No comment on pull request 7: the verdict is passed, and comments are written on-failure.',
    ]);
    expect(api.comments).toEqual([]);
  });
});

describe('the verdict of a report that is published', () => {
  const green = { ...createGreenReport(), revision: report.revision };
  const publishGreen = async (options: Publishing) => {
    await using api = await startWithFork();
    const { outcome } = await publish(api, { text: renderReportJson(green), ...options });
    return { outcome, body: api.comments[0]?.body ?? '' };
  };

  it('is recomputed from the results, and the comment names their run', async () => {
    const { body } = await publishGreen({});
    expect(body).toContain('✅');
    expect(body).toContain('These results are those of the report that workflow run 41 uploaded.');
  });

  it('is inconclusive where the report passed and its workflow run did not', async () => {
    const event = createWorkflowRunEvent({ isFork: true, conclusion: 'failure' });
    const { outcome, body } = await publishGreen({ event });
    expect(outcome).toBe(0);
    expect(body).toContain('Eval gate is inconclusive');
    expect(body).toContain('The report says passed, and the workflow run that uploaded it ended with failure.');
  });

  it.each([
    ['a minimum of its own', { 'min-pass-rate': '100%' }],
    ['a policy of its own', { policy: 'base.policy.yaml' }],
  ])('is judged anew by the job that publishes it, where that has %s', async (_, texts) => {
    const prepare = (workspace: Workspace) =>
      writeFile(join(workspace.path, 'base.policy.yaml'), 'minimumPassRate: 100%\n');
    const { outcome, body } = await publishGreen({ texts, prepare });
    expect(outcome).toBe(0);
    expect(body).toContain('❌');
  });

  it('is refused where it contradicts the results', async () => {
    const forged = { ...report, verdict: { outcome: 'passed', reasons: [] }, stopsJob: false };
    const { outcome, body } = await publishGreen({ text: JSON.stringify(forged) });
    expect(outcome).toEqual(described('bad-report'));
    expect(body).toBe('');
  });
});

describe('a report that does not fit its run or pull request', () => {
  it('is refused where it is of another commit than the run', async () => {
    await using api = await startWithFork();
    const other = { ...report, revision: { commit: '9'.repeat(40), branch: 'PR 8' } };
    const { outcome } = await publish(api, { text: JSON.stringify(other), texts: { 'pull-number': '8' } });
    expect(outcome).toEqual(described('report-of-another-commit'));
    expect(api.requests).toEqual([]);
  });

  it('is not posted on a pull request of another commit, whatever number came with it', async () => {
    await using api = await startWithFork();
    expect(await publish(api, { texts: { 'pull-number': '8' } })).toEqual({
      outcome: 0,
      said: [],
      warnings: [
        `Pull request 8 no longer has ${headSha} as its newest commit, which is the report's. Nothing is posted.`,
      ],
    });
    expect(api.comments).toEqual([]);
  });

  it('is not posted where the pull request has moved on, or is closed', async () => {
    await using api = await startWithFork();
    api.pulls.set(7, { sha: '8'.repeat(40), owner: 'someone', branch: 'change' });
    expect((await publish(api)).warnings).toEqual([
      `No open pull request has ${headSha} as its newest commit, which is the report's. Nothing is posted.`,
    ]);
    api.pulls.clear();
    expect((await publish(api)).warnings).toHaveLength(1);
    expect(api.comments).toEqual([]);
  });

  it.each([
    ['no JSON', 'x'],
    ['no report', '{"schemaVersion":"3"}'],
    ['of another version', JSON.stringify({ ...report, schemaVersion: '2' })],
    ['with a count that is none', JSON.stringify({ ...report, totals: { ...report.totals, passed: -1 } })],
  ])('is refused where it is %s', async (_, text) => {
    await using api = await startWithFork();
    expect((await publish(api, { text })).outcome).toEqual(described('bad-report'));
    expect(api.requests).toEqual([]);
  });

  it('is refused without a commit', async () => {
    await using api = await startWithFork();
    for (const revision of [null, { commit: null, branch: 'x' }, { commit: '1111111', branch: 'x' }]) {
      const { outcome } = await publish(api, { text: JSON.stringify({ ...report, revision }) });
      expect(outcome).toEqual(described('report-without-commit'));
    }
  });

  it.each<[string, Publishing]>([
    [
      'is a link',
      { prepare: ({ path }) => symlink('/etc/passwd', join(path, 'link.json')), texts: { publish: 'link.json' } },
    ],
    [
      'is too large',
      {
        prepare: ({ path }) => writeFile(join(path, 'big.json'), ' '.repeat(33 * 2 ** 20)),
        texts: { publish: 'big.json' },
      },
    ],
    ['is not there', { texts: { publish: 'nowhere' } }],
    ['is a directory without one', { texts: { publish: '.' } }],
  ])('is refused where the file %s', async (_, options) => {
    await using api = await startWithFork();
    expect((await publish(api, options)).outcome).toEqual(described('bad-report'));
  });

  it('holds nothing that acts, and none of our secrets, whatever its texts are', async () => {
    await using api = await startWithFork();
    for (const text of [...hostileTexts, `${jobToken} <img src=x>`]) {
      const foreign = { ...createHostileReport(text), revision: report.revision, notes: [text, '', text] };
      expect(await publish(api, { text: renderReportJson(foreign) })).toMatchObject({ outcome: 0 });
      const [comment] = api.comments;
      const page = comment?.body.split('\n').slice(2).join('\n') ?? '';
      const own = 'https://github.com/your-org/your-server/';
      expect(listActiveNodes(page).filter((node) => node.type !== 'link' || !node.url.startsWith(own))).toEqual([]);
      expect(page).not.toContain('canary');
    }
    expect(api.comments).toHaveLength(1);
  });
});

describe('publishReport without what it needs', () => {
  it.each([
    ['to find the pull request', 'GET pulls'],
    ['to comment', 'POST issues/7/comments'],
  ] as const)('ends with 3 and names the permission where it is not allowed %s', async (_, request) => {
    await using api = await startWithFork();
    api.trouble.push({ request, answer: refusals.forbidden });
    const { outcome, warnings } = await publish(api);
    expect(outcome).toBe(3);
    expect(warnings).toEqual([expect.stringContaining('`pull-requests: write`')]);
  });

  it('reports a configuration error without a token', async () => {
    await using api = await startWithFork();
    const { outcome } = await publish(api, { texts: { 'github-token': '' } });
    expect(outcome).toEqual(described('missing-github-token'));
  });
});

describe('the options of publish', () => {
  it.each([
    [{ publish: 'x', evals: 'a' }, 'publish-and-run'],
    [{ publish: 'x', merge: 'a' }, 'publish-and-run'],
    [{ publish: 'x', 'report-to': 'check-run' }, 'publish-and-run'],
    [{ publish: 'x', 'pull-number': '0' }, 'bad-pull-number'],
    [{ tests: '- x', 'server-command': 'x', 'pull-number': '7' }, 'needs-publish'],
    [{ publish: 'x', 'report-to': 'comment:sometimes' }, 'bad-report-to'],
  ])('%j is refused', (texts, code) => {
    expect(() => parseGateOptions(texts)).toThrow(`(${code})`);
  });
});
