import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { copyAgain, type Workspace } from '../../workspace/workspace.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Removes what was added to a workspace since it was new, and copies again what was changed or removed. Leaves what it cannot put back: files
 * that the server made as it started, and what it may not write.
 */
export async function putBack(
  root: string,
  { first, now, files }: { first: Snapshot; now: Snapshot; files: Workspace },
): Promise<void> {
  try {
    for (const name of now.keys()) {
      if (!first.has(name)) await rm(join(root, name), { recursive: true, force: true });
    }
    for (const [name, { hash }] of first) {
      if (now.get(name)?.hash !== hash) await copyAgain(files, name.replace(/\/$/, ''), root);
    }
    // Snapshots ignore some files that programs write all the time, such as git's index.
    for (const name of files.files) if (!first.has(name)) await copyAgain(files, name, root);
  } catch {
    // The caller compares the files again.
  }
}
