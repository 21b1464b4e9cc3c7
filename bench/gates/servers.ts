// The servers of the benchmark: pinned, installed from the registries into a cache outside the tree, and started in copies.
import { createHash } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRandom } from '../../lib/base/random.js';
import { applyPatch, hashPatch, type Patch } from './corpus.ts';
import { runProgram } from './process.ts';

/** `servers/<name>/server.json`. */
export interface Server {
  name: string;
  /** A package of this repository's lock file, of PyPI, a Go module, or a crate. */
  ecosystem: 'npm' | 'python' | 'go' | 'rust';
  package: string;
  version: string;
  /** Of the files of the server's own directory. */
  sha256: string;
  licence: string;
  /** The directory that holds the server's own files: a Python package, or a directory of a Go module. */
  directory?: string;
  /** `{{node}}`, `{{python}}`, `{{binary}}` and `{{project}}` are replaced. */
  command: readonly string[];
  env?: Record<string, string>;
  /** What the client of a proof declares. */
  capabilities?: Record<string, unknown>;
}

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../../', import.meta.url));
/** Nothing of it is committed; it is made anew where it is missing. */
export const cacheDirectory = join(root, 'node_modules/.cache/gates');
const heldOutSeed = 20261126;
const heldOutServers = 3;

/** A line for a person, where a server cannot be measured. */
export class ServerProblem extends Error {}

export async function readServers(): Promise<Server[]> {
  const names = (await readdir(join(here, 'servers'))).toSorted();
  return await Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(here, 'servers', name, 'server.json'), 'utf8');
      return { ...(JSON.parse(text) as Omit<Server, 'name'>), name };
    }),
  );
}

/** Draws the servers whose cells show totals only; the same for the same names. */
export function drawHeldOut(names: readonly string[]): Set<string> {
  const random = createRandom(heldOutSeed);
  const left = names.toSorted();
  const drawn = new Set<string>();
  while (drawn.size < heldOutServers && left.length > 0) {
    const [name] = left.splice(Math.floor(random() * left.length), 1);
    if (name !== undefined) drawn.add(name);
  }
  return drawn;
}

interface Installed {
  /** The server's own files, unchanged. */
  own: string;
  /** The packages that they import, or the program that runs them. */
  packages: string;
}

/** Installs a server where it is not yet, and compares its files with the hash that the catalogue has. */
export async function installServer(server: Server): Promise<Installed> {
  const installed = await installers[server.ecosystem](server);
  const sha256 = await hashDirectory(installed.own);
  if (sha256 !== server.sha256) {
    const file = `bench/gates/servers/${server.name}/server.json`;
    throw new ServerProblem(
      `${file}: ${server.package} ${server.version} has the hash ${sha256}, not ${server.sha256}. Install the pinned version, or check what changed and pin it anew.`,
    );
  }
  return installed;
}

const installers: Record<Server['ecosystem'], (server: Server) => Promise<Installed>> = {
  // The lock file of this repository has its hash, and those of all that it imports.
  npm: async ({ package: name }) => {
    const packages = join(root, 'node_modules');
    return await Promise.resolve({ own: join(packages, name), packages });
  },
  python: async ({ name, directory = '' }) => {
    const packages = join(cacheDirectory, 'python', name);
    const requirements = join(here, 'servers', name, 'requirements.txt');
    await installPython(packages, ['-r', requirements]);
    const version = (await readdir(join(packages, 'lib'))).find((each) => each.startsWith('python3')) ?? '';
    return { own: join(packages, 'lib', version, 'site-packages', directory), packages };
  },
  go: async ({ name, package: module, version, directory = '' }) => {
    const own = join(cacheDirectory, 'go', name);
    if (await exists(own)) return { own, packages: own };
    const partial = `${own}.partial`;
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true });
    await writeFile(join(partial, 'go.mod'), `module bench/${name}\n\ngo 1.25\n\nrequire ${module} ${version}\n`);
    const listed = await demand(['go', 'mod', 'download', '-json', `${module}@${version}`], partial);
    const { Dir: source } = JSON.parse(listed) as { Dir: string };
    const files = await readdir(join(source, directory));
    for (const file of files.filter((each) => each.endsWith('.go') && !each.endsWith('_test.go'))) {
      await cp(join(source, directory, file), join(partial, file));
      await chmod(join(partial, file), 0o644);
    }
    await demand(['go', 'mod', 'tidy'], partial);
    await rename(partial, own);
    return { own, packages: own };
  },
  rust: async ({ name, package: crate, version }) => {
    const own = join(cacheDirectory, 'rust', name);
    if (await exists(own)) return { own, packages: own };
    const scratch = `${own}.partial`;
    await rm(scratch, { recursive: true, force: true });
    await mkdir(join(scratch, 'src'), { recursive: true });
    await writeFile(join(scratch, 'src/main.rs'), 'fn main() {}\n');
    const manifest = ['[package]', 'name = "fetch"', 'version = "0.0.0"', 'edition = "2021"', '[dependencies]'];
    await writeFile(join(scratch, 'Cargo.toml'), `${manifest.join('\n')}\n${crate} = "=${version}"\n`);
    await demand(['cargo', 'vendor', 'vendored'], scratch);
    await rename(join(scratch, 'vendored', crate), own);
    await rm(scratch, { recursive: true });
    return { own, packages: own };
  },
};

