import { z } from 'zod';
import { GitHubError } from '../base/errors.ts';
import type { GitHubClient } from './client.ts';
import { parseAnswer } from './parse.ts';
import type { Repository } from './repository.ts';

/** A run of a workflow, as GitHub counts it. */
export interface WorkflowRun {
  number: number;
  attempt: number;
  /** The workflow's file in the repository. */
  path: string;
}

const runSchema = z
  .object({ run_number: z.int(), run_attempt: z.int().default(1), path: z.string() })
  .transform(({ run_number: number, run_attempt: attempt, path }): WorkflowRun => {
    return { number, attempt, path: path.replace(/@.*$/s, '') };
  });

/**
 * Reads a run of a workflow of this repository; null where there is none with this id.
 *
 * @throws {GitHubError} where the token may not read runs, which takes `actions: read` in a private repository
 */
export async function getWorkflowRun(
  { octokit }: GitHubClient,
  repository: Repository,
  id: string,
): Promise<WorkflowRun | null> {
  const route = 'GET /repos/{owner}/{repo}/actions/runs/{run_id}';
  try {
    const { data } = await octokit.request(route, { ...repository, run_id: Number(id) });
    return parseAnswer(runSchema, data, route);
  } catch (error) {
    if (error instanceof GitHubError && error.status === 404) return null;
    throw error;
  }
}
