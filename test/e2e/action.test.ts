import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outputTable } from '../../src/action/outputs.ts';
import { parseReport } from '../../src/report/report-json.ts';
import { runAction } from '../support/runner/run-action.ts';
import { runActionInTest } from '../support/runner/action-in-test.ts';
import {
  addingServerPath,
  createWorkspace,
  everythingOverStdio,
  greenEvals,
  plainServer,
  redEvals,
} from '../support/workspace.ts';

// Tests the committed dist/ as the runner starts it, because that is what users get. Some inputs and events run from the sources, in the
// process of the test, if another test covers them for dist/.

const inputs = { 'server-command': everythingOverStdio, evals: 'evals/*.evals.yaml' };

/** Inputs of tests that do not examine the server. */
const plain = { ...plainServer, ...inputs, 'server-command': `node ${addingServerPath}` };

describe('the action', () => {
  it('passes with two inputs: outputs, summary and files written, nothing left running', async () => {
    await using workspace = await createWorkspace({ 'evals/green.evals.yaml': greenEvals });
    const run = await runAction({ workspace: workspace.path, inputs });
    expect(run).toMatchObject({
      exitCode: 0,
      conclusion: 'success',
      annotations: [],
      problems: [],
      leftovers: [],
      outputs: {
        verdict: 'passed',
        'pass-rate': '1',
        passed: '4',
        failed: '0',
        total: '4',
        'report-path': 'mcp-eval-report/report.json',
        'junit-path': 'mcp-eval-report/junit.xml',
        'html-path': 'mcp-eval-report/report.html',
      },
      post: { exitCode: 0, annotations: [], problems: [], leftovers: [] },
    });
    expect(run.summary).toContain('Everything');
    const report = parseReport(JSON.parse(await workspace.read('mcp-eval-report/report.json')));
    expect(run.outputs['run-id']).toBe(report.run?.id);
  });

  it('fails with an annotation on the line of the failing case', async () => {
    await using workspace = await createWorkspace({ 'evals/red.evals.yaml': redEvals });
    const run = await runAction({ workspace: workspace.path, inputs: plain });
    expect(run).toMatchObject({ exitCode: 1, conclusion: 'failure', outputs: { verdict: 'failed', failed: '1' } });
    expect(run.annotations.filter(({ file }) => file !== undefined)).toMatchObject([
      { level: 'error', file: 'evals/red.evals.yaml', line: 3 },
    ]);
    expect(run.annotations.at(-1)?.message).toContain('Echo: goodbye');
    expect(run.summary).toContain('Echoes a message');
  });

  it('is inconclusive when the server does not start, with its last words and no run', async () => {
    await using workspace = await createWorkspace({ 'evals/green.evals.yaml': greenEvals });
    const run = await runAction({
      workspace: workspace.path,
      inputs: { ...inputs, 'server-command': `node -e "console.error('missing: DATABASE_URL'); process.exit(4)"` },
    });
    expect(run).toMatchObject({
      exitCode: 3,
      conclusion: 'failure',
      outputs: { verdict: 'inconclusive', 'pass-rate': '', 'run-id': '', total: '0' },
    });
    expect(run.log).toContain('missing: DATABASE_URL');
    expect(run.annotations).toHaveLength(1);
    expect(run.annotations[0]?.file).toBeUndefined();
  });

  it('reports a command that does not exist', async () => {
    await using workspace = await createWorkspace({ 'evals/green.evals.yaml': greenEvals });
    const run = await runActionInTest({
      workspace: workspace.path,
      inputs: { ...inputs, 'server-command': 'no-such-program' },
    });
    expect(run.exitCode).toBe(3);
    expect(run.log).toContain('no-such-program');
  });

  it('exits 2 with every finding of a bad evals file at its line, in the summary too, and an inconclusive verdict', async () => {
    await using workspace = await createWorkspace({
      'evals/bad.evals.yaml': greenEvals.replace('required:', 'requierd:').replace('runs: 2', 'runs: 200'),
    });
    const run = await runAction({ workspace: workspace.path, inputs: plain });
    expect(run).toMatchObject({ exitCode: 2, outputs: { verdict: 'inconclusive', total: '0', 'pass-rate': '' } });
    expect(run.summary).toContain('Eval gate not run\n\nThe configuration has 2 problems.');
    expect(run.annotations.map(({ file, line }) => `${file}:${line}`)).toEqual([
      'evals/bad.evals.yaml:11',
      'evals/bad.evals.yaml:12',
    ]);
  });

  it('reports every bad input at once', async () => {
    await using workspace = await createWorkspace();
    const bad = { 'min-pass-rate': '0.9', timeout: '30' };
    const run = await runActionInTest({ workspace: workspace.path, inputs: bad });
    expect(run.exitCode).toBe(2);
    expect(run.annotations).toHaveLength(2);
  });

  it('keeps outputs to their patterns, and untrusted text from being obeyed, with a hostile server', async () => {
    await using workspace = await createWorkspace({ 'evals/hostile.evals.yaml': hostileEvals });
    await writeFile(join(workspace.path, 'server.mjs'), hostileServer);
    const run = await runAction({
      workspace: workspace.path,
      inputs: { ...plain, 'server-command': 'node server.mjs' },
    });
    expect(run.exitCode).toBe(1);
    expect(run.problems).toEqual([]);
    expect(run.outputs).not.toHaveProperty('pwned');
    const { 'run-url': runUrl, regressions, ...outputs } = run.outputs;
    for (const { name, pattern } of outputTable) if (name in outputs) expect(outputs[name]).toMatch(pattern);
    expect([runUrl, regressions]).toEqual(['', '']);
    expect(run.annotations.every(({ title }) => title !== 'pwned')).toBe(true);
    expect(run.droppedAnnotations).toEqual([]);
  });

  it('gives the server none of the job’s secrets, and what server-env names', async () => {
    await using workspace = await createWorkspace({ 'evals/env.evals.yaml': environmentEvals });
    const run = await runAction({
      workspace: workspace.path,
      inputs: { ...inputs, 'server-env': 'GREETING=hello\nPASSED_THROUGH' },
      env: { PASSED_THROUGH: 'from-the-job', UNRELATED: 'do-not-pass', GITHUB_TOKEN: 'ghs_canary_canary_canary' },
    });
    // The runner does not print these lines.
    expect(run.log.replaceAll(/^::add-mask::.*$/gm, '')).not.toContain('ghs_canary');
    expect(run).toMatchObject({ exitCode: 0, outputs: { passed: '1' } });
  });

  it('stops the server and its children when the job is cancelled', async () => {
    await using workspace = await createWorkspace({ 'evals/slow.evals.yaml': slowEvals });
    const run = await runAction({
      workspace: workspace.path,
      inputs,
      cancelAfter: (log) => log.includes('running 1 iteration'),
    });
    expect(run).toMatchObject({ exitCode: 130, leftovers: [], post: { exitCode: 0, leftovers: [] } });
    expect(run.outputs['verdict']).toBe('inconclusive');
  });

  it('leaves no process of the server of a main step that is lost to the out-of-memory killer', async () => {
    await using workspace = await createWorkspace({
      'evals/slow.evals.yaml': slowEvals,
      'server.sh': `sleep 300 &\nexec ${everythingOverStdio}\n`,
    });
    const run = await runAction({
      workspace: workspace.path,
      // The server ignores the end of stdin and SIGTERM, and the process that it starts outlives it.
      inputs: { ...inputs, 'server-command': `bash -c 'trap "" TERM; setsid sleep 300 & . ./server.sh'` },
      killMainAfter: (log) => log.includes('running 1 iteration'),
      timings: { outputMs: 500 },
    });
    expect(run).toMatchObject({ signal: 'SIGKILL', conclusion: 'failure' });
    expect(run.post).toMatchObject({ exitCode: 0, problems: [], leftovers: [] });
  });

  it.each(['pull_request', 'schedule', 'workflow_dispatch'])('gives the same verdict on %s', async (name) => {
    await using workspace = await createWorkspace({ 'evals/green.evals.yaml': greenEvals });
    const run = await runActionInTest({ workspace: workspace.path, inputs: plain, env: { GITHUB_EVENT_NAME: name } });
    expect(run).toMatchObject({ exitCode: 0, outputs: { verdict: 'passed' } });
  });
});

