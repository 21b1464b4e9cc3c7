import { constants, statSync } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { type Clock, formatDuration, race, systemClock } from './time.ts';

/**
 * Whether a path in the checkout leads out of it, or into git's own files, through a symbolic link. Messages about a file quote it, and a
 * change decides where its links lead. The checkout is the repository that `cwd` is in, else `cwd` itself. A path that is outside of it
 * as it is written was named on purpose.
 */
export async function leadsOutOfCheckout(path: string, cwd: string): Promise<boolean> {
  const root = findRoot(cwd);
  const written = resolve(cwd, path);
  if (!isWithin(root, written)) return false;
  const [realRoot, target] = await Promise.all([realpath(root), realpath(written).catch(() => null)]);
  // What does not exist cannot be read either.
  if (target === null) return false;
  const isGitFile = isWithin(join(realRoot, '.git'), target) && !isWithin(join(root, '.git'), written);
  return !isWithin(realRoot, target) || isGitFile;
}

/** Whether a path in a directory leads out of it through a symbolic link. What does not exist yet leads where its directory does. */
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

/** Whether a path is a directory or below it, as both are written. */
export function isWithin(directory: string, path: string): boolean {
  const inside = relative(directory, path);
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/** Why such a file is refused, without a word of what is in it. */
export const linkOutMessage =
  'The file is a symbolic link that leads out of the checkout, or is in a directory that is one; the gate does not read it. Put the file itself there, or name the path that the link leads to';

/** Not there on Windows, which has no named pipes in directories either. */
const noWaiting = constants.O_NONBLOCK ?? 0;

const mebibyte = 1024 * 1024;

/** More than reports, histories, surfaces and recordings of thousands of cases have. */
const maxInputBytes = 64 * mebibyte;

/** A disk answers at once; a network drive that is gone answers never. */
const readTimeoutMs = 60_000;

/** What one file may take to be read. */
export interface InputLimits {
  /** 64 MiB unless given. */
  maxBytes?: number;
  clock?: Clock;
}

/**
 * Reads a text file of UTF-8.
 *
 * @throws as `readInput` does
 */
export async function readTextFile(path: string, limits: InputLimits = {}): Promise<string> {
  return (await readInput(path, limits)).toString('utf8');
}

/**
 * Reads a file that someone else may have written. All that the gate reads whole goes through here: no file makes it wait without end, or
 * fills its memory.
 *
 * @throws where it is a directory, a pipe or a device, whose end might never come; where it has more bytes than the limit, or grows
 *   beyond it meanwhile; and where it takes longer than a minute
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
  // One more than the limit: the size at the start says nothing about a file that grows.
  for await (const chunk of file.createReadStream({ end: maxBytes, autoClose: false })) {
    chunks.push(chunk);
    bytes += chunk.length;
  }
  if (bytes > maxBytes) throw new Error(`${path} has more than ${maxBytes} bytes, and the gate reads no more`);
  return Buffer.concat(chunks);
}

/**
 * Opens a file to read it, without ever waiting for the writer of a named pipe that stands in its place.
 *
 * @throws where it is a pipe or a device
 */
export async function openInput(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | noWaiting);
  const found = await file.stat();
  // Reading a directory fails by itself, and says so.
  if (found.isFile() || found.isDirectory()) return file;
  await file.close();
  throw new Error(`${path} is not a regular file`);
}

/** Whether there is a directory at the path, also through a link. */
export async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ?? false;
}
