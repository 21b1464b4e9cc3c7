import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createPullRequestEvent, type RunnerEvent } from './events.ts';
import type { Workspace } from '../workspace.ts';

export const jobToken = 'ghs_canaryCanaryCanary0123456789';

/** Creates the GitHub variables of a job's step, for an event whose payload is in the workspace. */
export async function createGitHubJob(
  workspace: Workspace,
  apiUrl: string,
  options: { event?: RunnerEvent; attempt?: number; run?: number; variables?: Record<string, string> } = {},
): Promise<Record<string, string>> {
  const event = options.event ?? createPullRequestEvent();
  const eventPath = join(workspace.path, 'event.json');
  await writeFile(eventPath, JSON.stringify(event.payload));
  return {
    GITHUB_ACTION: '__your-org_mcp-eval-ci',
    GITHUB_API_URL: apiUrl,
    GITHUB_EVENT_NAME: event.name,
    GITHUB_EVENT_PATH: eventPath,
    GITHUB_JOB: 'test',
    GITHUB_REF_NAME: event.ref.replace(/^refs\/(?:heads|tags|pull)\//, ''),
    GITHUB_REF_TYPE: 'branch',
    GITHUB_REPOSITORY: 'your-org/your-server',
    GITHUB_RUN_ATTEMPT: String(options.attempt ?? 1),
    GITHUB_RUN_ID: '41',
    GITHUB_RUN_NUMBER: String(options.run ?? 12),
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_SHA: event.sha,
    GITHUB_WORKFLOW: 'evals',
    GITHUB_WORKFLOW_REF: `your-org/your-server/.github/workflows/evals.yml@${event.ref}`,
    GITHUB_WORKSPACE: workspace.path,
    ...options.variables,
  };
}
