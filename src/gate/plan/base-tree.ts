import type { Findings } from '../../base/findings.ts';
import { isAbsolute, posix, relative } from 'node:path';
import { type ConfigurationIssue, describeError, GateError, ProtocolError } from '../../base/errors.ts';
import { createMatcher } from '../../base/glob.ts';
import { silentLogger } from '../../base/logger.ts';
import type { Secret } from '../../base/redaction.ts';
import { startDeadline, systemClock } from '../../base/time.ts';
import type { GitHubClient } from '../../github/github-client.ts';
import { loadGitHub } from '../../github/load.ts';
import { findCommit, listFilesAt, readFileAt } from '../../github/commits.ts';
import { type ChangeBase, type CiJob, isFullHash } from './ci-job.ts';
import { describeGitError, findRepository, GitError, type Repository, runGit } from './git-checkout.ts';
import { directoryMode, findMergeBase, openObjects, UnreadableObjectError, walkTree } from './git-objects.ts';
import { locateDirectory, readGitHubAccess } from './plan-github.ts';

/** The files of one commit of the repository that the working directory is in. */
interface CommitFiles {
  /** The path of the working directory in the repository, without a slash at the end. */
  directory: string;
  /** Git's mode of every file, by its path in the repository. */
  modes: ReadonlyMap<string, string>;
  /** The id of the content of every file, by its path in the repository. */
  blobs: ReadonlyMap<string, string>;
  /** Reads an existing file, by its path in the repository. */
  read: (path: string) => Promise<string>;
}

/** A file of the base: `missing` if the base has none, `unreadable` if it cannot be read. */
type BaseFile = { kind: 'file'; text: string } | { kind: 'missing' } | { kind: 'unreadable' };

/** The files of the base, by paths relative to the working directory. */
export interface BaseTree {
  /** Reads a file. Adds to `findings` if it exists and cannot be read. */
  read: (path: string, findings: Findings) => Promise<BaseFile>;
  /** Lists the files that glob patterns match, as `loadSuites` matches them in the checkout. @throws {ConfigurationError} as the matcher does */
  list: (patterns: readonly string[]) => string[];
  /** The ids of the contents of the files directly in a directory, by their names. */
  listDirectory: (path: string) => Map<string, string>;
}

const linkMode = '120000';
const submoduleMode = '160000';

/**
 * Lists the files of a commit, which are then read one by one. Checks all of them by the id of the commit.
 *
 * @throws {GitError} if the commit or one of its directories cannot be read
 */
export async function listCommitFiles(commit: string, cwd: string): Promise<CommitFiles> {
  const repository = await requireRepository(cwd);
  const modes = new Map<string, string>();
  const blobs = new Map<string, string>();
  {
    await using objects = await openObjects(repository);
    for await (const { path, mode, id } of walkTree(objects, commit)) {
      if (mode === directoryMode) continue;
      modes.set(path, mode);
      blobs.set(path, id);
    }
  }
  return {
    directory: repository.prefix.replaceAll('\\', '/'),
    modes,
    blobs,
    read: async (path) => {
      await using objects = await openObjects(repository);
      return (await objects.read(blobs.get(path) ?? '', 'blob', maxFileBytes)).toString('utf8');
    },
  };
}

/** Larger than any evals file, which has at most 1 MiB. */
const maxFileBytes = 2 * 1024 * 1024;

async function requireRepository(cwd: string): Promise<Repository> {
  const repository = await findRepository(cwd);
  if (repository === null) throw new GitError('there is no git repository here');
  return repository;
}

