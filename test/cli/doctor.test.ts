import { describe, expect, it } from 'vitest';
import { renderDiagnosis } from '../../src/cli/examine-servers.ts';
import { createFailedDiagnosis } from '../../src/mcp/diagnosis.ts';
import { canMake } from '../support/process/sandbox-lab.ts';
import { createWorkspace } from '../support/workspace.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { stdioServerCommand } from '../support/servers/running-server.ts';

const hasSandbox = (await canMake('unshare')) || (await canMake('bwrap'));

const doctor = (...args: string[]) => start(runProgramInTest, args);

function start(run: typeof runCommand, args: readonly string[]) {
  return run(['doctor', ...args], { cwd: process.cwd() });
}

describe('mcp-eval-ci doctor', () => {
  it('prints a checklist of a command that is ready, and exits 0', async () => {
    const { exitCode, stdout } = await start(runCommand, ['--server-command', stdioServerCommand]);
    const where = hasSandbox ? String.raw`, in a sandbox \(isolated\)` : '';
    expect(stdout).toMatch(new RegExp(`^✓ probe +The command started a server that answers on stdio${where}\\.$`, 'm'));
    expect(stdout).toMatch(/^✓ tools +\d+ tools?\.$/m);
    expect(stdout).toMatch(/\nThe server is ready\.\n$/);
    expect(exitCode).toBe(0);
  });

  it('prints JSON of a server at a URL, without what lets it in', async () => {
    await using server = await startFixtureMcpServer({ echo: { call: () => text('hi') } });
    const url = `${server.url}?k=canary-canary`;
    const header = 'Authorization: Bearer canary-token';
    const { exitCode, stdout } = await doctor('--server-url', url, '--server-headers', header, '--format', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      generatedAt: expect.stringMatching(/^\d{4}-/),
      status: 'ready',
      tools: [{ name: 'echo' }],
    });
    expect(stdout).not.toContain('canary');
    expect(exitCode).toBe(0);
  });

  it('exits 3 where nothing listens, and says so', async () => {
    const { exitCode, stdout } = await start(runCommand, [
      '--server-url',
      `http://127.0.0.1:${await findFreePort()}/mcp`,
    ]);
    expect(stdout).toMatch(/^✗ probe .*ECONNREFUSED/);
    expect(stdout).toMatch(/\nThe server is not ready\.\n$/);
    expect(exitCode).toBe(3);
  });

  it('exits 3 for a command that ends, with its last words', async () => {
    const { exitCode, stdout, stderr } = await doctor(
      '--server-command',
      `node -e 'console.error("no key");process.exit(4)'`,
    );
    expect(stdout).toContain('exited with code 4 before it was ready');
    expect(stderr).toContain('no key');
    expect(exitCode).toBe(3);
  });
});

describe('mcp-eval-ci doctor --mcp-config', () => {
  const writeConfig = async () => {
    const [command, ...args] = stdioServerCommand.split(' ');
    const gone = { url: `http://127.0.0.1:${await findFreePort()}/mcp` };
    return JSON.stringify({ mcpServers: { works: { command, args }, gone } });
  };

  it('examines each server of the file, and exits 3 where one is not ready', async () => {
    await using workspace = await createWorkspace({ '.mcp.json': await writeConfig() });
    const file = `${workspace.path}/.mcp.json`;
    const { exitCode, stdout } = await doctor('--mcp-config', file, '--sandbox', 'off');
    expect(stdout).toMatch(/^works\n✓ probe +The command started a server that answers on stdio\.$/m);
    expect(stdout).toMatch(/\nThe server is ready\.\n\ngone\n✗ probe .*ECONNREFUSED/);
    expect(exitCode).toBe(3);
  });

  it('examines the chosen server alone, and prints it in a list', async () => {
    await using workspace = await createWorkspace({ '.mcp.json': await writeConfig() });
    const file = `${workspace.path}/.mcp.json`;
    const { exitCode, stdout } = await doctor('--mcp-config', `${file}#works`, '--format', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ servers: [{ name: 'works', status: 'ready' }] });
    expect(exitCode).toBe(0);
  });

  it('exits 2 for a server that the file does not have', async () => {
    await using workspace = await createWorkspace({ '.mcp.json': await writeConfig() });
    const { exitCode, stderr } = await doctor('--mcp-config', `${workspace.path}/.mcp.json#wroks`);
    expect(stderr).toContain('did you mean');
    expect(exitCode).toBe(2);
  });
});

describe('the checklist', () => {
  it('ends at the step that failed, and shows no control characters of a server', () => {
    const shown = renderDiagnosis(createFailedDiagnosis({ status: 'error', detail: 'It says \u001b[2J.' }));
    expect(shown.split('\n')).toHaveLength(4);
    expect(shown).not.toContain('\u001b');
  });
});
