import { describe, expect, it } from 'vitest';
import { findProject } from '../../src/init/find-server.ts';
import { createWorkspace } from '../support/workspace.ts';

async function find(files: Record<string, string>) {
  await using workspace = await createWorkspace(files);
  const { candidates, steps } = await findProject(workspace.path);
  return {
    commands: candidates.map(({ words, config }) => words?.join(' ') ?? config),
    steps: steps.map(({ run }) => run),
  };
}

const manifest = (value: object) => ({ 'package.json': JSON.stringify(value) });

describe('the server of a repository', () => {
  it.each([
    [
      'the bin of a package',
      { ...manifest({ bin: './build/index.js', scripts: { build: 'tsc' } }), 'package-lock.json': '{}' },
      { commands: ['node build/index.js'], steps: ['npm ci', 'npm run build'] },
    ],
    [
      'each bin of a package',
      manifest({ bin: { a: 'a.js', b: 'b.js' } }),
      { commands: ['node a.js', 'node b.js'], steps: ['npm install'] },
    ],
    [
      'the command in `mcp` before the bin',
      manifest({ mcp: { command: 'node', args: ['mcp.js', '--stdio'] }, bin: 'cli.js' }),
      { commands: ['node mcp.js --stdio', 'node cli.js'], steps: ['npm install'] },
    ],
    [
      'the start script of a package without a bin, built with pnpm',
      { ...manifest({ scripts: { start: 'node .', build: 'tsc' } }), 'pnpm-lock.yaml': '' },
      {
        commands: ['npm run --silent start'],
        steps: ['corepack enable && pnpm install --frozen-lockfile', 'pnpm run build'],
      },
    ],
    [
      'the scripts of a Python project, the server first',
      { 'pyproject.toml': '[project]\nname = "x"\n\n[project.scripts]\nx-cli = "x:cli"\nx-mcp = "x:serve" # stdio\n' },
      { commands: ['.venv/bin/x-mcp', '.venv/bin/x-cli'], steps: ['python3 -m venv .venv', '.venv/bin/pip install .'] },
    ],
    [
      'the script of a project of uv',
      { 'pyproject.toml': '[project.scripts]\n"x" = \'x:serve\'\n', 'uv.lock': '' },
      { commands: ['uv run x'], steps: ['pipx install uv', 'uv sync'] },
    ],
    [
      'the commands of a Go module',
      { 'go.mod': 'module example.com/tools/v2\n', 'main.go': '', 'cmd/gen/main.go': '', 'cmd/mcp-x/main.go': '' },
      { commands: ['build/tools', 'build/mcp-x', 'build/gen'], steps: ['go build -o build/ ./...'] },
    ],
    [
      'the package of a crate',
      {
        'Cargo.toml': '[package]\nname = "mcp-x"\nversion = "1.0.0"\n\n[dependencies]\nname = "no"\n',
        'Cargo.lock': '',
      },
      { commands: ['target/release/mcp-x'], steps: ['cargo build --release --locked'] },
    ],
    [
      'the binaries of a crate',
      {
        'Cargo.toml': '[package]\nname = "x"\n\n[[bin]]\nname = "x-cli"\npath = "a.rs"\n\n[[bin]]\nname = "x-server"\n',
      },
      { commands: ['target/release/x-server', 'target/release/x-cli'], steps: ['cargo build --release'] },
    ],
    [
      'an image where there is nothing else',
      { Dockerfile: 'FROM scratch\n' },
      {
        commands: ['docker run --interactive --rm mcp-server-under-test'],
        steps: ['docker build --tag mcp-server-under-test .'],
      },
    ],
    [
      'no image where a package says how it is built',
      { Dockerfile: 'FROM node\n', ...manifest({ bin: 'a.js' }) },
      { commands: ['node a.js', 'docker run --interactive --rm mcp-server-under-test'], steps: ['npm install'] },
    ],
    [
      'a script of an inline table',
      { 'pyproject.toml': "project = { scripts = { x-mcp = 'x:serve' } }\n", 'uv.lock': '' },
      { commands: ['uv run x-mcp'], steps: ['pipx install uv', 'uv sync'] },
    ],
    [
      'no script of a broken pyproject.toml',
      { 'pyproject.toml': '[project.scripts]\nx = ' },
      { commands: [], steps: ['python3 -m venv .venv', '.venv/bin/pip install .'] },
    ],
    [
      'no script where scripts are no table',
      { 'pyproject.toml': '[project]\nscripts = 3\n', 'uv.lock': '' },
      { commands: [], steps: ['pipx install uv', 'uv sync'] },
    ],
    [
      'the servers of clients first',
      { '.mcp.json': '{ "mcpServers": { "own": { "command": "node" } } }', ...manifest({ bin: 'a.js' }) },
      { commands: ['.mcp.json#own', 'node a.js'], steps: ['npm install'] },
    ],
  ])('is %s', async (_what, files, found) => {
    expect(await find(files)).toEqual(found);
  });

  it.each([
    ['nothing', {}],
    ['a broken package.json', { 'package.json': '{' }],
    ['a package.json of a list', { 'package.json': '[]' }],
    ['a module without commands', { 'go.mod': 'module example.com/x\n' }],
    ['a broken .mcp.json', { '.mcp.json': 'mcpServers' }],
  ])('is not guessed from %s', async (_what, files) => {
    expect(await find(files)).toEqual({ commands: [], steps: [] });
  });
});
