import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { readTextFile } from '../base/files.ts';
import { isRecord, tryParseJson } from '../base/json.ts';
import { compareText } from '../suite/findings.ts';

/** One way to start the server of a repository. */
export interface ServerCandidate {
  /** The file and the key that define it. */
  source: string;
  /** The words of the command; null for a server of an `mcp-config`. */
  words: readonly string[] | null;
  /** The value of `mcp-config` that selects it in a file of clients; null if the words start it. */
  config: string | null;
  ecosystem: Ecosystem;
}

export type Ecosystem = 'node' | 'python' | 'go' | 'rust' | 'docker' | 'none';

/** A step that prepares a repository before its server can start. */
export interface BuildStep {
  ecosystem: Ecosystem;
  /** A shell command line. */
  run: string;
}

export interface FoundProject {
  /** The candidates, the most likely first. */
  candidates: ServerCandidate[];
  steps: BuildStep[];
}

/**
 * Finds out how the server of a repository is started and built: `.mcp.json`, then `mcp` and `bin` of package.json, the scripts of
 * pyproject.toml, the commands of a Go module, the binaries of Cargo.toml, and the Dockerfile. Reads only the top of the directory.
 */
export async function findProject(directory: string): Promise<FoundProject> {
  const read = async (file: string) => await readTextFile(join(directory, file)).catch(() => null);
  const files = new Set(await readdir(directory).catch(() => []));
  const context = { directory, files, read };
  const found = [
    await findConfigured(context),
    await findNode(context),
    await findPython(context),
    await findGo(context),
    await findRust(context),
    await findDocker(context),
  ];
  const candidates = found.flatMap((each) => each.candidates);
  const steps = found.flatMap((each) => each.steps);
  // Builds an image only if every candidate needs it.
  const needsImage = candidates.every(({ ecosystem }) => ecosystem === 'docker');
  return { candidates, steps: steps.filter(({ ecosystem }) => needsImage || ecosystem !== 'docker') };
}

interface Context {
  directory: string;
  files: ReadonlySet<string>;
  read: (file: string) => Promise<string | null>;
}

const nothing: FoundProject = { candidates: [], steps: [] };

const configFile = '.mcp.json';

async function findConfigured({ read }: Context): Promise<FoundProject> {
  const config = tryParseJson((await read(configFile)) ?? '');
  const servers = isRecord(config) && isRecord(config['mcpServers']) ? Object.keys(config['mcpServers']) : [];
  const candidates = servers.map((name) => ({
    source: `${configFile}, ${name}`,
    words: null,
    config: `${configFile}#${name}`,
    ecosystem: 'none' as const,
  }));
  return { candidates, steps: [] };
}

