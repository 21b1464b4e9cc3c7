import { describeError, GateError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { GitHubClient } from '../../github/github-client.ts';
import { getPullRequest } from '../../github/pull-requests.ts';
import type { Repository } from '../../github/repository.ts';
import { getWorkflowRun } from '../../github/checks.ts';
import { isNewerRun, type Marker } from '../plan/marker.ts';

/** The run whose verdict is to be posted, and what GitHub needs to confirm that another run is newer. */
export interface OwnRun {
  repository: Repository;
  marker: Marker;
  /** The path of the workflow's file; null if it is not known. */
  workflow: string | null;
  /** The commit that was judged; null if it is not known. */
  commit: string | null;
  /** Null for an issue. */
  pullNumber: number | null;
}

/**
 * Checks if GitHub confirms that a marker's run is newer. A marker is only text: another job that posts with the same token's identity could
 * silence this gate with it. Asks GitHub for the run; if the token may not read runs, asks if the pull request has a newer commit. A claim
 * that GitHub does not confirm is ignored: an old verdict that overwrites a newer one names its run, and the next run corrects it.
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
