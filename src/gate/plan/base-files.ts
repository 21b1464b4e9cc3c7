import { systemClock, startDeadline } from '../../base/time.ts';
import { describeError, GateError, ProtocolError } from '../../base/errors.ts';
import { silentLogger } from '../../base/logger.ts';
import type { Secret } from '../../base/redaction.ts';
import { type GitHubClient, openGitHub } from '../../github/client.ts';
import { findCommit, listFilesAt, readFileAt } from '../../github/repository.ts';
import type { CommitFiles } from './base-tree.ts';
import { locateDirectory, readGitHubAccess } from './plan-github.ts';

const timeoutMs = 60_000;

/**
 * Lists and reads files of the base through GitHub's API, for a checkout that has no commit but its own. The commit is looked up
 * first: a file that is not found is then one that the base does not have, and no repository that the token cannot see.
 */
export async function openRemoteBase(
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
    const modes = new Map(directory === null ? [] : listed.map(({ path, mode }) => [path, mode]));
    return { files: { directory: directory ?? '', modes, read } };
  } catch (error) {
    if (!(error instanceof GateError)) throw error;
    return { problem: describeError(error) };
  }
}
