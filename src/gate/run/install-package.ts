import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, ServerStartError } from '../../base/errors.ts';
import { readTextFile } from '../../base/files.ts';
import { isRecord, tryParseJson } from '../../base/json.ts';
import { joinCommand } from '../../server/split-command.ts';
import { runProgram } from '../../server/spawn.ts';
import type { PlannedPackage } from '../plan/plan-package.ts';
import { removeAbandoned } from './base-checkout.ts';

/** A release in a directory of its own. Disposing it removes the directory. */
export interface InstalledPackage extends AsyncDisposable {
  version: string;
  /** The command that starts its server. */
  command: string;
}

/**
 * Installs a release into a new directory, without running a script of it. The installer works in that directory, so that no file of the
 * change decides which registry it asks.
 *
 * @throws {ServerStartError} if there is no installer, no such release, or no answer of the registry
 */
export async function installPackage(
  planned: PlannedPackage,
  {
    directory,
    environment,
    signal,
  }: { directory: string; environment: Readonly<Record<string, string | undefined>>; signal: AbortSignal },
): Promise<InstalledPackage> {
  await removeAbandoned(join(directory, '..'));
  const remove = async () => await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  await mkdir(directory, { mode: 0o700 });
  try {
    const install = planned.ecosystem === 'npm' ? installFromNpm : installFromPypi;
    const run: Run = async (file, args) => await runInstaller(file, args, { directory, environment, signal });
    return { ...(await install(planned, directory, run)), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

type Run = (file: string, args: readonly string[]) => Promise<string>;

async function installFromNpm(
  planned: PlannedPackage,
  directory: string,
  run: Run,
): Promise<Omit<InstalledPackage, keyof AsyncDisposable>> {
  const { name, range, installer } = planned;
  if (installer === null) throw missingInstaller('npm');
  await writeFile(join(directory, 'package.json'), '{ "private": true }\n');
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev', '--no-package-lock', '--loglevel=error'];
  await run(installer, ['install', ...flags, '--', `${name}@${range === '' ? 'latest' : range}`]);
  const root = join(directory, 'node_modules', ...name.split('/'));
  const manifest = tryParseJson(await readTextFile(join(root, 'package.json')).catch(() => ''));
  if (!isRecord(manifest)) throw new ServerStartError(`npm installed no package.json of ${name}.`);
  const { version } = manifest;
  const bins = readBins(name, manifest['bin']);
  const { runner, program, args } = planned.words;
  const bin = chooseName([...bins.keys()], {
    wanted: program,
    isSame: (key) => isSamePath(bins.get(key), program),
    fallback: name,
  });
  const path = bin === null ? null : (bins.get(bin) ?? null);
  // A release without a `bin` starts as the change does, from the same file.
  const own = path ?? (existsSync(join(root, program)) ? program : null);
  if (own === null)
    throw new ServerStartError(`${name} ${String(version)} has no \`bin\` that starts its server.`, {
      hint: 'Use `base: git`, or `base-server-command`.',
    });
  const file = join(root, own);
  const start =
    runner.length > 0 && /^(?:node|bun)$/.test(runner[0] ?? '')
      ? [...runner, file]
      : bin === null
        ? ['node', file]
        : [join(directory, 'node_modules', '.bin', bin)];
  return { version: String(version), command: joinCommand([...start, ...args]) };
}

/** Reads the programs of a package, by name. */
function readBins(name: string, bin: unknown): Map<string, string> {
  if (typeof bin === 'string') return new Map([[name.replace(/^@[^/]*\//, ''), bin]]);
  if (!isRecord(bin)) return new Map();
  return new Map(
    Object.entries(bin).flatMap(([key, path]) => (typeof path === 'string' ? [[key, path] as const] : [])),
  );
}

async function installFromPypi(
  planned: PlannedPackage,
  directory: string,
  run: Run,
): Promise<Omit<InstalledPackage, keyof AsyncDisposable>> {
  const { name, range, installer, isUv, words } = planned;
  if (installer === null) throw missingInstaller('uv or python3');
  const venv = join(directory, 'venv');
  const bin = join(venv, 'bin');
  const python = join(bin, 'python');
  // Wheels alone: building a source distribution runs code of it.
  const wanted = [`${name}${range}`];
  if (isUv) {
    await run(installer, ['venv', '--quiet', venv]);
    await run(installer, ['pip', 'install', '--quiet', '--no-build', '--python', python, ...wanted]);
  } else {
    await run(installer, ['-m', 'venv', venv]);
    await run(python, [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--only-binary',
      ':all:',
      ...wanted,
    ]);
  }
  const version = (
    await run(python, ['-c', 'import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))', name])
  ).trim();
  if (words.runner.at(-1) === '-m')
    return { version, command: joinCommand([python, '-m', words.program, ...words.args]) };
  const listScripts =
    'import importlib.metadata, sys; print("\\n".join(e.name for e in importlib.metadata.distribution(sys.argv[1]).entry_points if e.group == "console_scripts"))';
  const scripts = (await run(python, ['-c', listScripts, name])).split('\n').map((line) => line.trim());
  const known = new Set(await readdir(bin));
  const script = chooseName(
    scripts.filter((each) => known.has(each)),
    { wanted: words.program, isSame: () => false, fallback: name },
  );
  if (script === null)
    throw new ServerStartError(`${name} ${version} has no script that starts its server.`, {
      hint: 'Use `base: git`, or `base-server-command`.',
    });
  return { version, command: joinCommand([join(bin, script), ...words.args]) };
}

/** Chooses the program that the change starts as well: by its file, its name, the name of the package, or because it is the only one. */
function chooseName(
  names: readonly string[],
  { wanted, isSame, fallback }: { wanted: string; isSame: (name: string) => boolean; fallback: string },
): string | null {
  const last = (path: string) => path.split('/').at(-1) ?? path;
  return (
    names.find(isSame) ??
    names.find((name) => name === last(wanted)) ??
    names.find((name) => name === last(fallback)) ??
    (names.length === 1 ? (names[0] ?? null) : null)
  );
}

function isSamePath(path: string | undefined, program: string): boolean {
  const plain = (each: string) => each.replace(/^\.\//, '');
  return path !== undefined && (plain(path) === plain(program) || plain(program).endsWith(`/${plain(path)}`));
}

function missingInstaller(what: string): ServerStartError {
  return new ServerStartError(`${what} is not on this machine.`, { hint: 'Install it in a step before the gate.' });
}

const npmCode = /^npm (?:error|ERR!) (?:code|errno|syscall|path)\b/;

const maxOutputBytes = 16 * 1024 * 1024;

/** Runs an installer. Returns its output. */
async function runInstaller(
  file: string,
  args: readonly string[],
  {
    directory,
    environment,
    signal,
  }: { directory: string; environment: Readonly<Record<string, string | undefined>>; signal: AbortSignal },
): Promise<string> {
  signal.throwIfAborted();
  const end = await runProgram(file, args, {
    cwd: directory,
    env: { ...environment },
    signal,
    killSignal: 'SIGKILL',
    maxBytes: maxOutputBytes,
  }).catch((error: unknown) => ({ code: null, signal: null, stdout: '', stderr: describeError(error) }));
  signal.throwIfAborted();
  if (end.code === 0) return end.stdout;
  const lines = `${end.stdout}\n${end.stderr}`.split('\n').filter((line) => line.trim() !== '');
  const errors = lines.filter((line) => /error|ERR!/i.test(line));
  // npm begins with codes, and says then what they mean.
  const said =
    errors.find((line) => !npmCode.test(line)) ??
    errors[0] ??
    lines.at(-1) ??
    `it ended with ${end.signal ?? `exit code ${end.code}`}`;
  throw new ServerStartError(`The release could not be installed: ${said.trim().slice(0, 300)}`, {
    stderrTail: lines.slice(-20),
  });
}
