import { describe, expect, it } from 'vitest';
import { captureConfig } from '../../src/capture/host-config.ts';
import { runProgramInTest } from '../support/process/program.ts';
import { createWorkspace } from '../support/workspace.ts';

const config = `{
    "mcpServers": {
        "My notes": { "command": "node", "args": ["build/index.js"], "env": { "TOKEN": "secret" } },
        "remote": { "url": "http://127.0.0.1:3000/mcp" },
        "bare": { "command": "notes" }
    },
    "other": true
}
`;

const nameOut = (slug: string) => `evals/${slug}.evals.yaml`;

describe('captureConfig', () => {
  it('puts the recorder in front of each command, and leaves everything else', () => {
    const captured = captureConfig(config, nameOut);
    expect(JSON.parse(captured?.text ?? '')).toEqual({
      mcpServers: {
        'My notes': {
          command: 'npx',
          args: [
            'mcp-eval-ci',
            'capture',
            '--out',
            'evals/my-notes.evals.yaml',
            '--append',
            '--',
            'node',
            'build/index.js',
          ],
          env: { TOKEN: 'secret' },
        },
        remote: { url: 'http://127.0.0.1:3000/mcp' },
        bare: {
          command: 'npx',
          args: ['mcp-eval-ci', 'capture', '--out', 'evals/bare.evals.yaml', '--append', '--', 'notes'],
        },
      },
      other: true,
    });
    expect(captured).toMatchObject({
      captured: ['My notes', 'bare'],
      left: [{ name: 'remote', reason: 'it has no `command`' }],
    });
    expect(captured?.text).toContain('\n    "mcpServers"');
  });

  it('changes nothing the second time, and refuses a text that lists no servers', () => {
    const once = captureConfig(config, nameOut)?.text ?? '';
    expect(captureConfig(once, nameOut)).toMatchObject({ text: once, captured: [] });
    expect(captureConfig('{ "mcpServers": [] }', nameOut)).toBeNull();
    expect(captureConfig('// comment\n{}', nameOut)).toBeNull();
  });
});

describe('capture --config', () => {
  it('prints the configuration, writes it with --write, and names what is wrong with a file', async () => {
    await using workspace = await createWorkspace({ '.mcp.json': config, 'bad.json': '{' });
    const run = async (...args: string[]) =>
      await runProgramInTest(['capture', '--config', ...args], { cwd: workspace.path });
    const printed = await run('.mcp.json');
    expect(printed).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('remote: it has no `command`') });
    expect(await workspace.read('.mcp.json')).toBe(config);
    expect(await run('.mcp.json', '--write')).toMatchObject({ exitCode: 0, stdout: '' });
    expect(await workspace.read('.mcp.json')).toBe(printed.stdout);
    expect(await run('bad.json')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('bad.json') });
  });
});
