import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { readTextFile } from '../base/files.ts';
import type { Clock } from '../base/time.ts';
import { getOwnPid, isProcessAlive } from '../server/process-tree.ts';

const pollMs = 50;

/**
 * Waits until no other process writes the evals file, and keeps others from it: two sessions that end at once would each replace what the
 * other one added. Disposing lets the next one write. Locks nothing in a directory that cannot be written.
 */
export async function lockOut(out: string, clock: Pick<Clock, 'sleep'>): Promise<Disposable> {
  const path = `${out}.lock`;
  tryMakeDirectory(dirname(path));
  for (;;) {
    const code = tryCreate(path);
    if (code === null) return { [Symbol.dispose]: () => rmSync(path, { force: true }) };
    if (code !== 'EEXIST') return { [Symbol.dispose]: () => {} };
    // The owner was killed.
    if (!isProcessAlive(await readOwner(path))) rmSync(path, { force: true });
    else await clock.sleep(pollMs);
  }
}

function tryMakeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch {
    // The file cannot be written, either, and its writer says so.
  }
}

/** Returns the code of the failure; null if the file is new and has the number of this process: a link makes both at once. */
function tryCreate(path: string): string | null {
  const own = `${path}.${getOwnPid()}`;
  try {
    writeFileSync(own, String(getOwnPid()));
    linkSync(own, path);
    return null;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : '';
  } finally {
    rmSync(own, { force: true });
  }
}

/** Returns the process that has the file; that of this program if the file is gone, so that its caller tries again. */
async function readOwner(path: string): Promise<number> {
  const text = await readTextFile(path).catch(() => null);
  return text === null ? getOwnPid() : Number(text);
}
