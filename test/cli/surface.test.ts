import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../support/network/free-port.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { type FixtureTool, startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';
import { createWorkspace } from '../support/workspace.ts';

const limit = { type: 'integer', description: 'How many.' };
const createTool = (type = limit): FixtureTool => ({
  description: 'Searches.',
  inputSchema: { type: 'object', properties: { limit: type } },
  call: () => text('done'),
});

describe('mcp-eval-ci surface', () => {
  const tools: Record<string, FixtureTool> = { search: createTool(), add: { ...createTool(), description: 'Adds.' } };
  let cwd = '';
  let url = '';
  const surface = async (...args: string[]) => await start(runProgramInTest, args);
  const start = async (run: typeof runCommand, args: readonly string[]) =>
    await run(['surface', '--server-url', url, '--file', 'docs/surface.json', ...args], { cwd });

  beforeAll(async () => {
    const workspace = await createWorkspace();
    const server = await startFixtureMcpServer(tools);
    cwd = workspace.path;
    url = server.url;
    return async () => {
      await server[Symbol.asyncDispose]();
      await workspace[Symbol.asyncDispose]();
    };
  });

  it('writes the file, and finds no change then', async () => {
    const missing = await surface();
    expect([missing.exitCode, missing.stderr]).toEqual([
      2,
      expect.stringContaining('docs/surface.json: does not exist'),
    ]);
    const written = await surface('--update');
    expect([written.exitCode, written.stdout]).toEqual([0, expect.stringContaining(', written for the first time\n')]);
    expect(written.stdout).not.toContain('no changes');
    expect((await surface('--update')).stdout).toContain('no changes');
    const checked = await start(runCommand, ['--check']);
    expect([checked.exitCode, checked.stdout]).toEqual([
      0,
      expect.stringContaining('Tool surface: no changes\n  Compared with docs/surface.json.\n'),
    ]);
  });

  it('exits 1 for a change that the policy fails, with its line, and 0 where the policy allows it', async () => {
    tools['search'] = createTool({ ...limit, type: 'string' });
    const failed = await start(runCommand, ['--format', 'json']);
    const file = await readFile(path.join(cwd, 'docs/surface.json'), 'utf8');
    const line = file.split('\n').findIndex((each) => each.includes('"name": "search"')) + 1;
    expect(failed.exitCode).toBe(1);
    expect(JSON.parse(failed.stdout).configurations[0].changes).toEqual([
      expect.objectContaining({
        id: 'tool.search.input.limit.typeChanged',
        severity: 'breaking',
        location: { file: 'docs/surface.json', line },
      }),
    ]);
    await writeFile(path.join(cwd, 'policy.yaml'), 'surface: { breaking: warn }\n');
    const allowed = await surface('--policy', 'policy.yaml');
    expect([allowed.exitCode, allowed.stderr]).toEqual([0, expect.stringContaining('policy.yaml:1')]);
    // The list on stdout names the change; the warning does not name it again.
    expect(allowed.stdout).toContain('tool.search.input.limit.typeChanged');
    expect(allowed.stderr).toContain('has 1 breaking change against docs/surface.json (surface.breaking: warn');
    expect(JSON.parse(failed.stdout).reasons[0].message).toContain('tool.search.input.limit.typeChanged');
  });

  it('exits 1 where the tools take more than the policy lets them', async () => {
    await writeFile(path.join(cwd, 'policy.yaml'), 'surface: { breaking: allow, maximumBytes: 100 }\n');
    const { exitCode, stderr } = await surface('--policy', 'policy.yaml');
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('surface.maximumBytes is 100')]);
  });

  it('exits 3 where nothing listens, and 2 for flags that contradict each other', async () => {
    const args = ['surface', '--file', 'docs/surface.json'];
    const closed = `http://127.0.0.1:${await findFreePort()}/mcp`;
    const unreached = await runProgramInTest([...args, '--server-url', closed], { cwd });
    expect([unreached.exitCode, unreached.stderr]).toEqual([3, expect.stringContaining('ECONNREFUSED')]);
    const unknown = await surface('--protocol', 'both');
    expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringContaining('protocol: is `both`')]);
    const both = await surface('--update', '--check');
    expect([both.exitCode, both.stderr]).toEqual([2, expect.stringContaining('give one of them')]);
  });

  it('speaks the revision that --protocol names, and exits 3 where the server does not', async () => {
    tools['search'] = createTool();
    for (const revision of ['2025-11-25', '2026-07-28']) {
      await using server = await startFixtureMcpServer(tools, { era: revision === '2026-07-28' ? 'modern' : 'legacy' });
      const args = ['surface', '--server-url', server.url, '--file', `${revision}.json`, '--update', '--protocol'];
      expect((await runProgramInTest([...args, revision], { cwd })).exitCode).toBe(0);
      const other = revision === '2026-07-28' ? '2025-11-25' : '2026-07-28';
      const refused = await runProgramInTest([...args, other], { cwd });
      expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining(other)]);
    }
  });
});
