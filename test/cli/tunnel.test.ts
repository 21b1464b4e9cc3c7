import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ContractService } from '../support/service/contract-service.ts';
import { type CommandResult, runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { isRunning } from '../support/process/processes.ts';
import { connectClient, stdioServerCommand } from '../support/servers/running-server.ts';
import { createWorkspace } from '../support/workspace.ts';
import { startServeProcess } from '../support/service/serve-process.ts';

// The service is a process of its own, and so is a command that opens a tunnel, as they are wherever the command is used.

let service: ContractService;

beforeAll(async () => {
  service = await startServeProcess();
});

afterAll(() => service[Symbol.asyncDispose]());

async function listServers(): Promise<Array<{ id: string; name: string; url: string }>> {
  return (await service.project.get('/servers')).body.items;
}

function tunnelArgs(serverCommand: string, ...more: string[]): string[] {
  return ['tunnel', '--server-command', serverCommand, ...more, ...serviceArgs()];
}

function serviceArgs(): string[] {
  const { baseUrl, apiKey } = service;
  return ['--service', 'svc', '--base-url', baseUrl, '--api-key', apiKey];
}

/** Runs the command until it has printed its line and `use` has ended, then stops it, unless it ends by itself. */
async function runTunnel(
  args: readonly string[],
  signal: 'SIGINT' | 'SIGTERM' | null,
  use: (ready: { serverId: string; serverName: string }) => Promise<void>,
): Promise<CommandResult> {
  const stop = new AbortController();
  const uses: Array<Promise<void>> = [];
  const result = await runCommand(args, {
    cwd: process.cwd(),
    stop: stop.signal,
    onOutput: (output) => {
      const line = /^\{.*\}$/m.exec(output)?.[0];
      if (line === undefined || uses.length > 0) return undefined;
      uses.push(use(JSON.parse(line)).finally(() => signal !== null && stop.abort(signal)));
      return undefined;
    },
  });
  await Promise.all(uses);
  return result;
}

describe('mcp-eval-ci tunnel', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'lets the service reach the server until %s, and leaves nothing',
    async (signal) => {
      let pid = 0;
      let url = '';
      const result = await runTunnel(tunnelArgs(stdioServerCommand), signal, async ({ serverId, serverName }) => {
        const [record, ...others] = await listServers();
        expect(record).toMatchObject({ id: serverId, name: serverName });
        expect(others).toEqual([]);
        url = record?.url ?? '';
        // The client stays connected: the command must end a session that is in use.
        const client = await connectClient(url);
        pid = Number(await client.call('pid'));
        expect(isRunning(pid)).toBe(true);
      });
      expect(result).toMatchObject({
        exitCode: 0,
        stdout: expect.stringMatching(/^\{"serverId":"[^"]+","serverName":"[^"]+"\}\n$/),
      });
      expect(result.stderr).not.toContain(new URL(url).searchParams.get('k'));
      expect(isRunning(pid)).toBe(false);
      expect((await fetch(url, { method: 'POST' })).status).toBe(401);
      expect(await listServers()).toEqual([]);
    },
  );

  describe('with an mcp-config', () => {
    const named = (...tools: string[]) => ({ command: process.execPath, args: ['server.mjs', ...tools] });
    const program = readFileSync('test/support/servers/named-tools-server.mjs', 'utf8');
    const openFile = async (mcpServers: object) =>
      await createWorkspace({ '.mcp.json': JSON.stringify({ mcpServers }), 'server.mjs': program });

    it('opens a tunnel to each server, prints a line for each, and leaves nothing', async () => {
      await using workspace = await openFile({ notes: named('note'), search: named('find') });
      const stop = new AbortController();
      const uses: Array<Promise<unknown>> = [];
      const listTools = async () => {
        const records = await listServers();
        const lists = records.map(async ({ name, url }) => {
          await using connected = await connectClient(url);
          const { tools } = await connected.client.listTools();
          return `${name.split(' ').at(-1)}: ${tools.map((tool) => tool.name).join()}`;
        });
        return (await Promise.all(lists)).toSorted();
      };
      const result = await runCommand(['tunnel', '--mcp-config', '.mcp.json', ...serviceArgs()], {
        cwd: workspace.path,
        stop: stop.signal,
        onOutput: (output) => {
          const lines = output.match(/^\{.*\}$/gm) ?? [];
          if (lines.length === 2 && uses.length === 0) uses.push(listTools().finally(() => stop.abort('SIGTERM')));
          return undefined;
        },
      });
      expect(await Promise.all(uses)).toEqual([['notes: note', 'search: find']]);
      expect(result.exitCode).toBe(0);
      const lines = result.stdout
        .trimEnd()
        .split('\n')
        .map((line) => z.object({ serverId: z.string(), serverName: z.string() }).parse(JSON.parse(line)));
      expect(lines.map(({ serverName }) => serverName.split(' ').at(-1))).toEqual(['notes', 'search']);
      expect(await listServers()).toEqual([]);
    });

    it('says which server does not start, and takes the tunnel of the other back', async () => {
      await using workspace = await openFile({ notes: named('note'), search: named('dead') });
      const result = await runProgramInTest(['tunnel', '--mcp-config', '.mcp.json', ...serviceArgs()], {
        cwd: workspace.path,
      });
      expect(result.exitCode).toBe(3);
      expect(result.stderr).toMatch(/^search: The server under test exited with code 7 before it was ready/m);
      expect(await listServers()).toEqual([]);
    });
  });

  it('ends with the server when that dies, and shows its last words', async () => {
    const result = await runTunnel(tunnelArgs(stdioServerCommand, '--isolation', 'run'), null, async () => {
      const [record] = await listServers();
      await using client = await connectClient(record?.url ?? '');
      expect(await client.call('crash', { code: 7 }).catch(() => 'no answer')).toBe('no answer');
    });
    expect(result.exitCode).toBe(3);
    expect(result.stderr).toMatch(/^Last lines of the server’s stderr:\n {2}stdio-server \d+ is up$/m);
    expect(result.stderr).toMatch(/^The server under test exited with code 7 while it was in use\.$/m);
    expect(await listServers()).toEqual([]);
  });

  it.each([
    ['exits', `${process.execPath} -e 'console.error("no such database"); process.exit(4)'`, 'no such database'],
    ['stays silent', `${process.execPath} -e 'setInterval(() => {}, 1000)'`, 'within 500 ms'],
  ])('says why, and leaves nothing, when the server %s', async (_, command, why) => {
    const result = await runProgramInTest(tunnelArgs(command, '--server-ready-timeout', '500ms'), {
      cwd: process.cwd(),
    });
    expect(result).toMatchObject({ exitCode: 3, stdout: '' });
    expect(result.stderr).toContain(why);
    expect(await listServers()).toEqual([]);
  });

  const hosted = ['--server-command', 'x', '--service', 'svc'];
  it.each([
    ['without a hosted service', ['--server-command', 'x'], /^service: must name a hosted service/, runCommand],
    ['without a server', ['--service', 'svc', '--api-key', 'sk_x'], /^server-command: no server to test/],
    ['with a wrong key', [...hosted, '--api-key', 'sk_wrong'], /^api-key: The service does not take the key/],
    ['with an option that it does not have', [...hosted, '--evals', 'x'], /^error: unknown option '--evals'/],
  ])('refuses to start %s, with one error', async (_, args, message, run = runProgramInTest) => {
    const result = await run(['tunnel', ...args, '--base-url', service.baseUrl], { cwd: process.cwd() });
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
    // What is wrong, and what to make of it.
    expect(result.stderr.trimEnd().split('\n')).toHaveLength(2);
    expect(await listServers()).toEqual([]);
  });
});
