import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import { constants, copyFile, lstat, mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isWithin } from '../base/files.ts';
import type { SideMounts } from './sandbox/mounts.ts';
import { openSandbox, type OpenedSandbox } from './sandbox/open-sandbox.ts';
import { makeTemporaryRoot, removeTree } from './temporary-root.ts';

/**
 * The directories of one side of a comparison: its own HOME and temporary directory. Programs of the other side do not read files that
 * are written there. All programs of a side share one sandbox, in which everything else is read-only.
 */
export interface SideDirectories extends AsyncDisposable {
  /** The variables that point programs to the directories. */
  readonly variables: Readonly<Record<string, string>>;
  /** The temporary directory. */
  readonly temporary: string;
  /** Opens the sandbox of the side on the first call, and returns the same one on each later call. */
  openSandbox: typeof openSandbox;
}

/** The directories that a side uses in addition to its own ones. */
export interface SideWork {
  /** Directories that it may write to, at the level `isolated`. */
  own: readonly string[];
  /** Directories of the other side that this one sees as a copy, if it has a sandbox. */
  copied: ReadonlyArray<{ path: string; copy: string }>;
  /** Directories that it must not write to, wherever they are. */
  protect: readonly string[];
  /** Maps a path of `sandbox-write` to the path for this side. */
  move: (path: string) => string;
}

const prefix = 'mcp-eval-ci-sides-';

/**
 * Makes a directory for both sides of a comparison, below the temporary directory of the machine. Where that is in a directory that the base
 * sees as a copy, it is below another one, because the copy would hide it. Disposing it removes the directory.
 */
export function openSidesRoot(copied: readonly string[] = []): Disposable & { path: string } {
  const path = makeSidesRoot(copied);
  return { path, [Symbol.dispose]: () => removeSides(path) };
}

function makeSidesRoot(copied: readonly string[]): string {
  const isHidden = (parent: string) => copied.some((path) => isWithin(path, realpathSync(parent)));
  for (const parent of ['/tmp', '/var/tmp']) {
    try {
      if (isHidden(tmpdir()) && !isHidden(parent)) return makeTemporaryRoot(prefix, { remove: removeSides, parent });
    } catch {
      // It is missing, or this user may not write to it.
    }
  }
  return makeTemporaryRoot(prefix, { remove: removeSides });
}

/** Makes the directories of a side in `root`, whose owner removes them. Disposing it ends the sandbox of the side. */
export function openSideDirectories(
  root: string,
  work: SideWork,
  environment: Readonly<Record<string, string | undefined>>,
): SideDirectories {
  const temporary = join(root, 'tmp');
  const upper = join(root, 'upper');
  for (const path of [temporary, upper]) mkdirSync(path, { recursive: true });
  const home = openHome(root, environment);
  let opened: Promise<OpenedSandbox> | null = null;
  return {
    temporary,
    variables: { ...nameTemporary(temporary), ...(home !== null && nameHome(home, environment['PATH'])) },
    openSandbox: async (options, context) => {
      const side = { home, temporary, upper, work: work.own, copied: work.copied };
      const writable = options.writable.map(work.move);
      const protect = [...options.protect, ...work.protect];
      opened ??= openSandbox({ ...options, writable, protect, side }, context);
      return { ...(await opened), [Symbol.asyncDispose]: async () => {} };
    },
    [Symbol.asyncDispose]: async () => {
      const sandbox = await opened?.catch(() => null);
      await sandbox?.[Symbol.asyncDispose]();
    },
  };
}

type SideHome = NonNullable<SideMounts['home']>;

/**
 * Null if the job has no HOME, or the platform finds it in another way. Without a sandbox, links lead to entries of the job's own HOME,
 * such as installed packages and caches; new entries belong to this side only.
 */
function openHome(root: string, { HOME: real = '' }: Readonly<Record<string, string | undefined>>): SideHome | null {
  if (process.platform === 'win32' || !isDirectory(real)) return null;
  const path = join(root, 'home');
  linkEntries(real, path, '');
  return { path, real };
}

/**
 * Directories of a HOME in which programs create entries. A `*` is any name. Each becomes a directory of the side with links to the
 * original entries.
 */
const opened = [
  '.cache',
  '.cargo',
  '.cargo/bin',
  '.config',
  '.local',
  '.local/bin',
  '.local/lib',
  '.local/lib/*',
  '.local/lib/*/site-packages',
  '.local/share',
  '.local/state',
];
const isOpened = (path: string) =>
  path === '' ||
  opened.some((pattern) => {
    const names = pattern.split('/');
    return (
      names.length === path.split('/').length &&
      path.split('/').every((name, at) => ['*', name].includes(names[at] ?? ''))
    );
  });

function linkEntries(from: string, to: string, path: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of listNames(from)) {
    const inside = path === '' ? name : `${path}/${name}`;
    if (isOpened(inside) && isDirectory(join(from, name))) linkEntries(join(from, name), join(to, name), inside);
    else symlinkSync(join(from, name), join(to, name));
  }
}

function nameTemporary(path: string): Record<string, string> {
  return process.platform === 'win32' ? { TEMP: path, TMP: path } : { TMPDIR: path };
}

/** Searches for programs that are installed in HOME in the side's HOME first. */
function nameHome({ path, real }: SideHome, searched = ''): Record<string, string> {
  const directories = searched
    .split(delimiter)
    .flatMap((directory) =>
      directory.startsWith(`${real}/`) ? [path + directory.slice(real.length), directory] : [directory],
    );
  return { HOME: path, ...(searched !== '' && { PATH: directories.join(delimiter) }) };
}

/** The limits of a copy; a larger directory is refused. */
const maxCopiedEntries = 60_000;
const maxCopiedBytes = 2 * 1024 ** 3;

/**
 * Copies a directory and keeps its links. It skips the paths in `without`, and everything that is no file, directory or link.
 *
 * @throws the error of the system, or an error if it is too large; the parts copied so far remain
 */
export async function copyDirectory(from: string, to: string, without: readonly string[] = []): Promise<void> {
  const left = { entries: maxCopiedEntries, bytes: maxCopiedBytes };
  const copyEntries = async (source: string, target: string): Promise<void> => {
    await mkdir(target, { recursive: true });
    for (const entry of await readdir(source, { withFileTypes: true })) {
      const [own, copy] = [join(source, entry.name), join(target, entry.name)];
      if (without.includes(own)) continue;
      left.entries -= 1;
      if (entry.isSymbolicLink()) await symlink(await readlink(own), copy);
      else if (entry.isDirectory()) await copyEntries(own, copy);
      else if (entry.isFile()) {
        left.bytes -= (await lstat(own)).size;
        if (left.entries < 0 || left.bytes < 0) throw new Error('it holds more than 60,000 entries or 2 GiB');
        await copyFile(own, copy, constants.COPYFILE_FICLONE);
      }
    }
  };
  await copyEntries(from, to);
}

/** Removes the directories of both sides. The kernel leaves a directory without access rights next to a layer, so its rights are restored first. */
function removeSides(path: string): void {
  try {
    for (const name of listNames(path)) {
      if (name !== 'base' && name !== 'change') continue;
      for (const layer of listNames(join(path, name, 'upper'))) {
        const work = join(path, name, 'upper', layer, 'work', 'work');
        if (isDirectory(work)) chmodSync(work, 0o700);
      }
    }
  } catch {
    // It belongs to another user.
  }
  removeTree(path);
}

function listNames(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function isDirectory(path: string): boolean {
  return path !== '' && lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
