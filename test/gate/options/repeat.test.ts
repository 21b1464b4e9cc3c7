import { tmpdir } from 'node:os';
import { createWorkspace } from '../../support/workspace.ts';
import { describe, expect, it } from 'vitest';
import { listFlags } from '../../../src/gate/options/list.ts';
import { describeInspection, describeRepeat } from '../../../src/gate/options/repeat.ts';

const repeated = listFlags('run').filter(({ isRepeated }) => isRepeated === true);

describe('the command that repeats a gate', () => {
  it('has how the server starts and how the cases run, and neither their choice nor reports', () => {
    const texts = {
      'server-command': 'node build/index.js',
      runs: '3',
      'sandbox-write': 'data\n\ncache dir',
      sandbox: 'auto',
      evals: 'evals/*.yaml',
      cases: 'a',
      tags: 'smoke',
      shard: '1/4',
      'report-to': 'summary',
      'report-dir': 'out',
    };
    expect(describeRepeat(texts)).toBe(
      'npx mcp-eval-ci run --runs 3 --server-command "node build/index.js" --sandbox-write data --sandbox-write "cache dir"',
    );
    expect(describeRepeat({})).toBe('npx mcp-eval-ci run');
  });

  it('has no secret', () => {
    const secret = 'hunter2-hunter2';
    const texts = Object.fromEntries(
      listFlags('run').map(({ name, secret: kind }) => [
        name,
        kind === undefined || kind === 'value' ? secret : `N${kind}${secret}`,
      ]),
    );
    for (const { name } of repeated) if (name !== 'server-env') delete texts[name];
    const command = describeRepeat({
      ...texts,
      'server-env': `API_KEY=${secret}\nPLAIN`,
      'server-command': `env TOKEN=${secret} node a.js --api-key ${secret} --password="${secret} x" --auth-token '${secret}' --keep ok postgres://me:${secret}@db/x`,
      'server-url': `http://127.0.0.1:1/mcp?key=${secret}`,
    });
    expect(command).not.toContain(secret);
    expect(command).toContain('--server-env API_KEY --server-env PLAIN');
    expect(command).toContain('--server-url "$SERVER_URL"');
    expect(command).toContain(
      'env TOKEN=*** node a.js --api-key *** --password=*** --auth-token *** --keep ok postgres://***@db/x',
    );
  });

  it('shows the address of a server on this machine, and of no other', () => {
    const url = (text: string) => describeRepeat({ 'server-url': text })?.replace(/^.*--server-url /, '');
    expect(url('http://localhost:3000/mcp')).toBe('http://localhost:3000/mcp');
    expect(url('https://mcp.example.com/s/key/mcp')).toBe('"$SERVER_URL"');
    expect(url('not a url')).toBe('"$SERVER_URL"');
  });

  it('is unknown where a value does not fit on a line', () => {
    expect(describeRepeat({ 'server-command': 'node\na.js' })).toBeNull();
  });

  it('repeats no secret', () => {
    expect(repeated.map(({ name }) => name)).toContain('server-env');
    expect(repeated.filter(({ isSecret }) => isSecret === true)).toEqual([]);
  });
});

describe('describeInspection', () => {
  it('starts the server of the gate in the MCP Inspector, where the project has it', async () => {
    await using workspace = await createWorkspace({ 'node_modules/.bin/mcp-inspector': '' });
    const describe = (texts: Record<string, string>, cwd = workspace.path) => describeInspection(texts, cwd);
    const texts = { 'server-command': 'node "build/my server.js"', 'server-env': 'A_KEY=x\nMODE=b' };
    expect(describe(texts)).toBe('npx mcp-inspector --cli -e A_KEY="$A_KEY" -e MODE="$MODE" node "build/my server.js"');
    expect(describe({ 'server-url': 'http://127.0.0.1:3000/mcp' })).toBe(
      'npx mcp-inspector --cli http://127.0.0.1:3000/mcp --transport http',
    );
    expect(describe(texts, tmpdir())).toBeNull();
  });

  it.each([
    { 'server-command': 'node a.js; rm -r x' },
    { 'server-command': 'node a.js $(x)' },
    { 'server-command': 'node a.js\nnode b.js' },
    { 'server-command': 'node a.js --api-key secret' },
    { 'server-command': '' },
    { 'server-command': 'node a.js', 'server-env': '$(x)=1' },
    { 'server-command': 'node a.js', 'mcp-config': 'mcp.json' },
    { 'server-url': 'https://example.test/mcp?key=1' },
  ])('is missing for %j', async (texts) => {
    await using workspace = await createWorkspace({ 'node_modules/.bin/mcp-inspector': '' });
    expect(describeInspection(texts, workspace.path)).toBeNull();
  });
});