async function findNode({ files, read }: Context): Promise<FoundProject> {
  const manifest = tryParseJson((await read('package.json')) ?? '');
  if (!isRecord(manifest)) return nothing;
  const { bin, scripts } = manifest;
  const add = (source: string, words: readonly string[]): ServerCandidate => ({
    source: `package.json, ${source}`,
    words,
    config: null,
    ecosystem: 'node',
  });
  const bins = isRecord(bin) ? Object.values(bin) : [bin];
  const paths = [...new Set(bins.filter((path) => typeof path === 'string'))];
  const hasScript = (name: string) => isRecord(scripts) && typeof scripts[name] === 'string';
  const tool = files.has('pnpm-lock.yaml') ? 'pnpm' : files.has('yarn.lock') ? 'yarn' : 'npm';
  const install = {
    npm: files.has('package-lock.json') ? 'npm ci' : 'npm install',
    pnpm: 'corepack enable && pnpm install --frozen-lockfile',
    yarn: 'corepack enable && yarn install --immutable',
  }[tool];
  const runs = [install, ...(hasScript('build') ? [`${tool} run build`] : [])];
  return {
    candidates: [
      ...readNodeCommand(manifest['mcp']).map((words) => add('mcp', words)),
      ...paths.map((path) => add('bin', ['node', path.replace(/^\.\//, '')])),
      ...(paths.length === 0 && hasScript('start') ? [add('scripts.start', ['npm', 'run', '--silent', 'start'])] : []),
    ],
    steps: runs.map((run) => ({ ecosystem: 'node', run })),
  };
}

/** Reads `mcp`, which is a command with arguments, as in the files of clients, or a file to run. */
function readNodeCommand(mcp: unknown): string[][] {
  if (typeof mcp === 'string') return [['node', mcp]];
  if (!isRecord(mcp) || typeof mcp['command'] !== 'string') return [];
  const args: unknown[] = Array.isArray(mcp['args']) ? mcp['args'] : [];
  return [[mcp['command'], ...args.map(String)]];
}

async function findPython({ files, read }: Context): Promise<FoundProject> {
  const text = await read('pyproject.toml');
  if (text === null) return nothing;
  const { project } = readToml(text);
  const scripts = isRecord(project) && isRecord(project['scripts']) ? Object.keys(project['scripts']) : [];
  const isLocked = files.has('uv.lock');
  const start = (name: string) => (isLocked ? ['uv', 'run', name] : [`.venv/bin/${name}`]);
  const runs = isLocked ? ['pipx install uv', 'uv sync'] : ['python3 -m venv .venv', '.venv/bin/pip install .'];
  return {
    candidates: preferServers(scripts).map((name) => ({
      source: `pyproject.toml, project.scripts.${name}`,
      words: start(name),
      config: null,
      ecosystem: 'python',
    })),
    steps: runs.map((run) => ({ ecosystem: 'python', run })),
  };
}

/** Parses TOML. An invalid file has no entries. */
function readToml(text: string): Record<string, unknown> {
  try {
    return parseToml(text);
  } catch {
    return {};
  }
}

async function findGo({ directory, files, read }: Context): Promise<FoundProject> {
  const module = await read('go.mod');
  if (module === null) return nothing;
  const commands = await readdir(join(directory, 'cmd'), { withFileTypes: true }).catch(() => []);
  const folders = commands.filter((entry) => entry.isDirectory()).map(({ name }) => `cmd/${name}`);
  const [, path = ''] = /^module\s+(\S+)/m.exec(module) ?? [];
  const places = [...(files.has('main.go') ? ['.'] : []), ...preferServers(folders.toSorted(compareText))];
  const name = (place: string) => (place === '.' ? basename(path.replace(/\/v\d+$/, '')) : basename(place));
  const [first] = places;
  return {
    candidates: places.map((place) => ({
      source: place === '.' ? 'go.mod' : `go.mod, ${place}`,
      words: [`build/${name(place)}`],
      config: null,
      ecosystem: 'go',
    })),
    steps: first === undefined ? [] : [{ ecosystem: 'go', run: 'go build -o build/ ./...' }],
  };
}

async function findRust({ files, read }: Context): Promise<FoundProject> {
  const text = await read('Cargo.toml');
  if (text === null) return nothing;
  const { bin, package: own } = readToml(text);
  const named = Array.isArray(bin) ? bin.flatMap(readName) : [];
  const names = named.length > 0 ? named : readName(own);
  const build = files.has('Cargo.lock') ? 'cargo build --release --locked' : 'cargo build --release';
  return {
    candidates: preferServers(names).map((name) => ({
      source: 'Cargo.toml',
      words: [`target/release/${name}`],
      config: null,
      ecosystem: 'rust',
    })),
    steps: names.length === 0 ? [] : [{ ecosystem: 'rust', run: build }],
  };
}

function readName(table: unknown): string[] {
  return isRecord(table) && typeof table['name'] === 'string' ? [table['name']] : [];
}

const image = 'mcp-server-under-test';

async function findDocker({ files }: Context): Promise<FoundProject> {
  if (!files.has('Dockerfile')) return nothing;
  const words = ['docker', 'run', '--interactive', '--rm', image];
  return {
    candidates: [{ source: 'Dockerfile', words, config: null, ecosystem: 'docker' }],
    steps: [{ ecosystem: 'docker', run: `docker build --tag ${image} .` }],
  };
}

/** Puts programs with the name of a server first, because they are more likely to be one. */
function preferServers(names: readonly string[]): string[] {
  const isServer = (name: string) => /mcp|server/i.test(name);
  return [...names.filter(isServer), ...names.filter((name) => !isServer(name))];
}
