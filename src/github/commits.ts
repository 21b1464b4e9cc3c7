import { z } from 'zod';
import { GitHubError, ProtocolError } from '../base/errors.ts';
import { parseAnswer } from './answer.ts';
import type { GitHubClient } from './github-client.ts';
import type { Repository } from './repository.ts';

/** Finds the commit that a branch, a tag or a hash names; null if there is none, or the token may not see it. */
export async function findCommit(
  { octokit }: GitHubClient,
  repository: Repository,
  ref: string,
): Promise<string | null> {
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}';
  try {
    const { data } = await octokit.request(route, { ...repository, ref, per_page: 1 });
    return parseAnswer(z.object({ sha: z.string() }), data, route).sha;
  } catch (error) {
    // GitHub answers 422 to a hash that names no commit.
    if (error instanceof GitHubError && (error.status === 404 || error.status === 422)) return null;
    throw error;
  }
}

const treeSchema = z.object({
  truncated: z.boolean(),
  tree: z.array(z.object({ path: z.string(), mode: z.string(), sha: z.string() })),
});

/**
 * Lists every file of a commit by its path in the repository, with git's mode of it and the id of its content.
 *
 * @throws {ProtocolError} if GitHub leaves some out, which it does above 100,000 files
 */
export async function listFilesAt(
  { octokit }: GitHubClient,
  repository: Repository,
  commit: string,
): Promise<Array<{ path: string; mode: string; sha: string }>> {
  const route = 'GET /repos/{owner}/{repo}/git/trees/{tree_sha}';
  const { data } = await octokit.request(route, { ...repository, tree_sha: commit, recursive: '1' });
  const { tree, truncated } = parseAnswer(treeSchema, data, route);
  if (truncated) throw new ProtocolError(`GitHub does not list every file of ${commit}: there are too many.`);
  return tree;
}

const fileSchema = z.object({ type: z.literal('file'), encoding: z.literal('base64'), content: z.string() });

/**
 * Reads a file of a commit as text; null if the commit has none at that path.
 *
 * @throws {ProtocolError} for a directory, and for a file above 1 MiB, whose content GitHub leaves out
 */
export async function readFileAt(
  { octokit }: GitHubClient,
  repository: Repository,
  { path, commit }: { path: string; commit: string },
): Promise<string | null> {
  const route = 'GET /repos/{owner}/{repo}/contents/{path}';
  try {
    const { data } = await octokit.request(route, { ...repository, path, ref: commit });
    const found = fileSchema.safeParse(data);
    if (!found.success) throw new ProtocolError(`${JSON.stringify(path)} of ${commit} is no file of up to 1 MiB.`);
    return Buffer.from(found.data.content, 'base64').toString('utf8');
  } catch (error) {
    if (error instanceof GitHubError && error.status === 404) return null;
    throw error;
  }
}
