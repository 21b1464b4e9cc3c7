import { lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readInput } from '../../base/files.ts';
import { copyAgain, type Workspace } from '../../workspace/workspace.ts';
import type { Snapshot } from './snapshot.ts';

/** The most bytes of files that are kept because the server made them as it started, such as an empty database. */
const maxStarted = 4 * 2 ** 20;

/** Reads the files that a server made in its workspace as it started; none where they are large. */
export async function readStarted(root: string, first: Snapshot, files: Workspace): Promise<Map<string, Buffer>> {
  const copied = new Set(files.files);
  const started = new Map<string, Buffer>();
  let left = maxStarted;
  for (const name of first.keys()) {
    if (name.endsWith('/') || copied.has(name)) continue;
    const path = join(root, name);
    const found = await lstat(path).catch(() => null);
    if (found?.isFile() !== true) continue;
    left -= found.size;
    if (left < 0) return new Map();
    const content = await readInput(path).catch(() => null);
    if (content !== null) started.set(name, content);
  }
  return started;
}

/**
 * Removes what was added to a workspace since it was new, and writes again what was changed or removed: the files of the user, and those
 * that the server made as it `started`. Leaves what it may not write.
 */
export async function putBack(
  root: string,
  {
    first,
    now,
    files,
    started,
  }: { first: Snapshot; now: Snapshot; files: Workspace; started: ReadonlyMap<string, Buffer> },
): Promise<void> {
  try {
    for (const name of now.keys()) {
      if (!first.has(name)) await rm(join(root, name), { recursive: true, force: true });
    }
    for (const [name, { hash }] of first) {
      if (now.get(name)?.hash === hash) continue;
      const content = started.get(name);
      if (content === undefined) {
        await copyAgain(files, name.replace(/\/$/, ''), root);
      } else {
        await mkdir(dirname(join(root, name)), { recursive: true });
        await writeFile(join(root, name), content);
      }
    }
    // Snapshots ignore some files that programs write all the time, such as git's index.
    for (const name of files.files) if (!first.has(name)) await copyAgain(files, name, root);
  } catch {
    // The caller compares the files again.
  }
}
