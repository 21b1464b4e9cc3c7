import { describe, expect, it } from 'vitest';
import { renderReportJson } from '../../src/report/report-json.ts';
import { readExampleInputs, readExampleJob } from '../support/runner/example-workflow.ts';
import { type GitHubApi, refusals, startGitHubApi } from '../support/github/github-api.ts';
import { createGitHubJob, jobToken } from '../support/runner/github-job.ts';
import { findClosedPort, hangUp } from '../support/network/http-server.ts';
import { interruptedInTheLastMoment } from '../support/runner/last-moment.ts';
import { createRedReport } from '../support/factories/report-factory.ts';
import { createSuiteResults } from '../support/factories/results-factory.ts';
import { runMainInTest, startMain } from '../support/runner/main-step.ts';
import { createWorkflowRunEvent } from '../support/runner/events.ts';
import { createShardReports } from '../support/factories/shard-factory.ts';
import { createWorkspace, greenEvals, redEvals } from '../support/workspace.ts';

describe('runMain', () => {
  it('keeps its exit code when a signal comes in the last moment', async () => {
    await using workspace = await createWorkspace({ 'red.yaml': redEvals });
    const { exitCode } = await startMain({ workspace, inputs: { evals: 'red.yaml' }, env: interruptedInTheLastMoment });
    expect(exitCode).toBe(1);
  });

  it.each([
    ['green.yaml', 0, startMain],
    ['red.yaml', 1, runMainInTest],
  ])(
    'keeps the verdict of %s, and warns, where neither reports nor the state can be written',
    async (evals, code, run) => {
      await using workspace = await createWorkspace({ 'green.yaml': greenEvals, 'red.yaml': redEvals, file: '' });
      const { exitCode, stdout, commands } = await run({
        workspace,
        inputs: { 'report-dir': 'file/below', evals },
        env: {
          GITHUB_OUTPUT: '/nowhere/output',
          GITHUB_STATE: '/nowhere/state',
          GITHUB_STEP_SUMMARY: workspace.path,
        },
      });
      expect(exitCode).toBe(code);
      expect(stdout).toContain('Could not write the output verdict');
      const state = commands.filter(({ command, data }) => command === 'warning' && data.includes('state'));
      expect(state.map(({ data }) => data)).toEqual([
        'The state of the action cannot be saved: Missing file at path: /nowhere/state. Should this step be killed, what it started stays behind.',
      ]);
      expect(commands.some(({ command }) => command === 'error')).toBe(code === 1);
    },
  );

  it('registers every mask before its first line of log, and keeps its verdict if a passed value is a word of the report', async () => {
    await using workspace = await createWorkspace({ 'red.yaml': redEvals });
    const inputs = { evals: 'red.yaml', 'server-env': 'GREETING\nSTATUS' };
    const env = { GREETING: 'from-the-job', STATUS: 'failed' };
    const { exitCode, stdout, outputs } = await runMainInTest({ workspace, inputs, env });
    const lines = stdout.split('\n');
    const started = lines.findIndex((line) => line.startsWith('Starting'));
    expect(lines.indexOf('::add-mask::from-the-job')).toBeGreaterThanOrEqual(0);
    expect(lines.indexOf('::add-mask::from-the-job')).toBeLessThan(started);
    expect(exitCode).toBe(1);
    expect(outputs).toMatchObject({ verdict: 'failed', failed: '1' });
  });

  it('reads tests written in place with their indentation, and annotates no directory of their name', async () => {
    await using workspace = await createWorkspace({ 'tests/unit.js': '' });
    const tests = '\n  - title: Echoes\n    steps:\n      - toolCall: echo\n        arguments: { message: hi }\n';
    expect((await runMainInTest({ workspace, inputs: { tests } })).exitCode).toBe(0);
    const failing = `${tests}      - assert: { toolResultContains: goodbye }\n`;
    const { exitCode, commands } = await runMainInTest({ workspace, inputs: { tests: failing } });
    expect(exitCode).toBe(1);
    const annotations = commands.filter(({ command }) => command === 'error');
    expect(annotations.map(({ properties }) => properties)).toEqual([
      { title: 'Eval gate failed' },
      { title: 'Echoes: 0 of 1 passed' },
    ]);
  });

  it.each([
    ['annotations', 1],
    ['summary', 0],
  ])('with report-to: %s prints %d annotations for a finding in an evals file', async (destinations, count) => {
    await using workspace = await createWorkspace({ 'bad.yaml': 'suite: Bad\n' });
    const { exitCode, stdout, commands } = await runMainInTest({
      workspace,
      inputs: { evals: 'bad.yaml', 'report-to': destinations },
    });
    expect(exitCode).toBe(2);
    expect(stdout).toContain('bad.yaml:1:1: The key `cases` is missing (missing-key)');
    expect(commands.filter(({ command }) => command === 'error')).toHaveLength(count);
  });
});