/** Makes an environment of Python with these packages, once. */
export async function installPython(
  directory: string,
  packages: readonly string[],
  pythons: readonly string[] = ['python3'],
): Promise<void> {
  const mark = join(directory, 'installed');
  const wanted = JSON.stringify(packages);
  if ((await readFile(mark, 'utf8').catch(() => null)) === wanted) return;
  await rm(directory, { recursive: true, force: true });
  await mkdir(dirname(directory), { recursive: true });
  await demand([await findPython(pythons), '-m', 'venv', directory], root);
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
  await demand([join(directory, 'bin/pip'), 'install', ...quiet, ...packages], root);
  await writeFile(mark, wanted);
}

/** The first of several that starts. */
async function findPython(pythons: readonly string[]): Promise<string> {
  for (const python of pythons) {
    if ((await runProgram([python, '--version'], { cwd: root })).code === 0) return python;
  }
  throw new ServerProblem(`None of ${pythons.join(', ')} starts. Install one of them.`);
}

async function demand(command: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await runProgram(command, { cwd });
  if (code === 0) return stdout;
  const [line = ''] = stderr.trim().split('\n').slice(-1);
  throw new ServerProblem(`${command.slice(0, 3).join(' ')} failed: ${line}. Check that the registry is reachable.`);
}

export async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

/** Directories that a run of a server or of its language may add. */
const ignored = new Set([
  'node_modules',
  '__pycache__',
  '.git',
  'target',
  '.cargo_vcs_info.json',
  '.cargo-checksum.json',
  'rust-toolchain.toml',
]);

/** Hashes the names and the content of all files of a directory. */
export async function hashDirectory(directory: string): Promise<string> {
  const hash = createHash('sha256');
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter(
      (path) =>
        !path
          .slice(directory.length + 1)
          .split('/')
          .some((part) => ignored.has(part)),
    )
    .toSorted();
  for (const path of paths) {
    hash
      .update(`${path.slice(directory.length + 1)}\0`)
      .update(await readFile(path))
      .update('\0');
  }
  return hash.digest('hex');
}

/** Copies of a server, one after the other at the same path, as two checkouts of one repository have. */
export interface Rig extends AsyncDisposable {
  server: Server;
  /** Where each copy is. */
  project: string;
  /** The script that starts the server of the copy. */
  start: string;
  /** Makes the copy anew, with the files of the world as they were, and with a patch. */
  lay(patch: Patch | null): Promise<void>;
}

const scratches = new Set<string>();

/** Removes what open rigs made, for a benchmark that a signal ends. */
export function removeScratches(): void {
  for (const scratch of scratches) rmSync(scratch, { recursive: true, force: true });
}

