// The servers that RULE.md chose, and how each is installed from its registry: below the temporary directory, outside of the tree.
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../gates/process.ts';
import { exists, installPython } from '../gates/servers.ts';

export interface ExploredServer {
  slot: number;
  /** The name of the directory in which it is installed. */
  name: string;
  registry: 'npm' | 'PyPI' | 'Go' | 'Rust';
  kind: 'local' | 'database' | 'API';
  /** The package as the client of its registry takes it. */
  package: string;
  version: string;
  /** `{{directory}}` is where the package is installed. */
  command: string;
}

export const servers: readonly ExploredServer[] = [
  {
    slot: 1,
    name: 'mcp-hello-world',
    registry: 'npm',
    kind: 'local',
    package: 'mcp-hello-world',
    version: '1.1.2',
    command: 'node {{directory}}/node_modules/.bin/mcp-hello-world',
  },
  {
    slot: 2,
    name: 'mcp-sqlite',
    registry: 'npm',
    kind: 'database',
    package: 'mcp-sqlite',
    version: '1.0.9',
    command: 'node {{directory}}/node_modules/.bin/mcp-sqlite-server {{workspace}}/data.db',
  },
  {
    slot: 3,
    name: 'azure-devops',
    registry: 'npm',
    kind: 'API',
    package: '@azure-devops/mcp',
    version: '2.10.0',
    command: 'node {{directory}}/node_modules/.bin/mcp-server-azuredevops example --authentication envvar',
  },
  {
    slot: 4,
    name: 'office-word-mcp-server',
    registry: 'PyPI',
    kind: 'local',
    package: 'office-word-mcp-server',
    version: '1.1.11',
    command: '{{directory}}/bin/word_mcp_server',
  },
  {
    slot: 5,
    name: 'mcp-server-motherduck',
    registry: 'PyPI',
    kind: 'database',
    package: 'mcp-server-motherduck',
    version: '1.1.0',
    command: '{{directory}}/bin/mcp-server-motherduck --db-path :memory: --read-write',
  },
  {
    slot: 6,
    name: 'awslabs-aws-documentation-mcp-server',
    registry: 'PyPI',
    kind: 'API',
    package: 'awslabs-aws-documentation-mcp-server',
    version: '1.2.3',
    command: '{{directory}}/bin/awslabs.aws-documentation-mcp-server',
  },
  {
    slot: 7,
    name: 'mcp-go-everything',
    registry: 'Go',
    kind: 'local',
    package: 'github.com/mark3labs/mcp-go/examples/everything',
    version: '1.2.1',
    command: '{{directory}}/everything',
  },
  {
    slot: 9,
    name: 'rust-fs-mcp',
    registry: 'Rust',
    kind: 'local',
    package: 'rust-fs-mcp',
    version: '0.2.3',
    command: '{{directory}}/bin/rust-fs-mcp {{workspace}}',
  },
  {
    slot: 10,
    name: 'mcp-sqlite-rust',
    registry: 'Rust',
    kind: 'database',
    package: 'mcp-sqlite',
    version: '0.1.1',
    command: '{{directory}}/bin/mcp-sqlite --db {{workspace}}/data.db',
  },
];

const root = join(tmpdir(), 'explored-servers');

/** Installs a server where it is not yet; returns its directory. */
export async function installExplored(server: ExploredServer): Promise<string> {
  const directory = join(root, server.name);
  const { package: name, version } = server;
  if (server.registry === 'PyPI') {
    await installPython(directory, [`${name}==${version}`]);
    return directory;
  }
  const mark = join(directory, 'installed');
  if (await exists(mark)) return directory;
  await mkdir(directory, { recursive: true });
  for (const { command, env } of listInstalls(server, directory)) {
    const ran = await runProgram(command, { cwd: directory, env, limitMs: 1_800_000 });
    if (ran.code !== 0) throw new Error(`${name} ${version} was not installed: ${ran.stderr.trim().slice(-400)}`);
  }
  await writeFile(mark, `${version}\n`);
  return directory;
}

function listInstalls(
  { registry, package: name, version }: ExploredServer,
  directory: string,
): ReadonlyArray<{ command: readonly string[]; env: Record<string, string> }> {
  if (registry === 'npm') {
    // Scripts of packages run for none but the database's, whose native module is compiled.
    const install = ['npm', 'install', '--prefix', directory, '--no-audit', '--no-fund', '--ignore-scripts'];
    const rebuild = ['npm', 'rebuild', '--prefix', directory, 'sqlite3'];
    return [{ command: [...install, `${name}@${version}`], env: {} }].concat(
      name === 'mcp-sqlite' ? [{ command: rebuild, env: {} }] : [],
    );
  }
  if (registry === 'Go')
    return [{ command: ['go', 'install', `${name}@v${version}`], env: { GOBIN: directory, GOFLAGS: '-mod=mod' } }];
  const target = join(root, 'target');
  const install = ['cargo', 'install', '--quiet', '--locked', '--root', directory, `${name}@${version}`];
  return [{ command: install, env: { CARGO_TARGET_DIR: target } }];
}
