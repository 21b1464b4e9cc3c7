import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  locateExampleAction,
  readExampleInputs,
  readExampleJob,
  readWorkflow,
} from '../support/runner/example-workflow.ts';
import { startGitHubApi } from '../support/github/github-api.ts';
import { jobToken } from '../support/runner/github-job.ts';
import { createPullRequestEvent, createScheduleEvent, createWorkflowRunEvent } from '../support/runner/events.ts';
import { type ActionRun, runAction } from '../support/runner/run-action.ts';
import { runActionInTest } from '../support/runner/action-in-test.ts';
import { canMake } from '../support/process/sandbox-lab.ts';
import { addingServerPath, createWorkspace, greenEvals, plainServer, type Workspace } from '../support/workspace.ts';
import { listYamlBlocks, wrapSteps } from '../support/text/yaml-blocks.ts';

// The steps of examples/workflows that use the action, run in the runner harness with their inputs. The server stands for the output of
// `npm run build`. Each of the three actions runs from the committed dist/; repeated runs in a test use this process.

const hasSandbox = (await canMake('unshare')) || (await canMake('bwrap'));

function createRepository(evals = greenEvals): Promise<Workspace> {
  return createWorkspace({
    'build/index.js': `import(${JSON.stringify(addingServerPath)});\n`,
    'evals/everything.evals.yaml': evals,
  });
}

const oneCase = `suite: Everything
cases:
  - title: Echoes a message
    steps:
      - toolCall: echo
        arguments: { message: hello }
      - assert: { toolResultContains: "Echo: hello" }
`;

/** Replaces the server by a worse one, with which the same case fails. */
async function worsen({ path }: Workspace): Promise<void> {
  const text = `process.argv.push('worse');\nimport(${JSON.stringify(addingServerPath)});\n`;
  await writeFile(join(path, 'build/index.js'), text);
}

/** Copies the report to the path to which the shard's artifact would be downloaded. */
async function keepAsShard({ path }: Workspace, shard: number): Promise<void> {
  const target = join(path, `shards/eval-shard-${shard}`);
  await rm(target, { recursive: true, force: true });
  await mkdir(join(path, 'shards'), { recursive: true });
  await rename(join(path, 'mcp-eval-report'), target);
}

describe('nightly.yml and pull-request.yml', () => {
  it('keep a history, and fail a night and a pull request that regress', async () => {
    // The workflow runs each case five times.
    await using workspace = await createRepository(oneCase);
    await using api = await startGitHubApi();
    const evals = { ...plainServer, ...readExampleInputs(readExampleJob('nightly.yml', 'evals'), {}) };
    const verdictJob = readExampleJob('nightly.yml', 'verdict');
    const verdict = readExampleInputs(verdictJob, { 'github.ref_name': 'main' });
    const runNight = async (): Promise<ActionRun> => {
      const schedule = { workspace: workspace.path, event: createScheduleEvent() };
      const ran = await runActionInTest({ ...schedule, inputs: evals });
      expect(ran).toMatchObject({ problems: [], leftovers: [] });
      await keepAsShard(workspace, 1);
      return await runActionInTest({
        ...schedule,
        actionDirectory: locateExampleAction(verdictJob),
        inputs: { ...verdict, 'github-token': jobToken },
        env: { GITHUB_API_URL: api.url },
        secrets: [jobToken],
      });
    };

    const first = await runNight();
    expect(first).toMatchObject({ exitCode: 0, problems: [], leftovers: [] });
    expect(first.log).toContain('has no gates yet, so the gate skips the comparison');

    const second = await runNight();
    expect(second).toMatchObject({ exitCode: 0, annotations: [] });
    expect(second.summary).toContain('██ 2 gates on `main`');
    expect(api.issues).toEqual([]);

    await worsen(workspace);
    const shown = readExampleInputs(readExampleJob('pull-request.yml', 'evals'), { 'github.base_ref': 'main' });
    const inputs = { ...plainServer, ...shown };
    const pullRequest = await runActionInTest({ workspace: workspace.path, inputs, event: createPullRequestEvent() });
    expect(pullRequest).toMatchObject({ exitCode: 1, outputs: { verdict: 'failed' } });
    expect(pullRequest.summary).toContain(
      '| ❌ regressed | `Echoes a message` | 5 of 5 | 0 of 3, and 0 of 5 further |',
    );

    const third = await runNight();
    expect(third).toMatchObject({ exitCode: 1, outputs: { verdict: 'failed' } });
    expect(api.issues).toMatchObject([{ state: 'open', title: 'Evals fail: Everything' }]);
    expect((await workspace.read('eval-history/history.jsonl')).trim().split('\n')).toHaveLength(4);
  });
});

