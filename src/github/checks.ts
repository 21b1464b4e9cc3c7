import { z } from 'zod';
import { GitHubError } from '../base/errors.ts';
import { parseAnswer } from './answer.ts';
import type { GitHubClient } from './github-client.ts';
import type { Repository } from './repository.ts';

/** A completed check, as GitHub shows it next to a commit. */
export interface CheckRunDraft {
  /** If a commit has several checks of one name, the newest counts. */
  name: string;
  commit: string;
  conclusion: 'success' | 'failure' | 'neutral';
  detailsUrl: string | null;
  title: string;
  /** Markdown, of at most 65,535 characters. */
  summary: string;
  /** At most 50, the limit of one request. */
  annotations: readonly CheckAnnotation[];
}

export interface CheckAnnotation {
  path: string;
  line: number;
  level: 'notice' | 'warning' | 'failure';
  title: string;
  message: string;
}

/** Adds a check to a commit, and returns its page. */
export async function createCheckRun(
  { octokit }: GitHubClient,
  repository: Repository,
  { name, commit, conclusion, detailsUrl, title, summary, annotations }: CheckRunDraft,
): Promise<{ url: string | null }> {
  const route = 'POST /repos/{owner}/{repo}/check-runs';
  const { data } = await octokit.request(route, {
    ...repository,
    name,
    head_sha: commit,
    status: 'completed',
    conclusion,
    ...(detailsUrl === null ? {} : { details_url: detailsUrl }),
    output: {
      title,
      summary,
      annotations: annotations.map(({ path, line, level, title, message }) => {
        return { path, start_line: line, end_line: line, annotation_level: level, title, message };
      }),
    },
  });
  const { html_url: url } = parseAnswer(z.object({ html_url: z.string().nullable() }), data, route);
  return { url };
}

/** A run of a workflow, with GitHub's numbers. */
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
 * Reads a run of a workflow of this repository; null if there is none with this id.
 *
 * @throws {GitHubError} if the token may not read runs; a private repository requires `actions: read`
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
