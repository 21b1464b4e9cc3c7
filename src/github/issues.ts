import { z } from 'zod';
import { appendAll } from '../base/lists.ts';
import { parseAnswer } from './answer.ts';
import type { GitHubClient } from './github-client.ts';
import type { Repository } from './repository.ts';

/** The parts of an issue that identify it, its author and its state. */
export interface Issue {
  number: number;
  isOpen: boolean;
  body: string;
  author: { id: number; login: string } | null;
  url: string;
}

const issueSchema = z
  .object({
    number: z.int().min(1),
    state: z.string(),
    body: z.string().nullish(),
    user: z.object({ id: z.number(), login: z.string() }).nullable(),
    html_url: z.string(),
    // Present if it is a pull request, which GitHub lists among the issues.
    pull_request: z.unknown().optional(),
  })
  .transform(({ number, state, body, user, html_url: url, pull_request: pull }) => {
    return { number, isOpen: state === 'open', body: body ?? '', author: user, url, isPullRequest: pull !== undefined };
  });

/** Two thousand issues and pull requests of one author; older ones are not checked. */
const maxPages = 20;

/** Lists the issues of one author, open and closed, newest first. */
export async function listIssues({ octokit }: GitHubClient, repository: Repository, creator: string): Promise<Issue[]> {
  const route = 'GET /repos/{owner}/{repo}/issues';
  const pages = octokit.paginate.iterator(route, { ...repository, creator, state: 'all', per_page: 100 });
  const issues: Issue[] = [];
  let read = 0;
  for await (const { data } of pages) {
    const page = parseAnswer(z.array(issueSchema), data, route);
    appendAll(
      issues,
      page.filter(({ isPullRequest }) => !isPullRequest),
    );
    read += 1;
    if (read === maxPages) break;
  }
  return issues;
}

export async function createIssue(
  { octokit }: GitHubClient,
  repository: Repository,
  { title, body }: { title: string; body: string },
): Promise<Issue> {
  const route = 'POST /repos/{owner}/{repo}/issues';
  const { data } = await octokit.request(route, { ...repository, title, body });
  return parseAnswer(issueSchema, data, route);
}

/** Replaces the text of an issue, and opens or closes it. */
export async function updateIssue(
  { octokit }: GitHubClient,
  repository: Repository,
  { number, body, isOpen }: { number: number; body: string; isOpen: boolean },
): Promise<Issue> {
  const route = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
  const state = isOpen ? ({ state: 'open' } as const) : ({ state: 'closed', state_reason: 'completed' } as const);
  const { data } = await octokit.request(route, { ...repository, issue_number: number, body, ...state });
  return parseAnswer(issueSchema, data, route);
}
