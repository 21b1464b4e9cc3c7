import { z } from 'zod';
import { appendAll } from '../base/lists.ts';
import { parseAnswer } from './answer.ts';
import type { GitHubClient } from './github-client.ts';
import type { Repository } from './repository.ts';

/** A comment on an issue or a pull request. */
export interface IssueComment {
  id: number;
  body: string;
  /** Null if the author's account is deleted. */
  author: { id: number; login: string } | null;
  url: string;
}

const commentSchema = z
  .object({
    id: z.number(),
    body: z.string().nullish(),
    user: z.object({ id: z.number(), login: z.string() }).nullable(),
    html_url: z.string(),
  })
  .transform(({ id, body, user, html_url: url }): IssueComment => ({ id, body: body ?? '', author: user, url }));

/** Ten thousand comments: more than a conversation normally has. */
const maxPages = 100;

/** Lists the comments of a pull request or an issue, oldest first. */
export async function listComments(
  { octokit }: GitHubClient,
  repository: Repository,
  number: number,
): Promise<IssueComment[]> {
  const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const pages = octokit.paginate.iterator(route, { ...repository, issue_number: number, per_page: 100 });
  const comments: IssueComment[] = [];
  let read = 0;
  for await (const { data } of pages) {
    appendAll(comments, parseAnswer(z.array(commentSchema), data, route));
    read += 1;
    if (read === maxPages) break;
  }
  return comments;
}

/** Adds a comment to a pull request or an issue. */
export async function createComment(
  { octokit }: GitHubClient,
  repository: Repository,
  { number, body }: { number: number; body: string },
): Promise<IssueComment> {
  const route = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
  const { data } = await octokit.request(route, { ...repository, issue_number: number, body });
  return parseAnswer(commentSchema, data, route);
}

/** Replaces the text of a comment. */
export async function updateComment(
  { octokit }: GitHubClient,
  repository: Repository,
  { id, body }: { id: number; body: string },
): Promise<IssueComment> {
  const route = 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}';
  const { data } = await octokit.request(route, { ...repository, comment_id: id, body });
  return parseAnswer(commentSchema, data, route);
}

export async function deleteComment({ octokit }: GitHubClient, repository: Repository, id: number): Promise<void> {
  await octokit.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...repository, comment_id: id });
}
