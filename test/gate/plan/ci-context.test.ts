import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CiContext, readCiContext } from '../../../src/gate/plan/ci-context.ts';
import {
  createMergeGroupEvent,
  createPullRequestEvent,
  createPushEvent,
  createScheduleEvent,
  type RunnerEvent,
} from '../../support/runner-harness/events.ts';
import { jobOnBranch } from '../../support/hosted-gate.ts';
import { createWorkspace } from '../../support/workspace.ts';

async function read(event: RunnerEvent, options: { jobIndex?: string; env?: object } = {}): Promise<CiContext> {
  await using workspace = await createWorkspace({ 'event.json': JSON.stringify(event.payload) });
  const environment = {
    ...jobOnBranch,
    GITHUB_REF_NAME: event.ref.replace(/^refs\/(?:heads|pull)\//, ''),
    GITHUB_SHA: event.sha,
    GITHUB_EVENT_NAME: event.name,
    GITHUB_EVENT_PATH: join(workspace.path, 'event.json'),
    ...options.env,
  };
  return await readCiContext(environment, { jobIndex: options.jobIndex ?? null });
}

describe('readCiContext', () => {
  it.each([
    ['a pull request', createPullRequestEvent(), 'PR 7', false],
    ['a pull request of a fork', createPullRequestEvent({ isFork: true }), 'PR 7', false],
    ['the merge queue', createMergeGroupEvent(), 'PR 7', false],
    ['a push to the default branch', createPushEvent(), 'main', true],
    ['a schedule', createScheduleEvent(), 'main', true],
    ['a push elsewhere', { ...createPushEvent(), ref: 'refs/heads/feature/x' }, 'feature/x', false],
  ])('knows what %s tests', async (_, event, line, isDefaultBranch) => {
    expect(await read(event)).toMatchObject({ line, isDefaultBranch, isPullRequestTarget: false });
  });

  it('names the commit that was pushed, and of a pull request its head', async () => {
    expect((await read(createPushEvent())).commit).toBe('2'.repeat(40));
    expect((await read(createPullRequestEvent())).commit).toBe('1'.repeat(40));
  });

  it('notices pull_request_target', async () => {
    const event = { ...createPullRequestEvent(), name: 'pull_request_target' };
    expect((await read(event)).isPullRequestTarget).toBe(true);
  });

  it('is the same for the same step, and another for every other one', async () => {
    const event = createPushEvent();
    const { invocation } = await read(event);
    expect((await read(event)).invocation).toBe(invocation);
    const others = await Promise.all([
      read(event, { jobIndex: '1' }),
      read(event, { env: { GITHUB_RUN_ID: '42' } }),
      read(event, { env: { GITHUB_RUN_ATTEMPT: '2' } }),
      read(event, { env: { GITHUB_JOB: 'nightly' } }),
      read(event, { env: { GITHUB_ACTION: '__your-org_mcp-eval-ci_2' } }),
      read(event, { env: { GITHUB_REPOSITORY: 'your-org/another' } }),
    ]);
    expect(new Set([invocation, ...others.map((other) => other.invocation)]).size).toBe(7);
  });

  it('does without an event that can be read', async () => {
    const environment = { ...jobOnBranch, GITHUB_EVENT_PATH: '/nowhere' };
    expect(await readCiContext(environment, { jobIndex: null })).toMatchObject({
      line: 'change',
      isDefaultBranch: false,
    });
  });

  it('makes every invocation outside GitHub one of its own', async () => {
    const [first, second] = [await readCiContext({}, { jobIndex: null }), await readCiContext({}, { jobIndex: null })];
    expect(first).toMatchObject({ repository: null, line: null });
    expect(first.invocation).not.toBe(second.invocation);
  });
});
