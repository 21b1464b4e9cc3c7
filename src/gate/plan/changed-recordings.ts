import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { posix, resolve } from 'node:path';
import { readInput } from '../../base/files.ts';
import type { Suite } from '../../cases/suite.ts';
import type { ProtectedBase } from './base-policy.ts';
import type { BaseTree } from './base-tree.ts';
import { runGit } from './git-checkout.ts';

/** The changes to the recordings in a directory, by their file names. */
type Changes = Record<'changed' | 'added' | 'removed', string[]>;

const maxNames = 3;
/** Larger than the limit of an evals file, because the list of files in a directory can be longer. */
const maxListBytes = 64 * 1024 * 1024;

/**
 * Lists the suites whose recordings differ from those of the base, one sentence each. Leaves out what only the base has changed since the
 * change began, and new files that git does not track: they come from an artifact or a cache of the job.
 */
export async function listChangedRecordings(
  suites: readonly Suite[],
  { tree, openFork, names }: Pick<ProtectedBase, 'tree' | 'openFork' | 'names'>,
  cwd: string,
): Promise<string[]> {
  const notes: string[] = [];
  let fork: BaseTree | null | undefined;
  for (const { id, name, location } of suites) {
    const directory = posix.join(posix.dirname(location.file.replaceAll('\\', '/')), 'recordings', id);
    let changes = await compareDirectory(tree, { directory, cwd });
    if (Object.values(changes).every((files) => files.length === 0)) continue;
    fork ??= await openFork();
    if (fork !== null) changes = intersect(changes, await compareDirectory(fork, { directory, cwd }));
    const what = describeChanges(changes);
    if (what === '') continue;
    notes.push(
      `This ${names.noun} changes recordings of the suite ${JSON.stringify(name)} in ${directory}: ${what}. Review their answers, which replace calls of models.`,
    );
  }
  return notes;
}

async function compareDirectory(
  tree: BaseTree,
  { directory, cwd }: { directory: string; cwd: string },
): Promise<Changes> {
  const before = tree.listDirectory(directory);
  const isRecording = (name: string) => name.endsWith('.jsonl');
  const after = (await readdir(resolve(cwd, directory)).catch(() => [])).filter(isRecording).toSorted();
  const changed: string[] = [];
  for (const name of after) {
    const id = before.get(name);
    if (id !== undefined && !(await hasContent(resolve(cwd, directory, name), id))) changed.push(name);
  }
  const unknown = after.filter((name) => !before.has(name));
  const untracked = unknown.length === 0 ? new Set<string>() : await listUntracked(directory, cwd);
  const kept = new Set(after);
  return {
    changed,
    added: unknown.filter((name) => !untracked.has(posix.join(directory, name))),
    removed: [...before.keys()].filter((name) => isRecording(name) && !kept.has(name)),
  };
}

/** Checks if a file is the blob with this id, also if git converted its line ends to those of Windows. */
async function hasContent(path: string, id: string): Promise<boolean> {
  const content = await readInput(path).catch(() => null);
  if (content === null) return false;
  const algorithm = id.length === 64 ? 'sha256' : 'sha1';
  const hash = (bytes: Buffer) => createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  if (hash(content) === id) return true;
  return content.includes('\r\n') && hash(Buffer.from(content.toString('utf8').replaceAll('\r\n', '\n'))) === id;
}

/** Lists the untracked files of a directory, by paths relative to `cwd`; none if git cannot list them. */
async function listUntracked(directory: string, cwd: string): Promise<Set<string>> {
  try {
    const args = ['ls-files', '--others', '-z', '--', `:(literal)${directory}`];
    return new Set((await runGit(args, cwd, { maxBytes: maxListBytes })).split('\0'));
  } catch {
    return new Set();
  }
}

/** Keeps the files that differ both from the base and from the commit that the change began at. */
function intersect(fromBase: Changes, fromFork: Changes): Changes {
  const own = new Set(Object.values(fromFork).flat());
  const keep = (files: readonly string[]) => files.filter((name) => own.has(name));
  return { changed: keep(fromBase.changed), added: keep(fromBase.added), removed: keep(fromBase.removed) };
}

function describeChanges(changes: Changes): string {
  const parts = Object.entries(changes).flatMap(([kind, files]) => {
    if (files.length === 0) return [];
    const shown = files.slice(0, maxNames);
    const hidden = files.length - shown.length;
    return [`${kind} ${[...shown, ...(hidden > 0 ? [`${hidden} more`] : [])].join(', ')}`];
  });
  return parts.join('; ');
}
