import path from 'node:path';
import type { RunnerEvent } from './events.ts';

/** Stand-ins for credentials in a real job's environment. Tests search for them in outputs. */
export const runtimeToken = 'canary-actions-runtime-token';

const repository = 'your-org/your-server';

/** Returns the environment of a step on a hosted Linux runner, without the inputs and the command files. */
export function listJobVariables(job: {
  directory: string;
  eventPath: string;
  event: RunnerEvent;
  home: string;
  trackingId: string;
  workspace: string;
}): Record<string, string> {
  const { event } = job;
  const workflowRef = `${repository}/.github/workflows/evals.yml@${event.ref}`;
  return {
    // The Node that runs the tests comes first, so that a server's `node` is the same on every machine.
    PATH: [path.dirname(process.execPath), process.env['PATH'] ?? ''].join(path.delimiter),
    HOME: job.home,
    // Only the first start compiles dist/.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    LANG: 'C.UTF-8',
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    ACTIONS_RESULTS_URL: 'https://results.example/',
    ACTIONS_RUNTIME_TOKEN: runtimeToken,
    ACTIONS_RUNTIME_URL: 'https://runtime.example/',
    GITHUB_ACTION: '__your-org_mcp-eval-ci',
    GITHUB_ACTION_REF: 'v1',
    GITHUB_ACTION_REPOSITORY: 'your-org/mcp-eval-ci',
    GITHUB_ACTOR: 'octocat',
    GITHUB_ACTOR_ID: '5',
    GITHUB_API_URL: 'https://api.github.com',
    GITHUB_BASE_REF: event.baseRef,
    GITHUB_EVENT_NAME: event.name,
    GITHUB_EVENT_PATH: job.eventPath,
    GITHUB_GRAPHQL_URL: 'https://api.github.com/graphql',
    GITHUB_HEAD_REF: event.headRef,
    GITHUB_JOB: 'evals',
    GITHUB_REF: event.ref,
    GITHUB_REF_NAME: event.ref.replace(/^refs\/(?:heads|tags|pull)\//, ''),
    GITHUB_REF_PROTECTED: 'false',
    GITHUB_REF_TYPE: 'branch',
    GITHUB_REPOSITORY: repository,
    GITHUB_REPOSITORY_ID: '1',
    GITHUB_REPOSITORY_OWNER: 'your-org',
    GITHUB_REPOSITORY_OWNER_ID: '2',
    GITHUB_RETENTION_DAYS: '90',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_RUN_ID: '41',
    GITHUB_RUN_NUMBER: '12',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_SHA: event.sha,
    GITHUB_TRIGGERING_ACTOR: 'octocat',
    GITHUB_WORKFLOW: 'evals',
    GITHUB_WORKFLOW_REF: workflowRef,
    GITHUB_WORKFLOW_SHA: event.sha,
    GITHUB_WORKSPACE: job.workspace,
    RUNNER_ARCH: 'X64',
    RUNNER_ENVIRONMENT: 'github-hosted',
    RUNNER_NAME: 'harness',
    RUNNER_OS: 'Linux',
    RUNNER_TEMP: path.join(job.directory, 'temp'),
    RUNNER_TOOL_CACHE: path.join(job.directory, 'tools'),
    RUNNER_TRACKING_ID: job.trackingId,
    RUNNER_WORKSPACE: path.dirname(job.workspace),
  };
}
