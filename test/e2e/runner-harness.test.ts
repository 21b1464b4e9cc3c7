import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createMergeGroupEvent,
  createPullRequestEvent,
  createPushEvent,
  createScheduleEvent,
  createWorkflowDispatchEvent,
  createWorkflowRunEvent,
} from '../support/runner/events.ts';
import { findLeaks } from '../support/runner/leaks.ts';
import { isAlive } from '../support/runner/processes.ts';
import { type ActionRunOptions, runAction } from '../support/runner/run-action.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'harness-'));
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

/** Writes an action with the given scripts as stages, and runs it in an empty workspace. */
async function runFixture(
  scripts: { main: string; post?: string; postIf?: string },
  options: Partial<ActionRunOptions> = {},
) {
  const home = await mkdtemp(path.join(directory, 'action-'));
  const post = scripts.post === undefined ? '' : `, post: post.mjs, post-if: '${scripts.postIf ?? 'always()'}'`;
  await writeFile(
    path.join(home, 'action.yml'),
    `name: fixture
description: fixture
inputs:
  given-word: { description: x, default: fallback }
  other-word: { description: x, default: 'true' }
outputs: { word: { description: x } }
runs: { using: node24, main: main.mjs${post} }
`,
  );
  const prelude = `import { appendFileSync as append, readFileSync as read } from 'node:fs';
import { spawn } from 'node:child_process';
const { env } = process;
`;
  await writeFile(path.join(home, 'main.mjs'), prelude + scripts.main);
  await writeFile(path.join(home, 'post.mjs'), prelude + (scripts.post ?? ''));
  return runAction({
    workspace: await mkdtemp(path.join(directory, 'workspace-')),
    inputs: {},
    actionDirectory: home,
    timings: { sigintMs: 400, sigtermMs: 400, outputMs: 400 },
    ...options,
  });
}

describe('runAction', () => {
  it('gives inputs, defaults, the workspace and the event, and reads the outputs', async () => {
    const run = await runFixture(
      {
        main: `append(env.GITHUB_OUTPUT, 'word=' + env['INPUT_GIVEN-WORD'] + env['INPUT_OTHER-WORD'] + '\\n');
append(env.GITHUB_OUTPUT, 'number<<E\\n' + JSON.parse(read(env.GITHUB_EVENT_PATH)).number + '\\nE\\n');
append(env.GITHUB_OUTPUT, 'ref=' + env.GITHUB_HEAD_REF + (process.cwd() === env.GITHUB_WORKSPACE) + '\\n');`,
      },
      { inputs: { 'given-word': 'mine' }, event: createPullRequestEvent({ headRef: 'topic' }) },
    );
    expect(run.outputs).toEqual({ word: 'minetrue', number: '7', ref: 'topictrue' });
    expect(run).toMatchObject({ exitCode: 0, conclusion: 'success', post: null, leftovers: [], problems: [] });
  });

  it.each([
    [createPullRequestEvent(), 'pull_request', 'refs/pull/7/merge', 'change'],
    [createPullRequestEvent({ isFork: true }), 'pull_request', 'refs/pull/7/merge', 'change'],
    [createPushEvent(), 'push', 'refs/heads/main', ''],
    [createScheduleEvent(), 'schedule', 'refs/heads/main', ''],
    [createWorkflowDispatchEvent({ runs: '3' }), 'workflow_dispatch', 'refs/heads/main', ''],
    [createWorkflowRunEvent(), 'workflow_run', 'refs/heads/main', ''],
    [createMergeGroupEvent(), 'merge_group', expect.stringContaining('gh-readonly-queue') as string, ''],
  ])('sets the variables and the payload of event %#', async (event, name, ref, headRef) => {
    const run = await runFixture(
      {
        main: `const { GITHUB_EVENT_NAME: name, GITHUB_REF: ref, GITHUB_HEAD_REF: headRef } = env;
console.log(JSON.stringify({ name, ref, headRef, payload: JSON.parse(read(env.GITHUB_EVENT_PATH)) }));`,
      },
      { event },
    );
    expect(JSON.parse(run.log)).toEqual({ name, ref, headRef, payload: JSON.parse(JSON.stringify(event.payload)) });
  });

  it('reports a failing exit code', async () => {
    expect(await runFixture({ main: `process.exitCode = 3;` })).toMatchObject({ exitCode: 3, conclusion: 'failure' });
  });

  it('collects annotations from both outputs, at most ten of a level, each cut to 4,096 characters', async () => {
    const run = await runFixture({
      main: `for (let n = 1; n <= 12; n += 1) console.log('::error file=a.ts,line=' + n + '::' + 'x'.repeat(5000));
console.error('::notice title=T::hello');`,
    });
    expect(run.annotations.map(({ level }) => level)).toEqual([...Array(10).fill('error'), 'notice']);
    expect(run.annotations[0]).toMatchObject({ file: 'a.ts', line: 1, message: 'x'.repeat(4096) });
    expect(run.annotations.at(-1)).toMatchObject({ title: 'T', file: undefined, line: undefined, message: 'hello' });
    expect(run.droppedAnnotations.map(({ line }) => line)).toEqual([11, 12]);
  });

  it('masks what add-mask names from there on, and what the job knew before', async () => {
    const run = await runFixture(
      {
        main: `console.log('early-secret known-secret');
console.log('::add-mask::early-secret%0Asecond-part');
console.log('early-secret second-part');
append(env.GITHUB_STEP_SUMMARY, 'early-secret\\n');
append(env.GITHUB_OUTPUT, 'word=early-secret\\n');`,
      },
      { secrets: ['known-secret'] },
    );
    expect(run.maskedLog).toBe('early-secret ***\n*** ***');
    expect(run.summary).toBe('***\n');
    const leaks = findLeaks(['early-secret'], {
      log: run.maskedLog,
      summary: run.summary,
      outputs: JSON.stringify(run.outputs),
    });
    expect(leaks.map(({ place }) => place)).toEqual(['log', 'outputs']);
  });

  it('shows a summary of a mebibyte and drops a larger one', async () => {
    const writeSummary = (bytes: number) =>
      runFixture({ main: `append(env.GITHUB_STEP_SUMMARY, 'x'.repeat(${bytes}));` });
    expect((await writeSummary(1024 * 1024)).summary).toHaveLength(1024 * 1024);
    expect(await writeSummary(1024 * 1024 + 1)).toMatchObject({ summary: null, isSummaryDropped: true });
  });

  it('reports commands that a modern action does not use', async () => {
    const run = await runFixture({
      main: `console.log('::set-output name=a::b'); console.log('::stop-commands::error');`,
    });
    expect(run.problems).toEqual([
      'the command set-output is refused or deprecated; write to its file instead',
      'The runner refuses "error" as a token that stops commands.',
    ]);
  });

  it('runs post with the state that main saved', async () => {
    const run = await runFixture({
      main: `append(env.GITHUB_STATE, 'pid=42\\n'); process.exitCode = 1;`,
      post: `console.log('state ' + env.STATE_pid);`,
    });
    expect(run).toMatchObject({ conclusion: 'failure', state: { pid: '42' }, post: { exitCode: 0, log: 'state 42' } });
  });

  it('skips the post step if its condition does not hold', async () => {
    const scripts = { main: `process.exitCode = 1;`, post: `console.log('here');`, postIf: 'success()' };
    expect((await runFixture(scripts)).post).toBeNull();
    expect((await runFixture({ ...scripts, postIf: 'failure()' })).post?.log).toBe('here');
  });
});

