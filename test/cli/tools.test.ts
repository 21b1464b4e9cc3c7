import { describe, expect, it } from 'vitest';
import { renderTools } from '../../src/cli/list-tools.ts';
import { runCommand } from '../support/process/command.ts';
import { startFixtureMcpServer, text } from '../support/servers/fixture-mcp-server.ts';

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
