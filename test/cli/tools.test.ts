import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderTools } from '../../src/cli/list-tools.ts';
import { runCommand } from '../support/process/command.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { createWorkspace } from '../support/workspace.ts';
import { startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';

/** Lists one tool, whose description says where the server works. */
const listing = `import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
const about = { argument: process.argv[2], variable: process.env.NOTES, cwd: process.cwd(), home: process.env.HOME, files: readdirSync('.') };
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'where', version: '1.0.0' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [{ name: 'where', description: JSON.stringify(about), inputSchema: { type: 'object' } }] }),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params ?? {});
  const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n');
});
`;

describe('mcp-eval-ci tools', () => {
  it('prints the tools of a server as it lists them, as JSON', async () => {
    const inputSchema = { type: 'object' as const, properties: { a: { type: 'number' } }, required: ['a'] };
    await using server = await startFixtureMcpServer({ add: { inputSchema, call: () => text('1') } });
    const args = ['tools', '--server-url', server.url, '--format', 'json'];
    const { exitCode, stdout } = await runCommand(args, { cwd: process.cwd() });
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'add', inputSchema }]);
    expect(exitCode).toBe(0);
    expect(server.events).not.toContain('call add');
  });

  it('starts the server in a copy of a workspace, and removes it', async () => {
    await using workspace = await createWorkspace({ 'notes/milk.txt': 'two bottles', 'server.mjs': listing });
    const args = ['tools', '--server-command', 'node server.mjs {{workspace}}', '--server-env', 'NOTES={{workspace}}'];
    const options = { cwd: workspace.path };
    const { stdout } = await runProgramInTest([...args, '--workspace', 'notes', '--format', 'json'], options);
    const [{ description } = { description: '' }] = JSON.parse(stdout) as Array<{ description: string }>;
    const { argument, variable, cwd, home, files } = JSON.parse(description) as Record<string, unknown>;
    expect(files).toEqual(['milk.txt']);
    expect([argument, variable]).toEqual([cwd, cwd]);
    expect(home).not.toBe(process.env['HOME']);
    expect(existsSync(String(cwd))).toBe(false);
    const doctor = await runProgramInTest(['doctor', ...args.slice(1), '--workspace', 'empty'], options);
    expect(doctor).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('The server is ready.') });
  });

  it('refuses a workspace of a server at a URL, and a directory that does not exist', async () => {
    const url = ['tools', '--server-url', 'http://127.0.0.1:9/mcp', '--workspace', 'empty'];
    expect((await runProgramInTest(url, { cwd: process.cwd() })).stderr).toContain('names a running one');
    const missing = ['tools', '--server-command', 'node', '--workspace', 'no-such-directory'];
    const { exitCode, stderr } = await runProgramInTest(missing, { cwd: process.cwd() });
    expect(stderr).toContain('is not a directory');
    expect(exitCode).toBe(2);
  });

  it('exits 3 for a command that ends', async () => {
    const args = ['tools', '--server-command', `node -e 'process.exit(4)'`];
    const { exitCode, stdout, stderr } = await runCommand(args, { cwd: process.cwd() });
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).toContain('exited with code 4');
  });
});

describe('the list of tools', () => {
  it('has arguments with their types, and what is required of them', () => {
    const shown = renderTools([
      {
        name: 'search',
        description: 'Finds notes.\nFast.',
        annotations: { readOnlyHint: true, destructiveHint: false },
        outputSchema: { type: 'object' },
        inputSchema: {
          properties: {
            query: { type: 'string', description: 'What to\nfind' },
            order: { enum: ['asc', 'desc'] },
            tags: { type: 'array', items: { type: ['string', 'null'] } },
            limit: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
            any: {},
          },
          required: ['query'],
        },
      },
      { name: 'plain\u001b[2J' },
    ]);
    expect(shown).not.toContain('\u001b');
    expect(shown.split('\n').slice(0, 9)).toEqual([
      'search  (readOnlyHint, outputSchema)',
      '  Finds notes.',
      '  Fast.',
      '  - query  string, required: What to find',
      '  - order  "asc" | "desc", optional',
      '  - tags   list of string | null, optional',
      '  - limit  integer | null, optional',
      '  - any    any, optional',
      '',
    ]);
    expect(shown).toMatch(/\n\n2 tools\.\n$/);
  });

  it('says that there are none', () => {
    expect(renderTools([])).toBe('0 tools.\n');
  });
});
