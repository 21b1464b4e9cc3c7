import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { describeError } from '../../base/errors.ts';
import type { GitCheckout } from './ci-systems.ts';

const run = promisify(execFile);
const shortTimeoutMs = 30_000;
/** An evals file is at most 1 MiB. */
const maxOutputBytes = 2 * 1024 * 1024;

interface GitLimits {
  maxBytes?: number;
  timeoutMs?: number;
  /** Ends git. */
  signal?: AbortSignal | undefined;
}

/**
 * Runs git in a directory and returns what it prints. Objects are read as they are: a `git replace` in the checkout could stand for the
 * files of any commit.
 */
export async function runGit(
  args: readonly string[],
  cwd: string,
  { maxBytes = maxOutputBytes, timeoutMs = shortTimeoutMs, signal }: GitLimits = {},
): Promise<string> {
  const options = { cwd, timeout: timeoutMs, maxBuffer: maxBytes, encoding: 'utf8' as const, signal };
  return (await run('git', ['--no-replace-objects', ...args], options)).stdout;
}

/** What git says is wrong, or why it could not be run; empty where it only answers with no. */
export function describeGitError(error: unknown): string {
  const { stderr, code } = errorSchema.parse(error);
  if (code === 'ENOENT') return 'git is not installed';
  return stderr.trim() !== '' || typeof code === 'number' ? stderr.trim() : describeError(error);
}

const errorSchema = z
  .object({ stderr: z.string().catch(''), code: z.union([z.string(), z.number()]).nullish().catch(null) })
  .catch({ stderr: '', code: null });

/** Asks git what is checked out. Knows nothing where there is no git, or no repository. */
export async function probeGit(cwd: string): Promise<GitCheckout> {
  const ask = async (...args: string[]) => (await runGit(args, cwd)).trim() || null;
  const unknown = () => null;
  let branch: string | null;
  try {
    branch = await ask('symbolic-ref', '--quiet', '--short', 'HEAD');
  } catch (error) {
    // The same would come of the other questions, and each is a process.
    if (!isDetached(error)) return { branch: null, commit: null, defaultBranch: null };
    branch = null;
  }
  const [commit, remoteHead] = await Promise.all([
    ask('rev-parse', '--verify', '--quiet', 'HEAD^{commit}').catch(unknown),
    ask('symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD').catch(unknown),
  ]);
  return { branch, commit, defaultBranch: remoteHead?.replace(/^refs\/remotes\/origin\//, '') ?? null };
}

/** git-symbolic-ref(1) exits with 1 where HEAD names a commit, and with 128 where there is no repository. */
function isDetached(error: unknown): boolean {
  return errorSchema.parse(error).code === 1;
}
