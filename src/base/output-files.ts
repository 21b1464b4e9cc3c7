import { randomUUID } from 'node:crypto';
import {
  appendFile,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { findRoot, isWithin } from './files.ts';

/**
 * Finds the directory that a write must not leave. For a path in the checkout, it is the checkout, because a pull request decides which
 * files are links. Null for a path outside of the checkout, which the user named on purpose. The checkout is the repository that contains
 * `cwd`, else `cwd` itself.
 */
export function findOutputRoot(path: string, cwd: string): string | null {
  const root = findRoot(cwd);
  return isWithin(root, resolve(cwd, path)) ? root : null;
}

/**
 * Checks that a directory is below `root` and not among git's own files, following links, and creates missing parts of it.
 *
 * @throws if a link leads out
 */
function makeDirectory(directory: string, root: string | null): void {
  if (root === null) {
    mkdirSync(directory, { recursive: true });
    return;
  }
  mkdirSync(root, { recursive: true });
  const parts = relative(root, directory).split(sep);
  for (const [index] of parts.entries()) {
    const path = join(root, ...parts.slice(0, index + 1));
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) mkdirSync(path);
    else if (found.isSymbolicLink()) checkDirectory(path, root);
  }
  checkDirectory(directory, root);
}

/** Explains why the gate does not write through a link. */
export function describeOutLink(path: string): string {
  return `${path} is a symbolic link that leads out of the checkout, into git's own files or nowhere; replace it by a file or a directory, or name the path that it leads to`;
}

function checkDirectory(directory: string, root: string): void {
  if (!staysInside(directory, root)) throw new Error(describeOutLink(directory));
}

function staysInside(path: string, root: string): boolean {
  try {
    const [realRoot, target] = [realpathSync(root), realpathSync(path)];
    const isGitFile = isWithin(join(realRoot, '.git'), target) && !isWithin(join(root, '.git'), path);
    return isWithin(realRoot, target) && !isGitFile;
  } catch {
    return false;
  }
}

/** A path below a file is no link; the write itself reports the mistake. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Finds the first link on a path, the path itself included, that leads out of `root`; null if there is none. */
export function findOutLink(path: string, root: string): string | null {
  const parts = relative(root, path).split(sep);
  const paths = parts.map((_, index) => join(root, ...parts.slice(0, index + 1)));
  const isOut = (each: string) => isLink(each) && !staysInside(each, root);
  return paths.find(isOut) ?? null;
}

/** Both are undefined on Windows, which has neither such links nor such pipes. */
const noFollowing = constants.O_NOFOLLOW ?? 0;
const noWaiting = constants.O_NONBLOCK ?? 0;

/**
 * Opens a file for writing, and makes its directory. Below `root`, no link may lead out of it, and the file itself may be neither a
 * symbolic link nor a hard link. Never waits for the reader of a named pipe.
 *
 * @param root the result of `findOutputRoot`; null follows links, as for a path that the user named on purpose
 * @returns a descriptor that the caller closes
 * @throws if the file cannot be written, or is a link
 */
export function openOutput(
  path: string,
  root: string | null,
  mode: 'replace' | 'append' | 'create' = 'replace',
): number {
  makeDirectory(dirname(path), root);
  const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND } = constants;
  const extra = { replace: 0, append: O_APPEND, create: O_EXCL }[mode];
  const noFollow = root === null ? 0 : noFollowing;
  const file = openFile(path, O_WRONLY | O_CREAT | noWaiting | noFollow | extra, mode === 'create' ? 0o600 : 0o666);
  try {
    if (root !== null) checkOpened(file, path, root);
    // Truncates only now, not while opening: another file might have replaced the intended one.
    if (mode === 'replace' && fstatSync(file).isFile()) ftruncateSync(file);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function openFile(path: string, flags: number, rights: number): number {
  try {
    return openSync(path, flags, rights);
  } catch (error) {
    const wasLink = error instanceof Error && 'code' in error && (error.code === 'ELOOP' || error.code === 'EMLINK');
    throw wasLink ? new Error(`${path} is a symbolic link, and the gate writes through none; remove it`) : error;
  }
}

/** A directory may have become a link after it was checked and before the file was opened. */
function checkOpened(file: number, path: string, root: string): void {
  checkDirectory(dirname(path), root);
  const [opened, found] = [fstatSync(file), lstatSync(path)];
  if (opened.dev !== found.dev || opened.ino !== found.ino) throw new Error(`${path} was replaced while it was opened`);
  if (!opened.isFile()) throw new Error(`${path} is no regular file`);
  if (opened.nlink > 1) throw new Error(`${path} is a hard link to a file that has another name, too; remove it`);
}

/** Writes a text file that `openOutput` opens. */
export function writeOutput(
  path: string,
  text: string,
  { root, mode = 'replace' }: { root: string | null; mode?: 'replace' | 'append' },
): void {
  const file = openOutput(path, root, mode);
  try {
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
}

/**
 * Writes a text file atomically: a reader finds the old file or the new one. Makes the checks of `openOutput`. Only the owner may read
 * it.
 */
export function replaceOutput(path: string, text: string, root: string | null): void {
  const temporary = `${path}.${randomUUID()}.tmp`;
  const file = openOutput(temporary, root, 'create');
  try {
    try {
      writeFileSync(file, text);
      if (root !== null) checkOpened(file, temporary, root);
    } finally {
      closeSync(file);
    }
    if (root !== null && isLink(path))
      throw new Error(`${path} is a symbolic link, and the gate writes through none; remove it`);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Removes a file if it exists. Does nothing if its directory is outside of `root`, links followed. */
export function removeOutput(path: string, root: string | null): void {
  if (root !== null && !staysInside(dirname(path), root)) return;
  rmSync(path, { force: true });
}

/** Appends to an open file. */
export const appendToOutput: (file: number, text: string) => Promise<void> = promisify(appendFile);