describe('runMain with a configuration that is wrong', () => {
  const inputs = { evals: 'bad.yaml', 'min-pass-rate': '0.9', policy: 'policy.yaml' };
  const files = { 'bad.yaml': 'suite: Bad\nchekcs: []\n', 'policy.yaml': 'confidense: 95%\n' };

  it('reports problems of inputs and files at once, in log, annotations, summary and outputs', async () => {
    await using workspace = await createWorkspace(files);
    const { exitCode, stdout, commands, outputs, summary } = await startMain({ workspace, inputs });
    expect(exitCode).toBe(2);
    expect(summary).toMatchInlineSnapshot(`
      "## ⚠️ Eval gate not run

      The configuration has 4 problems. The gate started nothing and ends with exit code 2.

      - \`min-pass-rate\`: 0.9 could mean 0.9% or 90%; write the one you mean with its % sign
      - \`policy.yaml:1:1\`: Unknown key \`confidense\`; did you mean \`confidence\`?
      - \`bad.yaml:1:1\`: The key \`cases\` is missing
      - \`bad.yaml:2:1\`: Unknown key \`chekcs\`; did you mean \`checks\`?
      "
    `);
    expect(summary?.split('\n').filter((line) => line.startsWith('- '))).toHaveLength(4);
    expect(commands.filter(({ command }) => command === 'error')).toHaveLength(4);
    expect(stdout).toContain('bad.yaml:2:1: ');
    expect(outputs).toEqual({
      verdict: 'inconclusive',
      'pass-rate': '',
      passed: '0',
      failed: '0',
      total: '0',
      regressions: '',
      flaky: '',
      'run-id': '',
      'run-url': '',
      'report-path': '',
      'junit-path': '',
      'html-path': '',
    });
  });

  it('writes no annotations or summary with `report-to: none`, also for a wrong configuration', async () => {
    await using workspace = await createWorkspace(files);
    const silent = { ...inputs, 'report-to': 'none' };
    const { exitCode, commands, summary } = await runMainInTest({ workspace, inputs: silent });
    expect(exitCode).toBe(2);
    expect(commands.filter(({ command }) => command === 'error')).toEqual([]);
    expect(summary).toBeNull();
  });

  it('ends with 2 if it cannot write the summary', async () => {
    await using workspace = await createWorkspace(files);
    const { exitCode, stdout } = await runMainInTest({
      workspace,
      inputs,
      env: { GITHUB_STEP_SUMMARY: '/nowhere/summary' },
    });
    expect(exitCode).toBe(2);
    expect(stdout).toContain('Could not write the job summary: ENOENT');
  });
});

describe('runMain with comment', () => {
  const verdicts = [
    ['green.yaml', 0, 'passed'],
    ['red.yaml', 1, 'failed'],
  ] as const;

  async function comment(evals: string, apiUrl: string, inputs: Record<string, string> = {}) {
    await using workspace = await createWorkspace({ 'green.yaml': greenEvals, 'red.yaml': redEvals });
    const env = await createGitHubJob(workspace, apiUrl);
    const stage = await runMainInTest({
      workspace,
      inputs: { evals, 'report-to': 'comment', 'github-token': jobToken, ...inputs },
      env,
    });
    const warnings = stage.commands.filter(({ command }) => command === 'warning').map(({ data }) => data);
    return { ...stage, warnings };
  }

  it.each(verdicts)('posts the verdict of %s on the pull request', async (evals, exitCode, verdict) => {
    await using api = await startGitHubApi();
    expect(await comment(evals, api.url)).toMatchObject({ exitCode, warnings: [], outputs: { verdict } });
    expect(api.comments.map(({ body }) => body.includes(` verdict=${verdict} `))).toEqual([true]);
  });

  // publish-github.test.ts has what each refusal is reported as.
  it.each([
    ['green.yaml', 0, 'passed', 'forbidden'],
    ['red.yaml', 1, 'failed', 'broken'],
  ] as const)(
    'keeps the verdict of %s, exit code %d, %s, where the comment is %s',
    async (evals, exitCode, verdict, name) => {
      await using api = await startGitHubApi();
      api.trouble.push({ request: 'POST issues/7/comments', answer: refusals[name] });
      const ended = await comment(evals, api.url);
      expect(ended).toMatchObject({ exitCode, outputs: { verdict } });
      expect(ended.warnings).toEqual([
        expect.stringMatching(/^Could not comment on pull request 7: .* The verdict stands\.$/),
      ]);
    },
  );

  it('keeps the verdict of red.yaml without a network', async () => {
    const ended = await comment('red.yaml', `http://127.0.0.1:${await findClosedPort()}`);
    expect(ended).toMatchObject({ exitCode: 1, outputs: { verdict: 'failed' } });
    expect(ended.warnings).toHaveLength(1);
  });

  it('has the token masked, and shows it nowhere', async () => {
    await using api = await startGitHubApi();
    api.trouble.push({ request: 'POST issues', answer: hangUp });
    const { stdout } = await comment('red.yaml', api.url);
    expect(stdout.replace(`::add-mask::${jobToken}`, '')).not.toContain('canary');
    expect(stdout).toContain(`::add-mask::${jobToken}`);
  });
});

