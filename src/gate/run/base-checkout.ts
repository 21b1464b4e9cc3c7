import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { isProcessAlive } from '../../server/process-tree.ts';
import { describeGitError, runGit } from '../plan/git-checkout.ts';
import { type PlannedCheckout, worktreePrefix } from '../plan/plan-base.ts';

/** A large repository takes a while to be written to a slow disk. */
const checkoutTimeoutMs = 10 * 60_000;

/**
 * Checks the base out into its worktree, without running a hook of the repository. Worktrees of gates that were killed are removed first.
 * Disposing of it removes the worktree.
 *
 * @throws what git says is wrong, or the signal's reason; nothing is left then
 */
export async function openCheckout(
  { commit, repository, directory }: Pick<PlannedCheckout, 'commit' | 'repository' | 'directory'>,
  { logger, signal }: { logger: Logger; signal: AbortSignal },
): Promise<AsyncDisposable> {
  const remove = async () => {
    await removeWorktree(directory, repository).catch((error: unknown) => {
      logger.warning(
        `Could not remove the checkout of the base at ${directory}: ${describeError(error)}. The verdict stands.`,
      );
    });
  };
  await removeAbandoned(repository);
  try {
    signal.throwIfAborted();
    const hooks = ['-c', 'core.hooksPath=/dev/null'];
    const limits = { timeoutMs: checkoutTimeoutMs, signal };
    await runGit([...hooks, 'worktree', 'add', '--quiet', '--detach', directory, commit], repository, limits);
    return { [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    signal.throwIfAborted();
    throw new Error(describeGitError(error) || describeError(error), { cause: error });
  }
}

/** Git may know a worktree whose directory is gone, and a directory may be left that git does not know. */
async function removeWorktree(directory: string, repository: string): Promise<void> {
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  await runGit(['worktree', 'prune'], repository);
}

/** Removes the worktrees of this repository whose gate was killed. One that cannot be removed is left for the next gate. */
async function removeAbandoned(repository: string): Promise<void> {
  const listing = await runGit(['worktree', 'list', '--porcelain', '-z'], repository).catch(() => '');
  for (const entry of listing.split('\0')) {
    const directory = /^worktree (.+)$/s.exec(entry)?.[1] ?? '';
    const pid = new RegExp(`^${worktreePrefix}(\\d+)-`).exec(basename(directory))?.[1];
    if (pid === undefined || isProcessAlive(Number(pid))) continue;
    await removeWorktree(directory, repository).catch(() => {});
  }
}