/** Returns the files of a commit by paths relative to `cwd`. Messages call the commit `name`. */
export function createBaseTree({ directory, modes, blobs, read }: CommitFiles, name: string, cwd: string): BaseTree {
  const fromCwd = (path: string) => (isAbsolute(path) ? relative(cwd, path) : path).replaceAll('\\', '/');
  const toRepository = (path: string) => posix.normalize(posix.join(directory, fromCwd(path)));
  const refuse = (path: string, code: string, what: string): ConfigurationIssue => ({
    file: `${name}:${path}`,
    code,
    message: `${what}, so \`policy-ref: base\` cannot judge by it. Replace it with a regular file in ${name}, or use \`policy-ref: head\` for this change`,
  });
  return {
    read: async (path, findings) => {
      const wanted = toRepository(path);
      const mode = modes.get(wanted);
      const obstacle = findObstacle(wanted, modes);
      if (obstacle !== null) {
        findings.add(refuse(path, 'base-file-unreadable', `${obstacle.path} of ${name} is ${obstacle.what}`));
        return { kind: 'unreadable' };
      }
      if (mode === undefined) return { kind: 'missing' };
      try {
        return { kind: 'file', text: await read(wanted) };
      } catch (error) {
        if (error instanceof GateError) throw error;
        const why = isTooLarge(error) ? 'it is larger than any evals file' : describeGitError(error);
        findings.add(refuse(path, 'base-file-unreadable', `${wanted} of ${name} cannot be read: ${why}`));
        return { kind: 'unreadable' };
      }
    },
    list: (patterns) => {
      const found = patterns.flatMap((pattern) => {
        const wanted = toRepository(pattern);
        const matches = createMatcher(wanted);
        const isExcluded = (path: string) => !pattern.includes('node_modules') && /(?:^|\/)node_modules\//.test(path);
        // A link above the pattern's files hides all that is below it.
        const isOnTheWay = (path: string) => wanted.startsWith(`${path}/`) && isLinkLike(modes.get(path));
        return [...modes.keys()].filter(
          (path) => path === wanted || isOnTheWay(path) || (matches(path) && !isExcluded(path)),
        );
      });
      return [...new Set(found)].toSorted().map((path) => posix.relative(directory, path));
    },
    listDirectory: (path) => {
      const start = `${toRepository(path)}/`;
      const below = [...blobs].filter(([file]) => file.startsWith(start));
      const named = below.map(([file, blob]): [string, string] => [file.slice(start.length), blob]);
      return new Map(named.filter(([name]) => !name.includes('/')));
    },
  };
}

function isLinkLike(mode: string | undefined): boolean {
  return mode === linkMode || mode === submoduleMode;
}

/** Finds the symbolic link or the submodule that the path is, or leads through. */
function findObstacle(wanted: string, modes: ReadonlyMap<string, string>): { path: string; what: string } | null {
  const parts = wanted.split('/');
  for (const index of parts.keys()) {
    const path = parts.slice(0, index + 1).join('/');
    const mode = modes.get(path);
    if (mode === linkMode) return { path, what: 'a symbolic link' };
    if (mode === submoduleMode) return { path, what: 'a submodule' };
  }
  return null;
}

function isTooLarge(error: unknown): boolean {
  return error instanceof UnreadableObjectError && error.kind === 'too-large';
}

/** The sources in which the gate searches for the base. */
export interface BaseSources {
  ci: CiJob;
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** The token for GitHub's API, if git does not have the base. */
  token: Secret | null;
}

/** The files of the base; `commit` is null if git does not have it. */
type FoundBase = { files: CommitFiles; commit: string | null };

