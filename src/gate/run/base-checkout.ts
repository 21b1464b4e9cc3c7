import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rm, symlink } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname, join } from 'node:path';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { isProcessAlive } from '../../server/process-tree.ts';
import { describeGitError, findRepository, GitError, type Repository } from '../plan/git-checkout.ts';
import {
  directoryMode,
  type ObjectReader,
  openObjects,
  type TreeEntry,
  UnreadableObjectError,
  walkTree,
} from '../plan/git-objects.ts';
import { baseTreePrefix, type PlannedCheckout } from '../plan/plan-base.ts';

/**
 * Writes the files of the base into a directory, as git stores them: no worktree, no filter, no hook, and no later use of git. First removes
 * directories of gates that were killed. Its disposal removes the directory.
 *
 * @throws git's error, or the signal's reason; nothing is left then
 */
export async function openCheckout(
  { commit, repository: top, directory }: Pick<PlannedCheckout, 'commit' | 'repository' | 'directory'>,
  { logger, signal }: { logger: Logger; signal: AbortSignal },
): Promise<AsyncDisposable> {
  const remove = async () => {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) => {
      logger.warning(
        `Could not remove the files of the base at ${directory}: ${describeError(error)}. The verdict stands.`,
      );
    });
  };
  await removeAbandoned(dirname(directory));
  try {
    signal.throwIfAborted();
    const repository = await findRepository(top);
    if (repository === null) throw new GitError('there is no git repository here');
    await using objects = await openObjects(repository, { signal });
    await mkdir(directory, { mode: 0o700 });
    const writer = { objects, repository, directory, commit };
    for await (const entry of walkTree(objects, commit)) await writeEntry(entry, writer);
    return { [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    signal.throwIfAborted();
    throw new Error(describeGitError(error) || describeError(error), { cause: error });
  }
}

interface TreeWriter {
  objects: ObjectReader;
  repository: Repository;
  directory: string;
  commit: string;
}

const linkMode = '120000';
const submoduleMode = '160000';
const programMode = '100755';

/** Writes an entry. Every entry is new: an existing one, such as a link of the same name, is never followed or overwritten. */
async function writeEntry({ path, mode, id }: TreeEntry, writer: TreeWriter): Promise<void> {
  const { objects, directory, commit } = writer;
  const names = path.split('/');
  if (names.some((name) => /^(?:|\.|\.\.|\.git)$/i.test(name) || (platform() === 'win32' && /[\\:]/.test(name)))) {
    throw new GitError(`the commit ${commit} has a file of the name ${JSON.stringify(path)}`);
  }
  const target = join(directory, ...names);
  // The files of a submodule are not in this repository. Git creates an empty directory, too.
  if (mode === directoryMode || mode === submoduleMode) {
    await mkdir(target);
    return;
  }
  const describe = (what: string) => new GitError(`${path} of the commit ${commit.slice(0, 7)} ${what}`);
  try {
    if (mode === linkMode) await symlink((await objects.read(id, 'blob')).toString('utf8'), target);
    else await writeFile(target, { id, mode }, writer);
  } catch (error) {
    if (error instanceof MissingLfsFileError) {
      throw describe(
        `is a pointer of Git LFS, and the file is not here. Run \`git lfs fetch origin ${commit}\` before the gate`,
      );
    }
    if (!(error instanceof UnreadableObjectError)) throw error;
    throw describe(
      error.kind === 'missing'
        ? 'is not here. A partial clone leaves files out: remove `filter` from actions/checkout, or run `git fetch --refetch` before the gate'
        : `cannot be read: ${error.message}. Check the repository out anew`,
    );
  }
}

class MissingLfsFileError extends Error {}

/** Writes a file. If it throws, the caller removes the directory. */
async function writeFile(
  path: string,
  { id, mode }: Pick<TreeEntry, 'id' | 'mode'>,
  writer: TreeWriter,
): Promise<void> {
  await using file = await open(path, 'wx', mode === programMode ? 0o777 : 0o666);
  let start = Buffer.alloc(0);
  await writer.objects.copy(id, 'blob', async (part) => {
    if (start.length < maxPointerBytes) start = Buffer.concat([start, part.subarray(0, maxPointerBytes)]);
    await file.writeFile(part);
  });
  const pointer = start.length < maxPointerBytes ? lfsPointer.exec(start.toString('latin1'))?.[1] : undefined;
  if (pointer === undefined) return;
  await file.truncate(0);
  const hash = createHash('sha256');
  const content = await open(locateLfsObject(pointer, writer.repository), 'r').catch(() => null);
  if (content === null) throw new MissingLfsFileError();
  // A stream closes the file at its end.
  let position = 0;
  for await (const part of content.createReadStream()) {
    if (!Buffer.isBuffer(part)) continue;
    hash.update(part);
    position += (await file.write(part, 0, part.length, position)).bytesWritten;
  }
  if (hash.digest('hex') !== pointer) throw new MissingLfsFileError();
}

/** The pointer that Git LFS commits instead of a large file; see its specification. */
const lfsPointer = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n/;
const maxPointerBytes = 1024;

function locateLfsObject(id: string, { commonDirectory }: Repository): string {
  return join(commonDirectory, 'lfs', 'objects', id.slice(0, 2), id.slice(2, 4), id);
}

/** Removes the directories of gates that were killed. If one cannot be removed, the next gate tries again. */
export async function removeAbandoned(temporary: string): Promise<void> {
  const pattern = new RegExp(`^${baseTreePrefix}(\\d+)-`);
  for (const name of await readdir(temporary).catch(() => [])) {
    const pid = pattern.exec(name)?.[1];
    if (pid === undefined || isProcessAlive(Number(pid))) continue;
    await rm(join(temporary, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}
