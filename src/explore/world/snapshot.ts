import { createHash } from 'node:crypto';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { readInput } from '../../base/files.ts';
import type { FileEffects } from '../exploration.ts';

/** The state of a workspace: the content of each file as a hash. Unchanged files are not read again. */
export type Snapshot = ReadonlyMap<string, { stamp: string; hash: string }>;

/** A server that writes more files than this has changed something anyway. */
const maxEntries = 20_000;

/**
 * Files that programs write although they change nothing that matters: caches, logs, side files of databases, and what git writes whenever it
 * runs: its cache of file times, and the message of the last commit.
 */
const ignoredFiles =
  /(?:^|\/)(?:__pycache__|\.cache|\.git\/logs)\/|\.pyc$|-(?:wal|shm|journal)$|\.log(?:\.[\d-]+)?$|(?:^|\/)\.git\/(?:index|COMMIT_EDITMSG|.*\.lock)$/;

/** Reads the state of a directory; a missing one is empty. `before` spares reading files that have not changed since. */
export async function takeSnapshot(root: string, before: Snapshot = new Map()): Promise<Snapshot> {
  const found = new Map<string, { stamp: string; hash: string }>();
  const visit = async (directory: string, prefix: string): Promise<void> => {
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (found.size >= maxEntries) return;
      const [path, name] = [join(directory, entry.name), `${prefix}${entry.name}`];
      if (entry.isDirectory()) {
        found.set(`${name}/`, { stamp: '', hash: '' });
        await visit(path, `${name}/`);
      } else if (!ignoredFiles.test(name)) {
        const state = await describeFile(path, before.get(name));
        if (state !== null) found.set(name, state);
      }
    }
  };
  await visit(root, '');
  return found;
}

async function describeFile(
  path: string,
  before: { stamp: string; hash: string } | undefined,
): Promise<{ stamp: string; hash: string } | null> {
  try {
    const found = await lstat(path);
    const stamp = `${found.size} ${found.mtimeMs} ${found.ctimeMs} ${found.ino}`;
    if (before?.stamp === stamp) return before;
    if (found.isSymbolicLink()) return { stamp, hash: `link ${await readlink(path)}` };
    if (!found.isFile()) return { stamp, hash: 'other' };
    return {
      stamp,
      hash: createHash('sha256')
        .update(dropArchiveTimes(await readInput(path)))
        .digest('hex'),
    };
  } catch {
    // It was removed meanwhile, or may not be read; a file that is too large counts by its size and time.
    const found = await lstat(path).catch(() => null);
    return found === null ? null : { stamp: '', hash: `${found.size} ${found.mtimeMs}` };
  }
}

/** The signatures of the headers in a ZIP archive, with the offset of the time: before each file, and in the list at the end. */
const archiveHeaders = [
  [Buffer.from('PK\u0003\u0004', 'latin1'), 10],
  [Buffer.from('PK\u0001\u0002', 'latin1'), 12],
] as const;

/** Leaves out the times in a ZIP archive, such as a document of an office program, which differ whenever it is written. */
function dropArchiveTimes(content: Buffer): Buffer {
  if (!content.subarray(0, 4).equals(archiveHeaders[0][0])) return content;
  const copy = Buffer.from(content);
  for (const [signature, offset] of archiveHeaders) {
    for (let at = copy.indexOf(signature); at !== -1; at = copy.indexOf(signature, at + 4)) {
      copy.fill(0, at + offset, at + offset + 4);
    }
  }
  return copy;
}

/** Lists the files that differ between two states. A directory counts only if it has no changed file below it. */
export function compareSnapshots(before: Snapshot, after: Snapshot): FileEffects {
  const added = [...after.keys()].filter((name) => !before.has(name));
  const removed = [...before.keys()].filter((name) => !after.has(name));
  const changed = [...after].filter(([name, { hash }]) => before.has(name) && before.get(name)?.hash !== hash);
  return {
    added: dropParents(added),
    changed: changed.map(([name]) => name).toSorted(),
    removed: dropParents(removed),
  };
}

function dropParents(names: readonly string[]): string[] {
  const isParent = (name: string) =>
    name.endsWith('/') && names.some((other) => other !== name && other.startsWith(name));
  return names.filter((name) => !isParent(name)).toSorted();
}
