import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getOwnPid, isProcessAlive } from './process-tree.ts';

/** Digits of the process's id in a name: each name of a kind has the same length, and so has each path below it. */
const pidDigits = 10;

/**
 * Makes a directory below the temporary directory of the machine, whose name begins with `prefix` and the id of this process. First removes
 * those of processes that were killed.
 */
export function makeTemporaryRoot(prefix: string, remove: (path: string) => void = removeTree): string {
  for (const name of listNames(tmpdir())) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    if (Number.isInteger(pid) && !isProcessAlive(pid)) remove(join(tmpdir(), name));
  }
  const pid = String(getOwnPid()).padStart(pidDigits, '0');
  return realpathSync(mkdtempSync(join(tmpdir(), `${prefix}${pid}-`)));
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