/** Opens a rig; throws a ServerProblem where the server cannot be installed. */
export async function openRig(server: Server): Promise<Rig> {
  const { own, packages } = await installServer(server);
  const scratch = await mkdtemp(join(tmpdir(), 'gates-'));
  scratches.add(scratch);
  const project = join(scratch, 'project');
  const world = join(scratch, 'world');
  await mkdir(world);
  const made = await runProgram(['sh', join(here, 'servers', server.name, 'world.sh')], { cwd: world });
  if (made.code !== 0) throw new ServerProblem(`${server.name}/world.sh failed: ${made.stderr.trim()}. Correct it.`);
  const start = join(project, 'start');
  return {
    server,
    project,
    start,
    async lay(patch) {
      await rm(project, { recursive: true, force: true });
      await mkdir(join(project, 'home'), { recursive: true });
      await mkdir(join(project, 'tmp'));
      await cp(world, join(project, 'files'), { recursive: true, preserveTimestamps: true });
      const copy = join(project, 'server', server.ecosystem === 'python' ? (server.directory ?? '') : '');
      await cp(own, copy, {
        recursive: true,
        filter: (path) => !ignored.has(path.split('/').at(-1) ?? ''),
      });
      if (patch !== null) await patchFile(copy, patch);
      if (server.ecosystem === 'npm') await symlink(packages, join(copy, 'node_modules'));
      const binary = await compile(server, copy, patch);
      await writeFile(start, writeStart(server, { project, packages, binary }), { mode: 0o755 });
    },
    async [Symbol.asyncDispose]() {
      await rm(scratch, { recursive: true, force: true });
      scratches.delete(scratch);
    },
  };
}

async function patchFile(directory: string, patch: Patch): Promise<void> {
  const path = join(directory, patch.file);
  const source = await readFile(path, 'utf8').catch(() => null);
  if (source === null) throw new ServerProblem(`The server has no file ${patch.file}.`);
  const patched = applyPatch(source, patch);
  if ('reason' in patched) throw new ServerProblem(patched.reason);
  await writeFile(path, patched.source);
}

/** Compiles a copy once for each patch; the cache is no part of what is measured. */
async function compile(server: Server, copy: string, patch: Patch | null): Promise<string> {
  if (server.ecosystem !== 'go' && server.ecosystem !== 'rust') return '';
  const key = patch === null ? 'base' : hashPatch(patch);
  const binary = join(cacheDirectory, 'builds', server.name, `${server.version}-${key}`);
  if (await exists(binary)) return binary;
  await mkdir(dirname(binary), { recursive: true });
  if (server.ecosystem === 'go') {
    await demand(['go', 'build', '-o', binary, '.'], copy);
    return binary;
  }
  const target = join(cacheDirectory, 'rust', 'target');
  // Without debug information, each patch is linked in seconds.
  const fast = ['env', 'CARGO_PROFILE_DEV_DEBUG=0'];
  await demand([...fast, 'cargo', 'build', '--locked', '--quiet', '--target-dir', target], copy);
  await cp(join(target, 'debug', server.package), binary);
  return binary;
}

/**
 * Without an argument, the server works in the copy's own files. With a directory, it works there instead, and in the HOME and the
 * temporary directory that it is given, as a server does whose command names `{{workspace}}`.
 */
function writeStart(server: Server, place: { project: string; packages: string; binary: string }): string {
  const { project, packages, binary } = place;
  const values: Record<string, string> = {
    node: process.execPath,
    python: join(packages, 'bin/python'),
    binary,
  };
  const fill = (text: string) =>
    text
      .split(/(\{\{\w+\}\}(?:\/files|\/home)?)/)
      .map((part) => {
        if (part === '{{project}}/files') return '"$files"';
        if (part === '{{project}}/home') return '"$HOME"';
        if (part === '{{project}}') return quote(project);
        const name = part.match(/^\{\{(\w+)\}\}$/)?.[1];
        return part === '' ? '' : quote(name === undefined ? part : (values[name] ?? ''));
      })
      .join('');
  const own = {
    HOME: join(project, 'home'),
    TMPDIR: join(project, 'tmp'),
    XDG_CONFIG_HOME: join(project, 'home/.config'),
    XDG_CACHE_HOME: join(project, 'home/.cache'),
  };
  const env = {
    PYTHONPATH: '{{project}}/server',
    ...server.env,
  };
  return [
    '#!/bin/sh',
    `files=\${1-${quote(join(project, 'files'))}}`,
    'if [ $# -eq 0 ]; then',
    `  cd ${quote(project)} || exit 1`,
    ...Object.entries(own).map(([name, value]) => `  export ${name}=${quote(value)}`),
    'fi',
    // Where bytecode goes elsewhere and is not written, each start compiles all packages anew.
    '[ -n "$PYTHONPYCACHEPREFIX" ] || export PYTHONDONTWRITEBYTECODE=1',
    `export ${Object.entries(env)
      .map(([name, value]) => `${name}=${fill(value)}`)
      .join(' ')}`,
    `exec ${server.command.map(fill).join(' ')}`,
    '',
  ].join('\n');
}

function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
