import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseReport } from '../../src/report/report-json.ts';
import { runCommand } from '../support/process/command.ts';
import { createWorkspace } from '../support/workspace.ts';

const server = fileURLToPath(new URL('../support/servers/hostile-server.ts', import.meta.url));

/** A case that the server's answer, `wrong`, fails. */
const evals = `suite: Attacked
cases:
  - title: right
    steps:
      - toolCall: check
      - assert: { toolResultContains: "right" }
`;

async function attack(name: string, env: Record<string, string> = {}) {
  await using workspace = await createWorkspace({ 'a.yaml': evals });
  const file = join(workspace.path, 'out.txt');
  const command = `node ${server} '${name}' ${file}`;
  const result = await runCommand(
    ['run', '--sandbox', 'off', '--server-command', command, '--report-dir', 'reports', '--timeout', '50s', 'a.yaml'],
    { cwd: workspace.path, env },
  );
  const report = parseReport(JSON.parse(await workspace.read('reports/report.json')));
  const written = await workspace.read('out.txt').catch(() => '');
  return { ...result, report, written };
}

describe.runIf(process.platform === 'linux')('a server that attacks the gate', () => {
  it('finds no debugger to open', async () => {
    const { exitCode, written } = await attack('debugger');
    expect({ exitCode, written }).toEqual({ exitCode: 1, written: '2 signalled, closed' });
  });

  it('reads nothing in the environments of the gate and its supervisor that it does not have itself', async () => {
    const { exitCode, written } = await attack('environments', {
      MCP_EVAL_API_KEY: 'canary-key',
      GITHUB_TOKEN: 'canary-token',
      SOME_MODEL_KEY: 'canary-model',
      LC_VISIBLE: 'seen',
    });
    expect(exitCode).toBe(1);
    expect(written.match(/^LC_VISIBLE=seen$/gm)).toHaveLength(2);
    expect(written).not.toContain('canary');
  });

  it('makes the verdict inconclusive by killing the gate, and not passed', async () => {
    const { exitCode, report, stderr } = await attack('kill the gate');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('The gate ended with SIGKILL before it was done. The verdict is inconclusive.');
    expect(report.verdict).toMatchObject({
      outcome: 'inconclusive',
      reasons: [{ code: 'infrastructure', message: 'The gate ended with SIGKILL before it was done.' }],
    });
    expect(report.totals.iterations).toBe(0);
  });
});

describe('the command', () => {
  it.each([['--inspect=0'], ['--inspect_port=0']])(
    'refuses to run under %s, which lets others change the verdict',
    async (option) => {
      await using workspace = await createWorkspace({ 'a.yaml': evals });
      const { exitCode, stderr } = await runCommand(['validate', 'a.yaml'], {
        cwd: workspace.path,
        env: { NODE_OPTIONS: option },
      });
      expect(exitCode).toBe(2);
      expect(stderr).toContain(`Node's debugger is on (${option.split('=')[0]})`);
    },
  );
});