describe('the action publish', () => {
  async function publish(api: GitHubApi, commit: string, runStage = runMainInTest) {
    const report = { ...createRedReport(), revision: { commit, branch: 'PR 7' } };
    await using workspace = await createWorkspace({ 'report/report.json': renderReportJson(report) });
    const env = await createGitHubJob(workspace, api.url, { event: createWorkflowRunEvent() });
    const inputs = readExampleInputs(readExampleJob('forks-comment.yml', 'comment'), {});
    return await runStage({
      workspace,
      inputs: { 'server-command': '', 'github-token': jobToken, ...inputs },
      env,
      action: 'publish',
    });
  }

  it('comments on the report of another workflow, and ends with 0 whatever its verdict', async () => {
    await using api = await startGitHubApi();
    const { exitCode, stdout } = await publish(api, '1'.repeat(40), startMain);
    expect({ exitCode, comments: api.comments.length }).toEqual({ exitCode: 0, comments: 1 });
    expect(stdout).toContain('Commented on pull request 7');
  });

  it('ends with 2 and says why where the report is of another commit, and with 3 where GitHub refuses', async () => {
    await using api = await startGitHubApi();
    const foreign = await publish(api, '2'.repeat(40), startMain);
    expect(foreign.exitCode).toBe(2);
    expect(foreign.commands).toContainEqual(expect.objectContaining({ command: 'error' }));
    api.trouble.push({ request: 'POST issues', answer: refusals.forbidden });
    expect((await publish(api, '1'.repeat(40))).exitCode).toBe(3);
    expect(api.comments).toEqual([]);
  });
});

describe('the action merge', () => {
  const [first, second] = createShardReports([createSuiteResults()], 2, () => 1);

  it('joins the reports that its input names into one verdict', async () => {
    const files = {
      'shards/1/report.json': renderReportJson(first!),
      'shards/2/report.json': renderReportJson(second!),
    };
    await using workspace = await createWorkspace(files);
    const { exitCode, outputs } = await startMain({ workspace, inputs: { reports: 'shards' }, action: 'merge' });
    expect(exitCode).toBe(0);
    expect(outputs).toMatchObject({ verdict: 'passed' });
  });

  it('names its own input if a shard is missing and if no report is given', async () => {
    await using workspace = await createWorkspace({ 'shards/1/report.json': renderReportJson(first!) });
    const partial = await startMain({ workspace, inputs: { reports: 'shards' }, action: 'merge' });
    expect(partial.exitCode).toBe(2);
    expect(partial.stdout).toMatch(/reports: The shards cannot be joined: .*1 shard of 2 missing: 2.*\(bad-merge\)/);
    await using empty = await createWorkspace();
    const without = await runMainInTest({ workspace: empty, inputs: {}, action: 'merge' });
    expect(without.exitCode).toBe(2);
    expect(without.stdout).toContain('reports: names no reports; give the directory that holds those of all shards');
  });
});

describe('an input of the action that is a flag of the command', () => {
  it('is refused with exit code 2 and the location where it belongs, each with an error of its own', async () => {
    const flags: Array<[name: string, value: string, message: string]> = [
      ['base-ref', 'main', 'is no input of the action; run the command with `--base-ref`'],
      ['concurrency', '2', 'is no input of the action; write the key `concurrency` in the evals file, or'],
      ['protocol', 'auto', 'is no input of the action; write the key `protocol` in the evals file, or'],
    ];
    await using workspace = await createWorkspace({ 'green.yaml': greenEvals });
    const inputs = Object.fromEntries(flags.map(([name, value]) => [name, value]));
    const { exitCode, stdout, commands } = await runMainInTest({
      workspace,
      inputs: { evals: 'green.yaml', ...inputs },
    });
    expect(exitCode).toBe(2);
    for (const [name, , message] of flags) expect(stdout).toContain(`${name}: ${message}`);
    expect(commands.filter(({ command }) => command === 'error')).toHaveLength(flags.length);
  });
});