describe('base.yml', () => {
  it('builds the base, passes a change that is as good, and fails one that breaks a tool', async () => {
    await using workspace = await createWorkspace({
      'package.json': JSON.stringify({ name: 'server', version: '1.0.0', scripts: { build: 'node make.js' } }),
      'package-lock.json': JSON.stringify({ name: 'server', version: '1.0.0', lockfileVersion: 3, packages: {} }),
      'make.js': "require('node:fs').cpSync('source.js', 'build/index.js');\n",
      'source.js': `import(${JSON.stringify(addingServerPath)});\n`,
      'evals/everything.evals.yaml': oneCase,
      '.gitignore': 'build\neval-base\nmcp-eval-report\n',
    });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], { cwd: workspace.path });
    git('init', '-q', '-b', 'change');
    git('add', '.');
    git('commit', '-q', '-m', 'One');
    const baseCommit = git('rev-parse', 'HEAD').toString().trim();
    git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    const inputs = {
      ...plainServer,
      ...readExampleInputs(readExampleJob('base.yml', 'evals'), { 'secrets.EVAL_BASE_CACHE_KEY': 'base-cache-canary' }),
    };
    const job = { workspace: workspace.path, inputs, event: createPullRequestEvent({ baseCommit }) };

    await mkdir(join(workspace.path, 'build'));
    await workspace.write('build/index.js', await workspace.read('source.js'));
    const green = await runAction(job);
    expect(green).toMatchObject({ exitCode: 0, problems: [], leftovers: [] });
    expect(green.summary).toMatch(/Not shown to be worse than the base \(`[\da-f]{7}, the merge base with main`\)/);
    const again = await runActionInTest(job);
    expect(again).toMatchObject({ exitCode: 0, problems: [], leftovers: [] });
    expect(green.log).toContain('The server of the base is ready');
    expect(again.log).not.toContain('The server of the base is ready');

    await worsen(workspace);
    const red = await runActionInTest(job);
    expect(red).toMatchObject({ exitCode: 1, outputs: { verdict: 'failed' }, problems: [], leftovers: [] });
    expect(red.summary).toMatch(/Worse than the base \(`.*`\): 1 of 1 case\./);
    expect(red.summary).toContain('| ❌ worse | `Echoes a message` |');
    expect(red.annotations.map(({ message }) => message).join()).toContain('"Echoes a message" is worse than the base');
    expect(String(git('worktree', 'list')).trim().split('\n')).toHaveLength(1);
  });
});

describe('shards.yml', () => {
  it('cuts the cases over the matrix and joins them, and refuses a whole that lacks a part', async () => {
    await using workspace = await createRepository();
    const evals = readExampleJob('shards.yml', 'evals');
    const shards = evals.strategy?.matrix['shard'] ?? [];
    expect(shards).toEqual([1, 2, 3]);
    const verdict = readExampleJob('shards.yml', 'verdict');
    const inputs = readExampleInputs(verdict, {});
    const actionDirectory = locateExampleAction(verdict);
    const whole = { workspace: workspace.path, actionDirectory, inputs };

    for (const shard of shards) {
      const own = { ...plainServer, ...readExampleInputs(evals, { 'matrix.shard': String(shard) }) };
      const run = await runActionInTest({ workspace: workspace.path, inputs: own });
      expect(run).toMatchObject({ exitCode: 0, problems: [], leftovers: [] });
      await keepAsShard(workspace, Number(shard));
      if (shard === 2) {
        const incomplete = await runActionInTest(whole);
        expect(incomplete).toMatchObject({ exitCode: 2, outputs: { verdict: 'inconclusive' } });
        expect(incomplete.log).toContain('1 shard of 3 missing: 3');
      }
    }
    expect(await runAction(whole)).toMatchObject({
      exitCode: 0,
      problems: [],
      outputs: { verdict: 'passed', passed: '4', total: '4', 'report-path': 'mcp-eval-report/report.json' },
    });
  });
});

