import { realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/**
 * Whether a path in the checkout leads out of it, or into git's own files, through a symbolic link. Messages about a file quote it, and a
 * change decides where its links lead. The checkout is the repository that `cwd` is in, else `cwd` itself. A path that is outside of it
 * as it is written was named on purpose.
 */
export async function leadsOutOfCheckout(path: string, cwd: string): Promise<boolean> {
  const root = await findRoot(cwd);
  const written = resolve(cwd, path);
  if (!isWithin(root, written)) return false;
  const [realRoot, target] = await Promise.all([realpath(root), realpath(written).catch(() => null)]);
  // What does not exist cannot be read either.
  if (target === null) return false;
  const isGitFile = isWithin(join(realRoot, '.git'), target) && !isWithin(join(root, '.git'), written);
  return !isWithin(realRoot, target) || isGitFile;
}

async function findRoot(cwd: string): Promise<string> {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const found = await stat(join(directory, '.git')).catch(() => null);
    if (found !== null) return directory;
    if (directory === dirname(directory)) return resolve(cwd);
  }
}

function isWithin(directory: string, path: string): boolean {
  const inside = relative(directory, path);
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/** Why such a file is refused, without a word of what is in it. */
export const linkOutMessage =
  'The file is a symbolic link that leads out of the checkout, or is in a directory that is one; the gate does not read it. Put the file itself there, or name the path that the link leads to';
