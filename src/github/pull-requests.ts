import { z } from 'zod';
import { parseAnswer } from './answer.ts';
import type { GitHubClient } from './github-client.ts';
import type { Repository } from './repository.ts';

/** A pull request with the commit to merge. */
export interface PullRequest {
  number: number;
  headCommit: string;
}

const pullSchema = z
  .object({ number: z.int().min(1), head: z.object({ sha: z.string() }) })
  .transform(({ number, head }): PullRequest => ({ number, headCommit: head.sha }));

export async function getPullRequest(
  { octokit }: GitHubClient,
  repository: Repository,
  number: number,
): Promise<PullRequest> {
  const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  const { data } = await octokit.request(route, { ...repository, pull_number: number });
  return parseAnswer(pullSchema, data, route);
}

/** Lists the open pull requests from a branch. `owner` owns the branch, which may be in a fork. */
export async function listPullRequestsFrom(
  { octokit }: GitHubClient,
  repository: Repository,
  { owner, branch }: { owner: string; branch: string },
): Promise<PullRequest[]> {
  const route = 'GET /repos/{owner}/{repo}/pulls';
  const parameters = { ...repository, state: 'open' as const, head: `${owner}:${branch}`, per_page: 100 };
  const { data } = await octokit.request(route, parameters);
  return parseAnswer(z.array(pullSchema), data, route);
}
