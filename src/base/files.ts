import { constants, statSync } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { type Clock, formatDuration, race, systemClock } from './time.ts';

/**
 * Checks if a path in the checkout leads out of it, or into git's own files, through a symbolic link. A pull request decides where its
 * links lead, and messages about a file quote its content. The checkout is the repository that contains `cwd`, else `cwd` itself. A path
 * that is written as outside of the checkout is allowed: the user named it on purpose.
 */
export async function leadsOutOfCheckout(path: string, cwd: string): Promise<boolean> {
  const root = findRoot(cwd);
  const written = resolve(cwd, path);
  if (!isWithin(root, written)) return false;
  const [realRoot, target] = await Promise.all([realpath(root), realpath(written).catch(() => null)]);
  // A file that does not exist cannot be read either.
  if (target === null) return false;
  const isGitFile = isWithin(join(realRoot, '.git'), target) && !isWithin(join(root, '.git'), written);
  return !isWithin(realRoot, target) || isGitFile;
}

/** Checks if a path in a directory leads out of it through a symbolic link. For a path that does not exist yet, its directory decides. */
export async function leadsOutOf(directory: string, path: string): Promise<boolean> {
  const [root, target] = await Promise.all([realpath(directory), realpath(path).catch(() => null)]);
  if (target !== null) return !isWithin(root, target);
  const parent = dirname(path);
  return parent === path || parent === directory ? parent === path : await leadsOutOf(directory, parent);
}

/** Finds the checkout that a directory is in: the repository, else the directory itself. */
export function findRoot(cwd: string): string {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    if (statSync(join(directory, '.git'), { throwIfNoEntry: false }) !== undefined) return directory;
    if (directory === dirname(directory)) return resolve(cwd);
  }
}

/** Checks if a path is a directory or below it, by their spelling alone. */
export function isWithin(directory: string, path: string): boolean {
  const inside = relative(directory, path);
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/** Gives the reason for the refusal without any content of the file. */
export const linkOutMessage =
  'The file is a symbolic link that leads out of the checkout, or is in a directory that is one; the gate does not read it. Put the file itself there, or name the path that the link leads to';

/** Undefined on Windows, which has no named pipes in directories either. */
const noWaiting = constants.O_NONBLOCK ?? 0;

const mebibyte = 1024 * 1024;

/** Larger than reports, histories, surfaces and recordings of thousands of cases. */
const maxInputBytes = 64 * mebibyte;

/** A disk answers at once; a lost network drive never answers. */
const readTimeoutMs = 60_000;

/** The limits for reading one file. */
export interface InputLimits {
  /** 64 MiB by default. */
  maxBytes?: number;
  clock?: Clock;
}

/**
 * Reads a text file of UTF-8.
 *
 * @throws the errors of `readInput`
 */
export async function readTextFile(path: string, limits: InputLimits = {}): Promise<string> {
  return (await readInput(path, limits)).toString('utf8');
}

/**
 * Reads a file that another program may have written. The gate reads every whole file with this function, so that no file blocks it
 * forever or fills its memory.
 *
 * @throws if the path is a directory, a pipe or a device, whose end might never come; if the file has more bytes than the limit, or grows
 * beyond it during the read; and if the read takes longer than a minute
 */
export async function readInput(
  path: string,
  { maxBytes = maxInputBytes, clock = systemClock }: InputLimits = {},
): Promise<Buffer> {
  const onTimeout = () => {
    throw new Error(`${path} could not be read within ${formatDuration(readTimeoutMs)}`);
  };
  return await race(readWithin(path, maxBytes), { timeout: { clock, afterMs: readTimeoutMs, onTimeout } });
}

async function readWithin(path: string, maxBytes: number): Promise<Buffer> {
  await using file = await openInput(path);
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Reads one byte more than the limit: a growing file may exceed the size that it had at the start.
  for await (const chunk of file.createReadStream({ end: maxBytes, autoClose: false })) {
    chunks.push(chunk);
    bytes += chunk.length;
  }
  if (bytes > maxBytes) throw new Error(`${path} has more than ${maxBytes} bytes, and the gate reads no more`);
  return Buffer.concat(chunks);
}

/**
 * Opens a file for reading. Never waits for a writer if the path is a named pipe.
 *
 * @throws if it is a pipe or a device
 */
export async function openInput(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | noWaiting);
  const found = await file.stat();
  // Reading a directory fails with a clear error anyway.
  if (found.isFile() || found.isDirectory()) return file;
  await file.close();
  throw new Error(`${path} is not a regular file`);
}

/** Checks if there is a directory at the path; follows links. */
export async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ?? false;
}
