import { copyFile, mkdtemp, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { describeError } from '../../base/errors.ts';
import { readTextFile } from '../../base/files.ts';
import { findProgram } from '../../server/programs.ts';
import { runProgram } from '../../server/spawn.ts';
import type { GitCheckout } from './ci-systems.ts';

const shortTimeoutMs = 30_000;
/** Larger than any evals file, which has at most 1 MiB. */
const maxOutputBytes = 2 * 1024 * 1024;

interface GitLimits {
  maxBytes?: number;
  timeoutMs?: number;
  /** Ends git. */
  signal?: AbortSignal | undefined;
}

/** The directories of a repository. */
export interface Repository {
  /** The top directory of the checkout. It keeps the links of the requested path. */
  top: string;
  /** The path from the top to the requested directory; empty for the top itself. */
  prefix: string;
  /** Git's directory of this checkout alone; `commonDirectory` has what all worktrees share. */
  directory: string;
  commonDirectory: string;
}

/** An error that git reports. */
export class GitError extends Error {
  /** Null if git did not end by itself. */
  readonly exitCode: number | null;

  constructor(message: string, exitCode: number | null = null) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Finds the repository that contains a directory; null if there is none. Runs no program. */
export async function findRepository(cwd: string): Promise<Repository | null> {
  const start = await realpath(cwd).catch(() => cwd);
  for (let above = start; ; above = dirname(above)) {
    const directory = await readGitDirectory(join(above, '.git'));
    if (directory !== null) {
      const prefix = relative(above, start);
      const common = await readTextFile(join(directory, 'commondir')).catch(() => '.');
      return {
        top: resolve(cwd, relative(start, above)),
        prefix,
        directory,
        commonDirectory: resolve(directory, common.trim()),
      };
    }
    if (above === dirname(above)) return null;
  }
}

/** Finds git's directory. In a worktree and in a submodule, `.git` is a file that names it. */
async function readGitDirectory(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return null;
  if (found.isDirectory()) return path;
  const named = /^gitdir: (.+)$/m.exec(await readTextFile(path).catch(() => ''))?.[1];
  return named === undefined ? null : resolve(dirname(path), named);
}

/** A git directory that shows only the objects and the refs of a repository. */
interface RepositoryView extends AsyncDisposable {
  git: string;
  cwd: string;
  env: Record<string, string>;
}

/** Turns off every setting that could name a program or change what an object is, so that a default of git cannot turn it on. */
const settings = `[core]
	repositoryformatversion = 1
	bare = false
	commitGraph = false
	multiPackIndex = false
	fsmonitor = false
	untrackedCache = false
	useReplaceRefs = false
	hooksPath = ${devNull}
	attributesFile = ${devNull}
	excludesFile = ${devNull}
[protocol]
	allow = never
[extensions]
`;

/**
 * Lets git see a repository without its configuration, attributes, hooks, grafts, shallow file and remotes. All of these can name programs
 * or change what a commit is, and code of the change may have written them. Git gets its own environment.
 *
 * @throws {GitError} if git is not installed
 */
export async function openView({ directory, commonDirectory, top }: Repository): Promise<RepositoryView> {
  const git = findProgram('git');
  if (git === null) throw new GitError('git is not installed');
  const view = await mkdtemp(join(tmpdir(), 'mcp-eval-ci-git-'));
  const dispose = async () => await rm(view, { recursive: true, force: true });
  try {
    const show = async (name: string) =>
      await symlink(join(commonDirectory, name), join(view, name), 'junction').catch(
        async () => await copyFile(join(commonDirectory, name), join(view, name)),
      );
    const has = async (name: string) => (await stat(join(commonDirectory, name)).catch(() => null)) !== null;
    const head = await readTextFile(join(directory, 'HEAD')).catch(() => 'ref: refs/heads/none');
    await writeFile(join(view, 'HEAD'), head);
    const kept = ['objects', 'refs', 'packed-refs', 'reftable'];
    const there = await Promise.all(kept.map(has));
    for (const [index, name] of kept.entries()) if (there[index] === true) await show(name);
    const own = await readTextFile(join(commonDirectory, 'config')).catch(() => '');
    const formats = [
      // The hash of ids and the format of refs. If the configuration gives a wrong one, git finds nothing to read.
      ...(/^\s*objectformat\s*=\s*"?sha256/im.test(own) ? ['\tobjectFormat = sha256\n'] : []),
      ...(there.at(-1) === true ? ['\trefStorage = reftable\n'] : []),
    ];
    await writeFile(join(view, 'config'), settings + formats.join(''));
    return { git, cwd: view, env: createEnvironment({ git, view, top, directory }), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function createEnvironment({
  git,
  view,
  top,
  directory,
}: {
  git: string;
  view: string;
  top: string;
  directory: string;
}): Record<string, string> {
  return {
    PATH: dirname(git),
    HOME: view,
    XDG_CONFIG_HOME: view,
    LC_ALL: 'C',
    GIT_DIR: view,
    GIT_WORK_TREE: top,
    GIT_INDEX_FILE: join(directory, 'index'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: devNull,
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_GRAFT_FILE: devNull,
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: '',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
  };
}

/**
 * Runs git in a directory and returns what it prints. Git reads no configuration there: see `openView`. It does not check objects by their
 * ids; everything that a verdict depends on is read through `git-objects.ts`.
 *
 * @throws {GitError} with git's message
 */
export async function runGit(
  args: readonly string[],
  cwd: string,
  { maxBytes = maxOutputBytes, timeoutMs = shortTimeoutMs, signal }: GitLimits = {},
): Promise<string> {
  const repository = await findRepository(cwd);
  if (repository === null) throw new GitError('there is no git repository here');
  await using view = await openView(repository);
  const { code, stdout, stderr, isTooLong } = await runProgram(view.git, args, {
    cwd: join(repository.top, repository.prefix),
    env: view.env,
    timeout: timeoutMs,
    maxBytes,
    ...(signal === undefined ? {} : { signal }),
  });
  if (code === 0) return stdout;
  const why = isTooLong ? 'it prints too much' : stderr.trim().slice(0, maxErrorLength);
  throw new GitError(code === null ? why || 'git did not end in time' : why, code);
}

const maxErrorLength = 4096;

/** Describes git's error, or why git could not be run; empty if git only answers no. */
export function describeGitError(error: unknown): string {
  return error instanceof GitError ? error.message : describeError(error);
}

/** Asks git for the state of the checkout. All values are null without git or without a repository. */
export async function probeGit(cwd: string): Promise<GitCheckout> {
  const ask = async (...args: string[]) => (await runGit(args, cwd)).trim() || null;
  const unknown = () => null;
  let branch: string | null;
  try {
    branch = await ask('symbolic-ref', '--quiet', '--short', 'HEAD');
  } catch (error) {
    // The other questions would fail in the same way, and each starts a process.
    if (!isDetached(error)) return { branch: null, commit: null, defaultBranch: null };
    branch = null;
  }
  const [commit, remoteHead] = await Promise.all([
    ask('rev-parse', '--verify', '--quiet', 'HEAD^{commit}').catch(unknown),
    ask('symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD').catch(unknown),
  ]);
  return { branch, commit, defaultBranch: remoteHead?.replace(/^refs\/remotes\/origin\//, '') ?? null };
}

/** git-symbolic-ref(1) exits with 1 if HEAD names a commit, and with 128 if there is no repository. */
function isDetached(error: unknown): boolean {
  return error instanceof GitError && error.exitCode === 1;
}