const slowEvals = `suite: Slow
cases:
  - title: Takes its time
    steps:
      - toolCall: trigger-long-running-operation
        arguments: { duration: 50, steps: 5 }
`;

/** RE2 cannot express "does not contain", so the case lists the whole environment of the server. Any other variable fails it. */
const environmentEvals = `suite: Environment
cases:
  - title: Shows what it was given
    steps:
      - toolCall: get-env
      - assert: { toolResultContains: '"GREETING": "hello"' }
      - assert: { toolResultContains: '"PASSED_THROUGH": "from-the-job"' }
      - assert: { toolResultContains: RUNNER_TRACKING_ID }
      - assert:
          toolResultMatchesSchema:
            type: object
            propertyNames:
              not: { pattern: "^(INPUT_|GITHUB_|ACTIONS_|STATE_|UNRELATED)" }
`;

const hostileText =
  '::error title=pwned::x\\n::set-output name=pwned::1\\n ##[error]pwned\\r::add-mask::passed\\u2028::error title=pwned::y';

const hostileEvals = `suite: "Hostile ::error title=pwned::z"
cases:
  - id: hostile
    title: "##[error]pwned ::error title=pwned::t"
    steps:
      - toolCall: speak
      - assert: { toolResultContains: something else }
`;

/** A server that writes the hostile text into its name, its log and its answer. */
const hostileServer = `
import { createInterface } from 'node:readline';
const text = "${hostileText}";
console.error(text);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const answer = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  if (method === 'initialize') {
    answer({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: text, version: text } });
  }
  if (method === 'tools/list') answer({ tools: [{ name: 'speak', inputSchema: { type: 'object' } }] });
  if (method === 'tools/call') answer({ content: [{ type: 'text', text }] });
}
`;
