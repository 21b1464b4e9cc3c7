import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
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

/** Returns the code of the failure; null if the file is new and has the number of this process. */
function tryCreate(path: string): string | null {
  try {
    writeFileSync(path, String(getOwnPid()), { flag: 'wx' });
    return null;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : '';
  }
}

/** The file is empty between its creation and its first write; its owner lives then. */
async function readOwner(path: string): Promise<number> {
  const text = await readTextFile(path).catch(() => '');
  return text === '' ? getOwnPid() : Number(text);
}
