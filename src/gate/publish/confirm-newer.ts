import { describeError, GateError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { GitHubClient } from '../../github/client.ts';
import { getPullRequest, type Repository } from '../../github/repository.ts';
import { getWorkflowRun } from '../../github/checks.ts';
import { isNewerRun, type Marker } from '../plan/marker.ts';

/** Whose verdict is to be posted, as far as GitHub can confirm that another one is newer. */
export interface OwnRun {
  repository: Repository;
  marker: Marker;
  /** The workflow's file; null where it is not known. */
  workflow: string | null;
  /** What was judged; null where it is not known. */
  commit: string | null;
  /** Null for an issue. */
  pullNumber: number | null;
}

/**
 * Whether a marker that says so is of a newer run. A marker is text, and a text that another job posts with the same token's identity
 * could silence this gate. GitHub is asked for the run; where the token may not read runs, whether the pull request has a newer commit.
 * What GitHub does not confirm does not count: an old verdict that overwrites a newer one names its run, and the next run mends it.
 */
export async function isConfirmedNewer(
  client: GitHubClient,
  claimed: Marker,
  { own, logger }: { own: OwnRun; logger: Logger },
): Promise<boolean> {
  const { repository, marker, workflow, commit, pullNumber } = own;
  if (!isNewerRun(claimed.run, marker.run)) return false;
  try {
    const run = await getWorkflowRun(client, repository, claimed.run.id);
    if (run === null) return false;
    const isSame = run.number === claimed.run.number && run.attempt >= claimed.run.attempt;
    return isSame && (workflow === null || run.path === workflow);
  } catch (error) {
    if (!(error instanceof GateError)) throw error;
    logger.debug(`GitHub does not say whether run ${claimed.run.id} is newer: ${describeError(error)}`);
  }
  if (pullNumber === null || commit === null) return false;
  try {
    return (await getPullRequest(client, repository, pullNumber)).headCommit !== commit;
  } catch (error) {
    if (!(error instanceof GateError)) throw error;
    return false;
  }
}
