import { isAbsolute, relative } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { startDeadline } from '../../base/deadline.ts';
import { describeError, GateError } from '../../base/errors.ts';
import { silentLogger } from '../../base/logger.ts';
import type { Secret } from '../../base/redaction.ts';
import { type GitHubClient, openGitHub } from '../../github/client.ts';
import { findCommit, readFileAt } from '../../github/contents.ts';
import { locateInRepository } from './page-context.ts';
import { locateDirectory, readGitHubAccess } from './plan-github.ts';

/** Files of the base branch, by their paths relative to the working directory; null for one that it has not. */
export type ReadBaseFile = (path: string) => Promise<string | null>;

const timeoutMs = 60_000;

/**
 * Reads files of the base through GitHub's API, for a checkout that has no commit but its own. The commit is looked up
 * first: a file that is not found is then one that the base does not have, and no repository that the token cannot see.
 */
export async function openRemoteBase(
  ref: string,
  {
    cwd,
    environment,
    token,
  }: { cwd: string; environment: Readonly<Record<string, string | undefined>>; token: Secret },
): Promise<{ read: ReadBaseFile } | { problem: string }> {
  try {
    const access = readGitHubAccess(token, environment);
    const { repository } = access;
    const ask = async <T>(call: (client: GitHubClient) => Promise<T>): Promise<T> => {
      const deadline = startDeadline(systemClock, timeoutMs, 'Reading the policy of the base');
      await using client = openGitHub({ ...access, clock: systemClock, logger: silentLogger, deadline });
      return await call(client);
    };
    const commit = await ask((client) => findCommit(client, repository, ref));
    if (commit === null) return { problem: `GitHub does not know ${ref}, or the token may not see it` };
    const directory = locateDirectory(environment, cwd);
    return {
      read: async (path) => {
        const file = locateInRepository(directory, isAbsolute(path) ? relative(cwd, path) : path);
        return file === null ? null : await ask((client) => readFileAt(client, repository, { path: file, commit }));
      },
    };
  } catch (error) {
    if (!(error instanceof GateError)) throw error;
    return { problem: describeError(error) };
  }
}
