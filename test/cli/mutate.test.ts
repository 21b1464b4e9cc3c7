import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const evals = `suite: sums
cases:
  - title: Adds
    steps:
      - toolCall: get-sum
      - assert: { toolResultContains: "5" }
`;

describe('mcp-eval-ci mutate', () => {
  it('prints what the evals would miss, and writes no report', async () => {
    await using server = await startFixtureMcpServer({ 'get-sum': { call: () => text('The sum is 5.') } });
    await using workspace = await createWorkspace({ 'sums.evals.yaml': evals });
    const args = ['mutate', '--server-url', server.url, 'sums.evals.yaml'];
    const printed = await runCommand(args, { cwd: workspace.path });
    expect(printed.stdout).toMatch(/^Your evals notice \d+ of \d+ harmful changes/);
    expect(printed.stdout).toContain('`get-sum` could answer in other letters (`A` for `a`)  [Adds]');
    expect(printed.exitCode).toBe(0);
    const json = await runProgramInTest([...args, '--format', 'json'], { cwd: workspace.path });
    expect(JSON.parse(json.stdout)).toMatchObject({ version: 1, unknown: 0, cases: [{ title: 'Adds' }] });
    expect(await readdir(workspace.path)).toEqual(['sums.evals.yaml']);
  });

  it('says in one line why nothing can be measured', async () => {
    await using server = await startFixtureMcpServer({ 'get-sum': { call: () => text('The sum is 6.') } });
    await using workspace = await createWorkspace({ 'sums.evals.yaml': evals, 'bad.evals.yaml': 'cases: 3' });
    const run = async (...args: string[]) => await runProgramInTest(['mutate', ...args], { cwd: workspace.path });
    const failed = await run('--server-url', server.url, 'sums.evals.yaml');
    expect(failed).toMatchObject({ exitCode: 3 });
    expect(failed.stderr).toContain('1 case did not pass and is left out; run the evals and mend them first.');
    expect(await run('--server-url', server.url, 'bad.evals.yaml')).toMatchObject({ exitCode: 2 });
    const unreached = await run(
      '--server-url',
      'http://127.0.0.1:9/mcp',
      '--server-ready-timeout',
      '1s',
      'sums.evals.yaml',
    );
    expect(unreached).toMatchObject({ exitCode: 3 });
    expect(unreached.stderr).toContain('No case ran, so that there is no answer to change: ');
  });
});
