import { z } from 'zod';
import type { GitHubClient } from './client.ts';
import { parseAnswer } from './parse.ts';
import type { Repository } from './repository.ts';

/** A check that is over, as GitHub shows it next to a commit. */
export interface CheckRunDraft {
  /** Of the checks of one name that a commit has, the newest counts. */
  name: string;
  commit: string;
  conclusion: 'success' | 'failure' | 'neutral';
  detailsUrl: string | null;
  title: string;
  /** Markdown, of at most 65,535 characters. */
  summary: string;
  /** At most 50, which is what a request takes. */
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
