import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseReport } from '../../src/report/report-json.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { interruptedInTheLastMoment } from '../support/runner/last-moment.ts';
import { addingServerPath, createWorkspace, everythingOverStdio, greenEvals, redEvals } from '../support/workspace.ts';

const twoFlags = ['run', '--server-command', everythingOverStdio, '--evals', 'evals/*.evals.yaml'];

/** A small server without a sandbox, and one process of it for all iterations, for tests that do not examine the server. */
const run = [
  'run',
  '--server-command',
  `node ${addingServerPath}`,
  '--evals',
  'evals/*.evals.yaml',
  '--isolation',
  'run',
  '--sandbox',
  'off',
];

describe('mcp-eval-ci run', () => {
  it('exits 0 with a green report for two flags', async () => {
    await using workspace = await createWorkspace({ 'evals/green.evals.yaml': greenEvals });
    const result = await runCommand(twoFlags, { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 0 });
    expect(result.stdout.split('\n')[0]).toMatch(/passed/i);
    const report = parseReport(JSON.parse(await workspace.read('mcp-eval-report/report.json')));
    expect(report).toMatchObject({
      verdict: { outcome: 'passed' },
      totals: { cases: 3, iterations: 4, passed: 4, failed: 0, passRate: 1 },
      server: { transport: 'stdio', isolation: 'process per iteration' },
    });
    expect(await workspace.read('mcp-eval-report/junit.xml')).toMatch(/^<\?xml version="1.0"/);
  });

  it('exits 1 and names the failing case with its place', async () => {
    await using workspace = await createWorkspace({ 'evals/red.evals.yaml': redEvals });
    const result = await runProgramInTest(run, { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 1 });
    expect(result.stdout).toContain('evals/red.evals.yaml:3');
    expect(result.stdout).toContain('Echo: goodbye');
  });

  it('hands the report to the reporters of a file, and refuses a file without any before it starts', async () => {
    await using workspace = await createWorkspace({
      'evals/red.evals.yaml': redEvals,
      'titles.mjs': `import { writeFileSync } from 'node:fs';
const list = ({ cases }) => writeFileSync('titles.txt', cases.map(({ title, outcome }) => title + ': ' + outcome).join());
export const titles = { name: 'titles', report: list };
export const broken = { name: 'broken', report: () => { throw 'no disk'; } };
`,
      'none.mjs': 'export default 5;',
    });
    const flags = ['--reporter', 'titles.mjs'];
    const result = await runCommand([...run, ...flags], { cwd: workspace.path });
    expect(result).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('The reporter broken failed: no disk'),
    });
    expect(await workspace.read('titles.txt')).toMatch(/: failed/);
    const refused = await runCommand([...run, '--reporter', 'none.mjs', '--reporter', 'x.mjs'], {
      cwd: workspace.path,
    });
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(
        /^--reporter: "none\.mjs" exports no reporter; .* \(bad-reporter\)\n--reporter: "x\.mjs" cannot be loaded: .*\n2 problems/m,
      ),
    });
  });

  it('keeps its exit code when a signal comes in the last moment', async () => {
    await using workspace = await createWorkspace({ 'evals/red.evals.yaml': redEvals });
    const result = await runCommand(run, { cwd: workspace.path, env: interruptedInTheLastMoment });
    expect(result).toMatchObject({ exitCode: 1 });
  });

  it('exits 0 on the same suite when the minimum allows the failure', async () => {
    await using workspace = await createWorkspace({ 'evals/red.evals.yaml': redEvals });
    const result = await runProgramInTest([...run, '--min-pass-rate', '75%'], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 0 });
  });

  it('exits 1 whatever the minimum when a required case fails', async () => {
    await using workspace = await createWorkspace({
      'evals/required.evals.yaml': greenEvals.replace('toolResultContains: "5"', 'toolResultContains: "6"'),
    });
    const result = await runProgramInTest([...run, '--min-pass-rate', '0%'], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 1 });
    expect(result.stdout).toContain('Adds two numbers');
  });

  it('exits 3 with the last words of a server that dies at once, and creates no run', async () => {
    await using workspace = await createWorkspace({
      'evals/green.evals.yaml': greenEvals,
      'server.mjs': 'console.error("no such database: orders"); process.exit(7);',
    });
    const result = await runProgramInTest(['run', '--server-command', 'node server.mjs', '--evals', 'evals/*.yaml'], {
      cwd: workspace.path,
    });
    expect(result).toMatchObject({ exitCode: 3 });
    expect(result.stdout + result.stderr).toContain('no such database: orders');
    expect(result.stdout + result.stderr).toMatch(/exit(?:ed)?[^\n]* 7/);
    const report = parseReport(JSON.parse(await workspace.read('mcp-eval-report/report.json')));
    expect(report).toMatchObject({ verdict: { outcome: 'inconclusive' }, run: null });
  });

  it('exits 1 and quotes the last lines of the server when it dies in the middle of a call', async () => {
    await using workspace = await createWorkspace({
      'evals/green.evals.yaml': greenEvals,
      'server.mjs': dyingServer,
    });
    const result = await runProgramInTest(['run', '--server-command', 'node server.mjs', '--evals', 'evals/*.yaml'], {
      cwd: workspace.path,
    });
    expect(result).toMatchObject({ exitCode: 1 });
    expect(result.stdout).toContain('segmentation fault, honestly');
    const report = parseReport(JSON.parse(await workspace.read('mcp-eval-report/report.json')));
    expect(report.verdict.outcome).toBe('failed');
  });

  it('exits 2 with every finding of a bad evals file and starts nothing', async () => {
    await using workspace = await createWorkspace({
      'evals/bad.evals.yaml': 'suite: Bad\nchekcs: []\ncases:\n  - titel: x\n    steps: []\n',
    });
    const result = await runCommand(run, { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr).toMatch(/^evals\/bad\.evals\.yaml:2:1: .*checks/m);
    expect(result.stderr).toMatch(/^evals\/bad\.evals\.yaml:4:5: .*title/m);
    expect(await readdir(workspace.path)).toEqual(['evals']);
  });

  it('exits 2 with every bad option at once', async () => {
    await using workspace = await createWorkspace();
    const result = await runProgramInTest(['run', '--min-pass-rate', '0.9', '--runs', 'many'], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 2 });
    expect(result.stderr).toContain('min-pass-rate:');
    expect(result.stderr).toContain('runs:');
  });

  it('exits 2 with bad options and bad evals files in one list, and adds it to the job summary', async () => {
    await using workspace = await createWorkspace({ 'a.yaml': 'suite: Bad\n', summary: '' });
    const env = { GITHUB_STEP_SUMMARY: join(workspace.path, 'summary') };
    const result = await runProgramInTest(['run', '--runs', 'many', 'a.yaml', 'b.yaml'], { cwd: workspace.path, env });
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr).toMatchInlineSnapshot(`
      "runs: "many" is not a number of runs; write a whole number from 1 to 100, or a range such as 2..30 (bad-runs)
      evals: No file matches "b.yaml"; patterns are relative to the working directory, such as evals/*.evals.yaml (no-files)
      a.yaml:1:1: The key \`cases\` is missing (missing-key)
      3 problems; nothing was run.
      "
    `);
    expect(await workspace.read('summary')).toContain('The configuration has 3 problems.');
  });

  it('refuses a prompt step without a model before anything starts, naming its line', async () => {
    await using workspace = await createWorkspace({
      'evals/prompt.evals.yaml': 'suite: P\ncases:\n  - title: asks\n    steps:\n      - prompt: hi\n',
    });
    const result = await runProgramInTest(run, { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 2 });
    expect(result.stderr).toMatch(/^evals\/prompt\.evals\.yaml:5:\d+: .*prompt step and no model/m);
  });

  it('exits 2 for a flag that it does not know', async () => {
    await using workspace = await createWorkspace();
    const result = await runProgramInTest(['run', '--sever-command', 'x'], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 2 });
    expect(result.stderr).toContain('--server-command');
  });

  it('prints no progress with --quiet, and without it when the run begins and ends', async () => {
    await using workspace = await createWorkspace({ 'evals/green.evals.yaml': greenEvals });
    const loud = await runProgramInTest(run, { cwd: workspace.path });
    const quiet = await runProgramInTest([...run, '--quiet'], { cwd: workspace.path });
    expect(loud.stderr).toMatch(/: running 4 iterations .*\n.*: run completed\.$/m);
    expect(loud.stderr).not.toContain('✓');
    expect(quiet.stderr).toBe('');
    expect(quiet.stdout.replaceAll(/\d+(?:\.\d+)? m?s/g, '')).toBe(loud.stdout.replaceAll(/\d+(?:\.\d+)? m?s/g, ''));
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('stops the server and exits %s with %d', async (signal, exitCode) => {
    await using workspace = await createWorkspace({ 'evals/slow.evals.yaml': slowEvals });
    const result = await runCommand(run, {
      cwd: workspace.path,
      onOutput: (output) => (output.includes('running') ? signal : undefined),
    });
    expect(result).toMatchObject({ exitCode });
    const report = parseReport(JSON.parse(await workspace.read('mcp-eval-report/report.json')));
    expect(report.verdict).toMatchObject({ outcome: 'inconclusive', reasons: [{ code: 'cancelled' }] });
  });

  it('is inconclusive when the time is up', async () => {
    await using workspace = await createWorkspace({ 'evals/slow.evals.yaml': slowEvals });
    const result = await runProgramInTest([...run, '--timeout', '3s'], { cwd: workspace.path });
    expect(result).toMatchObject({ exitCode: 3 });
    const report = parseReport(JSON.parse(await workspace.read('mcp-eval-report/report.json')));
    expect(report.verdict.reasons[0]).toMatchObject({ code: 'deadline' });
  });
});

const slowEvals = `suite: Slow
cases:
  - title: Takes its time
    steps:
      - toolCall: trigger-long-running-operation
        arguments: { duration: 50, steps: 5 }
`;

/** Answers the handshake and dies at the first call of a tool. */
const dyingServer = `
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const result = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'dying', version: '1' } };
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }
  if (method === 'tools/list') {
    const tools = ['echo', 'get-sum'].map((name) => ({ name, inputSchema: { type: 'object' } }));
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { tools } }));
  }
  if (method === 'tools/call') {
    console.error('segmentation fault, honestly');
    process.exit(139);
  }
}
`;
