import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, parse } from 'node:path';

interface Search {
  /** The PATH to search; by default that of this process. */
  path?: string | undefined;
  /** Decides if a program may be used. By default every program may. */
  accepts?: (file: string) => boolean;
}

/** The programs that this process has found. The code of a pull request runs later, and can put other programs into directories of PATH. */
const found = new Map<string, string | null>();

/**
 * Finds a program of the gate in the absolute directories of PATH, once in the life of this process. Returns its path with the links in
 * its directory resolved; null if there is none.
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
 * Resolves the links to a program. A link with another name stays, in a resolved directory: programs such as busybox act by the name that
 * they are called by.
 */
function resolveProgram(file: string): string {
  const target = realpathSync(file);
  return basename(target) === basename(file) ? target : join(realpathSync(dirname(file)), basename(file));
}

/**
 * Finds a program that runs outside of the sandbox while the server may run. It skips a program that the server could change. Root could
 * change every program, but in a sandbox the system's programs are read-only even for root.
 */
export function findFixedProgram(name: string, path: string | undefined): string | null {
  return findProgram(name, { path, accepts: (file) => process.getuid?.() === 0 || !isChangeable(file) });
}

/** Checks if this user, and so the server, can change a program: its file, the target of its link, or a directory above either. */
function isChangeable(file: string): boolean {
  return [file, realpathSync(file)].flatMap(listUpwards).some(isOwnOrWritable);
}

/** Lists a path and all directories above it. */
function listUpwards(path: string): string[] {
  const above: string[] = [path];
  for (let each = path; each !== parse(each).root; each = dirname(each)) above.push(dirname(each));
  return above;
}

/** The owner of a file can grant itself write access. In a sticky directory such as /tmp, only the owner of an entry may rename it. */
function isOwnOrWritable(path: string): boolean {
  const entry = statSync(path);
  const isSticky = entry.isDirectory() && (entry.mode & 0o1000) !== 0;
  return entry.uid === process.getuid?.() || (!isSticky && isAllowed(path, constants.W_OK));
}

/** Checks if there is a file that this user may execute. */
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
