import { createHash } from 'node:crypto';
import { type Repository, GitError, openView } from './git-checkout.ts';
import { spawnProgram } from '../../server/spawn.ts';

/** The reason why an object cannot be used. */
export class UnreadableObjectError extends GitError {
  readonly kind: 'missing' | 'forged' | 'too-large';

  constructor(kind: UnreadableObjectError['kind'], id: string) {
    const why = { missing: 'is not here', forged: 'is not what its id says', 'too-large': 'is too large' }[kind];
    super(`the object ${id} ${why}`);
    this.kind = kind;
  }
}

/** Takes the content of an object, part by part. */
type Sink = (part: Buffer) => void | Promise<void>;

type ObjectType = 'commit' | 'tree' | 'blob';

/** Reads objects of a repository, and checks each by its id: git itself returns a file of its store unchecked. */
export interface ObjectReader extends AsyncDisposable {
  /** @throws {GitError} if the object is missing, does not match its id or type, or is larger than `maxBytes` */
  read(id: string, type: ObjectType, maxBytes?: number): Promise<Buffer>;
  /**
   * Reads an object of any size. If this throws, discard what the sink got.
   *
   * @throws {GitError} as `read`
   */
  copy(id: string, type: ObjectType, sink: Sink): Promise<void>;
}

/** Larger than a commit or a directory with many files. */
const defaultMaxBytes = 64 * 1024 * 1024;

const commitTimeoutMs = 10 * 60_000;

/**
 * Opens the objects of a repository. Takes one call at a time.
 *
 * @throws {GitError} if git is not installed
 */
export async function openObjects(
  repository: Repository,
  { timeoutMs = commitTimeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal | undefined } = {},
): Promise<ObjectReader> {
  signal?.throwIfAborted();
  const view = await openView(repository);
  const child = spawnProgram(view.git, ['cat-file', '--batch'], {
    cwd: view.cwd,
    env: view.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new TypeError('git was started without pipes.');
  const stop = () => void child.kill('SIGKILL');
  signal?.addEventListener('abort', stop, { once: true });
  let problem = '';
  stderr.setEncoding('utf8').on('data', (chunk: string) => (problem = (problem + chunk).slice(0, 2000)));
  child.on('error', (error) => (problem = error.message));
  const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  // Ignores errors of the pipes: if git has ended, `more` notices the end of its output.
  for (const stream of [stdin, stdout]) stream.on('error', () => {});
  const chunks: AsyncIterator<Buffer> = stdout[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const more = async (): Promise<void> => {
    const next = await chunks.next().catch(() => ({ done: true as const, value: undefined }));
    if (next.done !== true) {
      rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
      return;
    }
    await closed;
    signal?.throwIfAborted();
    throw new GitError(problem.trim() || 'git ended before it had answered');
  };
  const readLine = async (): Promise<string> => {
    for (;;) {
      const end = rest.indexOf('\n');
      if (end !== -1) {
        const line = rest.toString('latin1', 0, end);
        rest = rest.subarray(end + 1);
        return line;
      }
      await more();
    }
  };
  const take = async (size: number, sink: Sink): Promise<void> => {
    for (let left = size; left > 0;) {
      if (rest.length === 0) await more();
      const part = rest.subarray(0, left);
      rest = rest.subarray(part.length);
      left -= part.length;
      await sink(part);
    }
  };
  const copy = async (id: string, type: ObjectType, sink: Sink, maxBytes = Infinity): Promise<void> => {
    stdin.write(`${id}\n`);
    const header = await readLine();
    const [, , foundType = '', sizeText = ''] = /^(\S+) (\w+) (\d+)$/.exec(header) ?? [];
    if (sizeText === '') throw new UnreadableObjectError('missing', id);
    const size = Number(sizeText);
    const isTooLarge = size > maxBytes;
    const hash = createHash(id.length === 64 ? 'sha256' : 'sha1').update(`${foundType} ${size}\0`);
    await take(size, (part) => {
      hash.update(part);
      return isTooLarge ? undefined : sink(part);
    });
    await take(1, () => {});
    if (hash.digest('hex') !== id || foundType !== type) throw new UnreadableObjectError('forged', id);
    if (isTooLarge) throw new UnreadableObjectError('too-large', id);
  };
  return {
    copy,
    read: async (id, type, maxBytes = defaultMaxBytes) => {
      const parts: Buffer[] = [];
      await copy(id, type, (part) => void parts.push(part), maxBytes);
      return Buffer.concat(parts);
    },
    [Symbol.asyncDispose]: async () => {
      signal?.removeEventListener('abort', stop);
      stop();
      await closed;
      await view[Symbol.asyncDispose]();
    },
  };
}

/** An entry of a tree, by its path from the top. */
export interface TreeEntry {
  path: string;
  /** Git's mode in six digits; `040000` for a directory. */
  mode: string;
  id: string;
}

export const directoryMode = '040000';

/** Lists all that a commit holds, each directory before its content. */
export async function* walkTree(objects: ObjectReader, commit: string): AsyncGenerator<TreeEntry> {
  const { tree } = await readCommit(objects, commit);
  const open: Array<Pick<TreeEntry, 'path' | 'id'>> = [{ path: '', id: tree }];
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    const { path, id } = directory;
    const content = await objects.read(id, 'tree');
    for (const { name, ...entry } of parseTree(content, id.length / 2)) {
      const found = { ...entry, path: path === '' ? name : `${path}/${name}` };
      yield found;
      if (found.mode === directoryMode) open.push(found);
    }
  }
}

/** Parses a tree. Each entry is its mode, a space, its name, a zero byte and the bytes of its id. */
function parseTree(content: Buffer, idBytes: number): Array<{ name: string; mode: string; id: string }> {
  const entries: Array<{ name: string; mode: string; id: string }> = [];
  for (let start = 0; start < content.length;) {
    const space = content.indexOf(' ', start);
    const end = content.indexOf(0, space);
    const next = end + 1 + idBytes;
    if (space === -1 || end === -1 || next > content.length) throw new GitError('a directory of the commit is damaged');
    entries.push({
      mode: content.toString('latin1', start, space).padStart(6, '0'),
      name: content.toString('utf8', space + 1, end),
      id: content.toString('hex', end + 1, next),
    });
    start = next;
  }
  return entries;
}

interface Commit {
  tree: string;
  parents: string[];
  /** The time of the commit, in seconds. */
  time: number;
}

async function readCommit(objects: ObjectReader, id: string): Promise<Commit> {
  const [head = ''] = (await objects.read(id, 'commit')).toString('utf8').split('\n\n', 1);
  const tree = /^tree ([0-9a-f]+)$/m.exec(head)?.[1];
  if (tree === undefined) throw new GitError(`the commit ${id} is damaged`);
  return {
    tree,
    parents: [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent = '']) => parent),
    time: Number(/^committer .* (\d+) [-+]\d+$/m.exec(head)?.[1] ?? 0),
  };
}

