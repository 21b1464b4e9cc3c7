import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { constants, copyFile, lstat, mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { getOwnPid, isProcessAlive } from './process-tree.ts';
import type { SideMounts } from './sandbox/mounts.ts';
import { openSandbox, type OpenedSandbox } from './sandbox/open.ts';

/**
 * The directories of one side of a comparison: a HOME and a temporary directory of its own. What the programs of a side write there, those
 * of the other side do not read. All programs of a side share one sandbox, in which all else is read-only.
 */
export interface SideDirectories extends AsyncDisposable {
  /** What leads programs to the directories. */
  readonly variables: Readonly<Record<string, string>>;
  /** Opens the sandbox of the side with the first call, and returns the same one with each later call. */
  openSandbox: typeof openSandbox;
}

/** What a side works in, in addition to its own directories. */
export interface SideWork {
  /** Directories that it may write to, at the level `isolated`. */
  own: readonly string[];
  /** Directories of the other side of which this one sees a copy, if it has a sandbox. */
  copied: ReadonlyArray<{ path: string; copy: string }>;
  /** Directories that it must not write to, wherever they are. */
  protect: readonly string[];
  /** Says where a path of `sandbox-write` is for this side. */
  move: (path: string) => string;
}

const prefix = 'mcp-eval-ci-sides-';

/** Makes a directory for both sides of a comparison, below the temporary directory of the machine. Disposing of it removes it. */
export function openSidesRoot(): Disposable & { path: string } {
  removeAbandoned();
  const path = mkdtempSync(join(tmpdir(), `${prefix}${getOwnPid()}-`));
  return { path, [Symbol.dispose]: () => removeTree(path) };
}

/** Makes the directories of a side in `root`, which removes them. Disposing of them ends the sandbox of the side. */
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
 * Null where the job has no HOME, or the platform finds it otherwise. Without a sandbox, links lead to what the job keeps in its own HOME,
 * such as installed packages and caches; what is new is the side's alone.
 */
function openHome(root: string, { HOME: real = '' }: Readonly<Record<string, string | undefined>>): SideHome | null {
  if (process.platform === 'win32' || !isDirectory(real)) return null;
  const path = join(root, 'home');
  linkEntries(real, path, '');
  return { path, real };
}

/**
 * Directories of a HOME, below which programs make entries of their own. A `*` is any name. Each is a directory of the side, and what is in
 * it are links.
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

/** Programs that are installed in HOME are looked for in that of the side first. */
function nameHome({ path, real }: SideHome, searched = ''): Record<string, string> {
  const directories = searched
    .split(delimiter)
    .flatMap((directory) =>
      directory.startsWith(`${real}/`) ? [path + directory.slice(real.length), directory] : [directory],
    );
  return { HOME: path, ...(searched !== '' && { PATH: directories.join(delimiter) }) };
}

/** A directory that holds more is not copied. */
const maxCopiedEntries = 60_000;
const maxCopiedBytes = 2 * 1024 ** 3;

/**
 * Copies a directory with its links as they are; `without` is left out, and so is what is no file, directory or link.
 *
 * @throws what the system says, or that it is too large; what was copied by then stays
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

/** Removes the directories of gates that were killed. */
function removeAbandoned(): void {
  for (const name of listNames(tmpdir())) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    if (Number.isInteger(pid) && !isProcessAlive(pid)) removeTree(join(tmpdir(), name));
  }
}

/** The kernel keeps a directory without rights next to a layer of a file system. What cannot be removed stays. */
function removeTree(path: string): void {
  try {
    for (const name of listNames(path)) {
      if (name !== 'base' && name !== 'change') continue;
      for (const layer of listNames(join(path, name, 'upper'))) {
        const work = join(path, name, 'upper', layer, 'work', 'work');
        if (isDirectory(work)) chmodSync(work, 0o700);
      }
    }
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // Another user's, or a mount that is still there: the next gate tries again.
  }
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
