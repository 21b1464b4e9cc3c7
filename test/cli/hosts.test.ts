import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderSurfaceFile } from '../../src/surface/file.ts';
import { createSurface, findHost, findHostVersion } from '../hosts/find-host.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { memoryServerPath } from '../support/servers/bundled-servers.ts';
import { createWorkspace } from '../support/workspace.ts';

const call = () => text('done');
const inputSchema = { type: 'object' as const, properties: { value: { type: 'integer', minimum: 1 } } };

const run = async (...args: string[]) => await runProgramInTest(['hosts', ...args], { cwd: process.cwd() });

describe('mcp-eval-ci hosts', () => {
  it('prints the hosts, the tools and a finding for each change, without calling a tool', async () => {
    await using server = await startFixtureMcpServer({ 'note.set': { inputSchema, call }, list: { call } });
    const { exitCode, stdout } = await run('--server-url', server.url, '--name', 'notes', '--hosts', 'codex,goose');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Hosts  notes: 2 tools, no instructions\n');
    expect(stdout).toMatch(/Tool +1 +2\n  list +d +·\n  note\.set +rds +·\n/);
    expect(stdout).toContain('renamed: replaces characters in names: `note.set` as `mcp__notes.note_set`');
    const version = findHostVersion('codex');
    const { date } = findHost('codex').names.basis;
    expect(stdout).toContain(`Codex ${version}  measured with ${version}, ${date}\n`);
    expect(server.events.filter((event) => event.startsWith('call'))).toEqual([]);
  });

  it('prints the report as JSON, and as Markdown with the ids of hosts', async () => {
    await using server = await startFixtureMcpServer({ list: { call } });
    const args = ['--server-url', server.url, '--hosts', 'gemini-cli'];
    const json = await run(...args, '--format', 'json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      servers: [{ name: 'server', tools: 1 }],
      hosts: [{ id: 'gemini-cli', tools: [{ tool: 'list', shownAs: 'mcp_server_list', kinds: ['rewritten'] }] }],
    });
    const markdown = await runCommand(['hosts', ...args, '--format', 'markdown'], { cwd: process.cwd() });
    expect(markdown).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('| Tool | gemini-cli |') });
  });

  it('reports results of an exploration, and exits 2 for another file', async () => {
    await using server = await startFixtureMcpServer({ list: { call } });
    const link = { content: [{ type: 'resource_link', name: 'a', uri: 'file:///a' }] };
    const step = {
      request: { kind: 'tool', tool: 'list' },
      observation: { outcome: { kind: 'result', result: link } },
    };
    await using workspace = await createWorkspace({
      'corpus.json': JSON.stringify({ version: 1, sessions: [{ steps: [step] }] }),
      'other.json': '{}',
    });
    const args = ['--server-url', server.url, '--hosts', 'goose', '--corpus'];
    const { stdout } = await run(...args, join(workspace.path, 'corpus.json'));
    expect(stdout).toContain('lost: shows the model nothing of a link: list.');
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      '1 result of 1 tool and the output schemas of the others are known here.',
    );
    for (const [file, message] of [
      ['other.json', 'is no exploration of this version'],
      ['none.json', 'cannot be read'],
    ] as const) {
      const refused = await run(...args, join(workspace.path, file));
      expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
      expect(refused.stderr.replaceAll(/\s+/g, ' ')).toContain(message);
    }
  });

  it('prints only what a server makes worse and better than a surface file or another server', async () => {
    const properties = { value: true };
    const open = { ...createSurface([{ name: 'list', inputSchema: { type: 'object', properties } }]) };
    const closed = createSurface([{ name: 'list' }], 'Read first.');
    await using server = await startFixtureMcpServer({ list: { call } });
    await using workspace = await createWorkspace({
      'open.json': renderSurfaceFile({ version: 1, configurations: { default: open } }),
      'closed.json': renderSurfaceFile({ version: 1, configurations: { default: closed } }),
    });
    const args = ['--server-url', server.url, '--name', 'notes', '--hosts', 'gemini-cli,copilot-cli'];
    const compare = async (file: string, ...more: string[]) =>
      await runProgramInTest(['hosts', ...args, '--file', file, ...more], { cwd: workspace.path });
    const better = await compare('open.json');
    expect(better).toMatchObject({ exitCode: 0 });
    expect(better.stdout).toContain('Hosts: 1 better\n  Compared with open.json.\n');
    expect(better.stdout.replaceAll(/\s+/g, ' ')).toContain('This change makes `list` visible in Gemini CLI 0.61.0');
    const json = await compare('closed.json', '--format', 'json');
    // Instructions that are gone are not better.
    expect(JSON.parse(json.stdout)).toEqual({ against: 'closed.json', unread: null, findings: [] });
    expect(await compare('none.json')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('does not exist'),
    });
    const command = `${JSON.stringify(process.execPath)} ${JSON.stringify(memoryServerPath)}`;
    const other = await run(...args, '--base-server-command', command);
    expect(other).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Hosts: nothing worse\n') });
  });

  it.each([
    ['claude', 'names "claude", which is no known host; known are claude-code, codex,'],
    ['a,codex,b', 'names "a", "b", which are no known hosts; known are'],
    [',', 'names no host; known are'],
  ])('exits 2 for the hosts %s, before it starts a server', async (hosts, message) => {
    const { exitCode, stdout, stderr } = await run('--server-command', 'false', '--hosts', hosts);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('exits 2 without a server, and 3 for one that ends', async () => {
    expect(await run()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('no server to test') });
    const args = ['hosts', '--server-command', `node -e 'process.exit(4)'`];
    expect(await runCommand(args, { cwd: process.cwd() })).toMatchObject({ exitCode: 3, stdout: '' });
  });
});
