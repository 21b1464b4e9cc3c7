import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, parse } from 'node:path';

interface Search {
  /** The PATH to search; that of this process unless given. */
  path?: string | undefined;
  /** Whether a program that is there may be taken. Every one unless given. */
  accepts?: (file: string) => boolean;
}

/** What this process has found. The code of a change runs later and can put other programs into directories of PATH. */
const found = new Map<string, string | null>();

/**
 * Finds a program of the gate in the absolute directories of PATH, once in the life of this process. Returns where it is, without links in
 * its directory; null if there is none.
 */
export function findProgram(
  name: string,
  { path = process.env['PATH'] ?? '', accepts = () => true }: Search = {},
): string | null {
  const key = `${name}\0${path}`;
  const known = found.get(key);
  if (known !== undefined) return known;
  const names = process.platform === 'win32' ? [`${name}.exe`] : [name];
  const candidates = path
    .split(delimiter)
    .filter((directory) => isAbsolute(directory))
    .flatMap((directory) => names.map((each) => join(directory, each)));
  const file = candidates.filter(isProgram).map(resolveProgram).find(accepts) ?? null;
  found.set(key, file);
  return file;
}

/**
 * Resolves the links to a program. A link of another name stays one, in a directory without links: programs such as busybox go by the name
 * that they are called by.
 */
function resolveProgram(file: string): string {
  const target = realpathSync(file);
  return basename(target) === basename(file) ? target : join(realpathSync(dirname(file)), basename(file));
}

/**
 * Finds a program that runs outside of the sandbox while the server may run. One that the server could change is skipped. Root could change
 * every program; in a sandbox, those of the system are read-only for it.
 */
export function findFixedProgram(name: string, path: string | undefined): string | null {
  return findProgram(name, { path, accepts: (file) => process.getuid?.() === 0 || !isChangeable(file) });
}

/** Whether this user, and with it the server, can change a program: its file, what it links to, or a directory above either. */
function isChangeable(file: string): boolean {
  return [file, realpathSync(file)].flatMap(listUpwards).some(isOwnOrWritable);
}

/** A path and all directories above it. */
function listUpwards(path: string): string[] {
  const above: string[] = [path];
  for (let each = path; each !== parse(each).root; each = dirname(each)) above.push(dirname(each));
  return above;
}

/** The owner of a file can give itself the right to write to it. In a directory like /tmp, only the owner of an entry may rename it. */
function isOwnOrWritable(path: string): boolean {
  const entry = statSync(path);
  const isSticky = entry.isDirectory() && (entry.mode & 0o1000) !== 0;
  return entry.uid === process.getuid?.() || (!isSticky && isAllowed(path, constants.W_OK));
}

/** Whether there is a file that this user may execute. */
export function isProgram(file: string): boolean {
  try {
    return statSync(file).isFile() && isAllowed(file, constants.X_OK);
  } catch {
    return false;
  }
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
