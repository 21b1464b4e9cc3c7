import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CiJob, nameHostedServer, nameHostedSuite, readCiJob } from '../../../src/gate/plan/ci-job.ts';
import { jobOnBranch } from '../../support/gate/hosted-gate.ts';
import {
  createMergeGroupEvent,
  createPullRequestEvent,
  createPushEvent,
  createScheduleEvent,
  type RunnerEvent,
} from '../../support/runner/events.ts';
import { createWorkspace } from '../../support/workspace.ts';

const nothing = { branch: null, commit: null, baseRef: null, commentId: null, shard: null };

async function read(event: RunnerEvent, options: { commentId?: string; env?: object } = {}): Promise<CiJob> {
  await using workspace = await createWorkspace({ 'event.json': JSON.stringify(event.payload) });
  const environment = {
    ...jobOnBranch,
    GITHUB_REF_NAME: event.ref.replace(/^refs\/(?:heads|pull)\//, ''),
    GITHUB_SHA: event.sha,
    GITHUB_EVENT_NAME: event.name,
    GITHUB_EVENT_PATH: join(workspace.path, 'event.json'),
    ...options.env,
  };
  const overrides = { ...nothing, commentId: options.commentId ?? null };
  return await readCiJob(overrides, { cwd: workspace.path, environment });
}

describe('readCiJob', () => {
  it.each([
    ['a pull request', createPullRequestEvent(), 'PR 7', false],
    ['a pull request of a fork', createPullRequestEvent({ isFork: true }), 'PR 7', false],
    ['the merge queue', createMergeGroupEvent(), 'PR 7', false],
    ['a push to the default branch', createPushEvent(), 'main', true],
    ['a schedule', createScheduleEvent(), 'main', true],
    ['a push elsewhere', { ...createPushEvent(), ref: 'refs/heads/feature/x' }, 'feature/x', false],
  ])('knows what %s tests', async (_, event, line, isDefaultBranch) => {
    expect(await read(event)).toMatchObject({ line, isDefaultBranch, elevatedEvent: null });
  });

  it('names the commit that was pushed, and of a pull request its head', async () => {
    expect((await read(createPushEvent())).commit).toBe('2'.repeat(40));
    expect((await read(createPullRequestEvent())).commit).toBe('1'.repeat(40));
  });

  it('notices pull_request_target', async () => {
    const event = { ...createPullRequestEvent(), name: 'pull_request_target' };
    expect((await read(event)).elevatedEvent).toBe('pull_request_target');
  });

  it('is the same for the same step, and differs for every other step', async () => {
    const event = createPushEvent();
    const { invocation } = await read(event);
    expect((await read(event)).invocation).toBe(invocation);
    const others = await Promise.all([
      read(event, { commentId: '1' }),
      read(event, { env: { GITHUB_RUN_ID: '42' } }),
      read(event, { env: { GITHUB_RUN_ATTEMPT: '2' } }),
      read(event, { env: { GITHUB_JOB: 'nightly' } }),
      read(event, { env: { GITHUB_ACTION: '__your-org_mcp-eval-ci_2' } }),
      read(event, { env: { GITHUB_REPOSITORY: 'your-org/another' } }),
    ]);
    expect(new Set([invocation, ...others.map((other) => other.invocation)]).size).toBe(7);
  });

  it('works without a readable event', async () => {
    const environment = { ...jobOnBranch, GITHUB_EVENT_PATH: '/nowhere' };
    expect(await readCiJob(nothing, { cwd: '/nowhere', environment })).toMatchObject({
      line: 'change',
      isDefaultBranch: false,
    });
  });

  it('gives every invocation outside GitHub an identity of its own', async () => {
    await using workspace = await createWorkspace();
    const elsewhere = { cwd: workspace.path, environment: {} };
    const [first, second] = [await readCiJob(nothing, elsewhere), await readCiJob(nothing, elsewhere)];
    expect(first).toMatchObject({ system: null, repository: null, line: null, commit: null, base: null });
    expect(first.invocation).not.toBe(second.invocation);
  });

  it.each([
    ['a push', createPushEvent(), null],
    ['a schedule', createScheduleEvent(), null],
    ['a pull request', createPullRequestEvent(), { label: 'PR 7', branch: null, revisions: ['2'.repeat(40)] }],
    ['the merge queue', createMergeGroupEvent(), { label: 'PR 7', branch: 'main', revisions: ['2'.repeat(40)] }],
  ])('knows what %s goes into', async (_, event, base) => {
    expect((await read(event)).base).toEqual(base === null ? null : { noun: 'pull request', ...base });
  });

  it('expects a base on a pull request with an unreadable event', async () => {
    const environment = { ...jobOnBranch, GITHUB_EVENT_NAME: 'pull_request', GITHUB_EVENT_PATH: '/nowhere' };
    expect(await readCiJob(nothing, { cwd: '/nowhere', environment })).toMatchObject({ base: { revisions: [] } });
  });
});

const context: CiJob = {
  system: 'github',
  systemName: 'GitHub Actions',
  repository: 'your-org/your-server',
  line: 'PR 7',
  isDefaultBranch: false,
  defaultBranch: 'main',
  commit: null,
  tested: [],
  base: null,
  elevatedEvent: null,
  labels: [],
  invocation: '["your-org/your-server","41","1","evals","",""]',
  label: '41.1 evals',
  build: { id: '41', job: 'evals', url: null, branch: 'main' },
};

describe('nameHostedSuite', () => {
  it.each([
    ['branch', context, 'Mine · PR 7'],
    ['branch', { ...context, line: 'main', isDefaultBranch: true }, 'Mine'],
    ['branch', { ...context, line: null }, 'Mine · local'],
    ['shared', context, 'Mine'],
    ['run', context, 'Mine · run 41.1 evals'],
  ] as const)('by %s', (scope, ci, name) => {
    expect(nameHostedSuite('Mine', scope, ci)).toBe(name);
  });
});

describe('nameHostedServer', () => {
  it('says whose server it is, and is different for every invocation', () => {
    expect(nameHostedServer(context)).toMatch(/^mcp-eval-ci your-org\/your-server 41\.1 evals [0-9a-f]{10}$/);
    expect(nameHostedServer({ ...context, invocation: 'another' })).not.toBe(nameHostedServer(context));
  });

  it('has at most the 128 characters of the API, and differs even then', () => {
    const long = { ...context, repository: `your-org/${'x'.repeat(200)}` };
    expect(nameHostedServer(long)).toHaveLength(128);
    expect(nameHostedServer({ ...long, invocation: 'another' })).not.toBe(nameHostedServer(long));
  });
});