/** Finds the base in git, which needs no permission; else on GitHub, for a job of GitHub Actions. */
export async function findBase(
  { revisions }: ChangeBase,
  { ci, cwd, environment, token }: BaseSources,
): Promise<FoundBase | { problem: string }> {
  const [first] = revisions;
  if (first === undefined) return { problem: '' };
  const found = await readLocalCommit(revisions, cwd);
  if ('files' in found) return found;
  if (ci.system !== 'github' || token === null || ci.repository === null) return found;
  const remoteRef = first.replace(/^refs\/remotes\/origin\//, 'heads/');
  const remote = await openRemoteBase(remoteRef, { cwd, environment, token });
  return 'problem' in remote
    ? { problem: `${found.problem}; ${remote.problem}` }
    : { files: remote.files, commit: null };
}

/** Says what is missing and how to fetch it, in the words of the CI system. */
export function explainMissingBase(
  { noun, label, branch, revisions }: ChangeBase,
  ci: CiJob,
  found: { problem: string },
): string {
  const checkedOut = 'or use the checked-out policy with `policy-ref: head`';
  if (revisions.length === 0) {
    const what = label ?? `this ${noun}`;
    return `is base, and ${ci.systemName} does not say which branch ${what} goes into. Name it with \`base-ref\`, such as main, ${checkedOut}`;
  }
  const name = branch ?? 'the base';
  const why = `is base, and the commit of ${name} is not here: ${found.problem}`;
  if (ci.system === 'github') return `${why}. Set \`fetch-depth: 0\` on actions/checkout, ${checkedOut}`;
  const ref = branch !== null && /^[\w./-]+$/.test(branch) ? branch : '<branch>';
  return `${why}. Fetch it before the gate starts, with \`git fetch origin +refs/heads/${ref}:refs/remotes/origin/${ref}\`, ${checkedOut}`;
}

async function readLocalCommit(revisions: readonly string[], cwd: string): Promise<FoundBase | { problem: string }> {
  const found = await findLocalCommit(revisions, cwd);
  if ('problem' in found) return found;
  try {
    return { files: await listCommitFiles(found.commit, cwd), commit: found.commit };
  } catch (error) {
    return { problem: describeGitError(error) };
  }
}

/** Finds the first of these revisions that the local repository has. */
export async function findLocalCommit(
  candidates: readonly string[],
  cwd: string,
): Promise<{ commit: string } | { problem: string }> {
  let problem = '';
  for (const candidate of candidates) {
    try {
      // Does not resolve a full id: if a forged tag had that id, git would follow it to another commit.
      const commit = isFullHash(candidate) ? candidate : await resolveCommit(candidate, cwd);
      await using objects = await openObjects(await requireRepository(cwd));
      await objects.read(commit, 'commit');
      return { commit };
    } catch (error) {
      const isMissing = error instanceof UnreadableObjectError && error.kind === 'missing';
      problem = (isMissing ? '' : describeGitError(error)) || `git does not know ${candidate}`;
    }
  }
  return { problem };
}

async function resolveCommit(revision: string, cwd: string): Promise<string> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`];
  return (await runGit(args, cwd)).trim();
}

/**
 * Finds the commit that a change began at: the newest common commit of the base and the tested commit. If the CI system names tested
 * commits, HEAD only says which of them it is.
 *
 * @throws {GitError} if the local history does not show it
 */
export async function findForkPoint(base: string, { tested }: Pick<CiJob, 'tested'>, cwd: string): Promise<string> {
  const head = await findLocalCommit(['HEAD'], cwd);
  const isNamed = 'commit' in head && tested.includes(head.commit);
  const named = isNamed ? head : await findLocalCommit(tested, cwd);
  const own = 'commit' in named ? named : head;
  if ('problem' in own) throw new GitError(own.problem);
  await using objects = await openObjects(await requireRepository(cwd), { timeoutMs: historyTimeoutMs });
  const fork = await findMergeBase(objects, base, own.commit);
  if (fork === null) throw new GitError('they have no commit in common');
  return fork;
}

/** Reading a history of many thousand commits takes seconds. */
const historyTimeoutMs = 120_000;

const timeoutMs = 60_000;

/**
 * Lists and reads files of the base through GitHub's API, for a checkout that has only its own commit. Finds the commit first, so that a
 * file that GitHub does not find is one that the base does not have, and not one of a repository that the token cannot see.
 */
async function openRemoteBase(
  ref: string,
  {
    cwd,
    environment,
    token,
  }: { cwd: string; environment: Readonly<Record<string, string | undefined>>; token: Secret },
): Promise<{ files: CommitFiles } | { problem: string }> {
  try {
    const access = readGitHubAccess(token, environment);
    const { repository } = access;
    const openGitHub = await loadGitHub(access);
    const ask = async <T>(call: (client: GitHubClient) => Promise<T>): Promise<T> => {
      const deadline = startDeadline(systemClock, timeoutMs, 'Reading the policy of the base');
      await using client = openGitHub({ ...access, clock: systemClock, logger: silentLogger, deadline });
      return await call(client);
    };
    const commit = await ask((client) => findCommit(client, repository, ref));
    if (commit === null) return { problem: `GitHub does not know ${ref}, or the token may not see it` };
    const listed = await ask((client) => listFilesAt(client, repository, commit));
    const read = async (path: string): Promise<string> => {
      const text = await ask((client) => readFileAt(client, repository, { path, commit }));
      if (text === null) throw new ProtocolError(`GitHub lists ${path} of ${commit} and does not have it.`);
      return text;
    };
    // A working directory outside of the checkout has no file of the base.
    const directory = locateDirectory(environment, cwd);
    const entries = directory === null ? [] : listed;
    const modes = new Map(entries.map(({ path, mode }) => [path, mode]));
    const blobs = new Map(entries.map(({ path, sha }) => [path, sha]));
    return { files: { directory: directory ?? '', modes, blobs, read } };
  } catch (error) {
    if (!(error instanceof GateError)) throw error;
    return { problem: describeError(error) };
  }
}