describe('two-jobs.yml', () => {
  it('judges by the policy of the base in a job that runs no server, whatever the first job says', async () => {
    await using workspace = await createRepository();
    await using api = await startGitHubApi();
    api.pulls.set(7, { sha: '1'.repeat(40), owner: 'your-org', branch: 'change' });
    const {
      sandbox = '',
      // Changes a setting of the machine, so it stays with the runner.
      'enable-sandbox': isSandboxEnabled,
      ...inputs
    } = readExampleInputs(readExampleJob('two-jobs.yml', 'evals'), {});
    expect([sandbox, isSandboxEnabled]).toEqual(['required', 'true']);
    const level = hasSandbox ? { sandbox } : {};
    const runBoth = async (run: typeof runAction) => {
      const event = createPullRequestEvent();
      const evals = await run({ workspace: workspace.path, inputs: { ...inputs, ...level }, event });
      expect(evals).toMatchObject({ problems: [], leftovers: [] });
      const report = JSON.parse(await workspace.read('mcp-eval-report/report.json'));
      expect(report.server.sandbox.level).toBe(hasSandbox ? 'confined' : 'none');
      await using base = await createWorkspace({
        'evals/policy.yaml': 'minimumPassRate: 100%\n',
        'shards/eval-shard-1/report.json': JSON.stringify(report),
      });
      const verdictJob = readExampleJob('two-jobs.yml', 'verdict');
      return await run({
        workspace: base.path,
        actionDirectory: locateExampleAction(verdictJob),
        inputs: { ...readExampleInputs(verdictJob, {}), 'github-token': jobToken },
        event,
        env: { GITHUB_API_URL: api.url },
        secrets: [jobToken],
      });
    };

    expect(await runBoth(runAction)).toMatchObject({ exitCode: 0, problems: [], outputs: { verdict: 'passed' } });
    expect(api.comments).toMatchObject([{ issue: 7, body: expect.stringContaining('Eval gate passed') }]);

    // A pull request cannot lower its own minimum: the gate uses the minimum of the base branch.
    await worsen(workspace);
    inputs['min-pass-rate'] = '0%';
    expect(await runBoth(runActionInTest)).toMatchObject({ exitCode: 1, problems: [], outputs: { verdict: 'failed' } });
    expect(api.comments).toMatchObject([{ issue: 7, body: expect.stringContaining('Eval gate failed') }]);
  });
});

describe('the steps of docs/hardening.md', () => {
  const [block] = listYamlBlocks(
    'hardening.md',
    readFileSync(join(import.meta.dirname, '../../docs/hardening.md'), 'utf8'),
  );
  const workflow = readWorkflow(wrapSteps(block?.text ?? ''));

  it('run the server without network and writes, or are inconclusive where there is no sandbox', async () => {
    await using workspace = await createRepository();
    await mkdir(join(workspace.path, 'data'));
    const inputs = readExampleInputs(workflow['evals'] ?? { steps: [] }, {});
    const ran = await runAction({ workspace: workspace.path, inputs, event: createPullRequestEvent() });
    expect(ran).toMatchObject({ exitCode: hasSandbox ? 0 : 3, problems: [], leftovers: [] });
    const { server, verdict } = JSON.parse(await workspace.read('mcp-eval-report/report.json'));
    if (hasSandbox) expect(server.sandbox).toMatchObject({ level: 'confined', network: 'loopback' });
    else expect(verdict.reasons[0].code).toBe('sandbox-unavailable');
  });

  it('end with exit code 2 where the path is missing', async () => {
    await using workspace = await createRepository();
    const inputs = readExampleInputs(workflow['evals'] ?? { steps: [] }, {});
    const ran = await runActionInTest({ workspace: workspace.path, inputs, event: createPullRequestEvent() });
    expect(ran.exitCode).toBe(2);
    expect(ran.log).toContain('"data" does not exist');
  });
});

describe('forks-evals.yml and forks-comment.yml', () => {
  it("post a fork's report on its pull request, and no report of another commit", async () => {
    await using workspace = await createRepository();
    await using api = await startGitHubApi();
    const headSha = '1'.repeat(40);
    api.pulls.set(7, { sha: headSha, owner: 'someone', branch: 'change' });
    const evals = await runActionInTest({
      workspace: workspace.path,
      inputs: { ...plainServer, ...readExampleInputs(readExampleJob('forks-evals.yml', 'evals'), {}) },
      event: createPullRequestEvent({ isFork: true }),
    });
    expect(evals).toMatchObject({ exitCode: 0, problems: [], leftovers: [] });

    // The artifact is downloaded into a directory without a checkout of the pull request.
    const text = await workspace.read('mcp-eval-report/report.json');
    const commentJob = readExampleJob('forks-comment.yml', 'comment');
    const comment = async (report: string, run: typeof runAction) => {
      await using other = await createWorkspace({ 'report/report.json': report });
      return await run({
        workspace: other.path,
        actionDirectory: locateExampleAction(commentJob),
        inputs: { ...readExampleInputs(commentJob, {}), 'github-token': jobToken },
        event: createWorkflowRunEvent({ isFork: true }),
        env: { GITHUB_API_URL: api.url },
        secrets: [jobToken],
      });
    };
    const ofOtherCommit = text.replaceAll(headSha, '9'.repeat(40));
    expect(await comment(ofOtherCommit, runActionInTest)).toMatchObject({ exitCode: 2, problems: [] });
    expect(api.comments).toEqual([]);
    expect(await comment(text, runAction)).toMatchObject({ exitCode: 0, problems: [], annotations: [] });
    expect(api.comments).toMatchObject([
      { issue: 7, body: expect.stringContaining('### ✅ Eval gate passed: `evals`') },
    ]);
  });
});
