import { mkdtempSync, readdirSync, realpathSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getOwnPid, isProcessAlive } from './process-tree.ts';

/** Digits of the process's id in a name: each name of a kind has the same length, and so has each path below it. */
const pidDigits = 10;

/**
 * Makes a directory below the temporary directory of the machine, or below `parent`, whose name begins with `prefix` and the id of this
 * process. First removes those of processes that were killed.
 */
export function makeTemporaryRoot(
  prefix: string,
  { remove = removeTree, parent = tmpdir() }: { remove?: (path: string) => void; parent?: string } = {},
): string {
  for (const name of listNames(parent)) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    if (Number.isInteger(pid) && !isProcessAlive(pid)) remove(join(parent, name));
  }
  const pid = String(getOwnPid()).padStart(pidDigits, '0');
  return realpathSync(mkdtempSync(join(parent, `${prefix}${pid}-`)));
}

/** Directories in which any program may write, in memory and on a disk. */
const sharedDirectories = ['/dev/shm', '/var/tmp'];

/** What a file system needs so that small directories can be made on it; a container often has this much memory for it. */
const leastFreeBytes = 48 * 1024 * 1024;

/** Makes such a directory on another file system than that of `root`; null if this machine has none for it. */
export function makeRootElsewhere(prefix: string, root: string): string | null {
  const own = statSync(root).dev;
  for (const parent of sharedDirectories) {
    try {
      const { bavail, bsize } = statfsSync(parent);
      if (statSync(parent).dev !== own && bavail * bsize >= leastFreeBytes)
        return makeTemporaryRoot(prefix, { parent });
    } catch {
      // It is missing, or this user may not write to it.
    }
  }
  return null;
}

/** Removes a directory, as far as possible. */
export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // It belongs to another user, or a mount is still there; the next process tries again.
  }
}

function listNames(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