describe('cancelling', () => {
  const cancelAfter = (log: string) => log.includes('ready');
  const stayUp = `setInterval(() => {}, 1000);`;

  it('sends SIGINT to the process first and runs post all the same', async () => {
    const run = await runFixture(
      {
        main: `process.once('SIGINT', () => process.exit(130)); console.log('ready'); ${stayUp}`,
        post: `console.log('tidy');`,
      },
      { cancelAfter },
    );
    expect(run).toMatchObject({
      exitCode: 130,
      sentSignals: ['SIGINT'],
      conclusion: 'cancelled',
      post: { log: 'tidy' },
    });
  });

  it('sends SIGTERM next, and then kills the tree of a process that ignores both', async () => {
    const ignoreAll = `process.on('SIGINT', () => {}); process.on('SIGTERM', () => {});`;
    const run = await runFixture(
      {
        main: `${ignoreAll} spawn(process.execPath, ['-e', "setInterval(() => {}, 1000)"], { stdio: 'ignore' });
console.log('ready'); ${stayUp}`,
      },
      { cancelAfter },
    );
    expect(run).toMatchObject({ signal: 'SIGKILL', sentSignals: ['SIGINT', 'SIGTERM', 'SIGKILL'], leftovers: [] });
  });
});

describe('processes that outlive the job', () => {
  const spawnChild = (env: string) =>
    `spawn(process.execPath, ['-e', "setInterval(() => {}, 1000)", 'left-behind'], { stdio: 'ignore', detached: true, env: ${env} }).unref();`;

  it('are reported, and killed in the end', async () => {
    const run = await runFixture({ main: spawnChild('env') });
    expect(run.leftovers.map(({ command }) => command)).toEqual([expect.stringContaining('left-behind')]);
    for (const { pid } of run.leftovers) expect(await isGone(pid)).toBe(true);
  });

  it('are noticed if they keep the output open', async () => {
    const run = await runFixture({
      main: `spawn(process.execPath, ['-e', "setInterval(() => {}, 1000)"], { stdio: 'inherit', detached: true }).unref();`,
    });
    expect(run.isOutputHeldOpen).toBe(true);
  });

  it('are not reported after an action that cleans up', async () => {
    const run = await runFixture({
      main: `const child = spawn(process.execPath, ['-e', "setInterval(() => {}, 1000)"]); child.once('exit', () => console.log('done')); child.kill();`,
    });
    expect(run).toMatchObject({ leftovers: [], isOutputHeldOpen: false, log: 'done' });
  });
});

/** Waits until a killed process has ended. The wait is bounded, because no event reports the end. */
async function isGone(pid: number): Promise<boolean> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (!isAlive(pid)) return true;
    await sleep(10);
  }
  return false;
}