const [ofOne, ofOther, isOld] = [1, 2, 4];

/** Ignores a missing commit: a shallow checkout may end above the common commit. */
function ignoreMissing(error: unknown): void {
  if (!(error instanceof UnreadableObjectError && error.kind === 'missing')) throw error;
}

/**
 * Finds the newest commit that two commits have in common, as git-merge-base(1) does; null if there is none. Reads commits by their ids, so
 * that neither a graft nor a shallow file changes their parents.
 *
 * @throws {GitError} if a commit on the way is missing here
 */
export async function findMergeBase(objects: ObjectReader, one: string, other: string): Promise<string | null> {
  const flags = new Map<string, number>();
  /** Sorted by time, the oldest commit first. */
  const queue: Array<Commit & { id: string }> = [];
  const found: Array<Commit & { id: string }> = [];
  const add = async (id: string, more: number) => {
    const before = flags.get(id) ?? 0;
    if ((before & more) === more) return;
    flags.set(id, before | more);
    if (queue.some((each) => each.id === id)) return;
    const commit = { id, ...(await readCommit(objects, id)) };
    const at = queue.findIndex(({ time }) => time > commit.time);
    queue.splice(at === -1 ? queue.length : at, 0, commit);
  };
  await add(one, ofOne);
  await add(other, ofOther);
  while (queue.some(({ id }) => ((flags.get(id) ?? 0) & isOld) === 0)) {
    const commit = queue.pop();
    if (commit === undefined) break;
    let own = flags.get(commit.id) ?? 0;
    if ((own & (ofOne | ofOther)) === (ofOne | ofOther)) {
      // If one of the two commits descends from the other, the older one is their newest common commit.
      if (commit.id === one || commit.id === other) return commit.id;
      if ((own & isOld) === 0) found.push(commit);
      // Its ancestors are common, too, and not newer.
      own |= isOld;
    }
    for (const parent of commit.parents) {
      const reading = add(parent, own);
      await ((own & isOld) === 0 ? reading : reading.catch(ignoreMissing));
    }
  }
  const newest = found.filter(({ id }) => ((flags.get(id) ?? 0) & isOld) === 0).toSorted((a, b) => b.time - a.time);
  return newest[0]?.id ?? null;
}
