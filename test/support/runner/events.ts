/** The event that started the workflow: the content of the payload file and the resulting variables. */
export interface RunnerEvent {
  name: string;
  payload: Record<string, unknown>;
  ref: string;
  sha: string;
  /** The branch names of a pull request; empty for every other event, as on the runner. */
  headRef: string;
  baseRef: string;
}

const owner = 'your-org';
const repository = {
  id: 1,
  name: 'your-server',
  full_name: `${owner}/your-server`,
  default_branch: 'main',
  private: false,
  owner: { login: owner, id: 2 },
};
const fork = { ...repository, id: 3, full_name: 'someone/your-server', fork: true, owner: { login: 'someone', id: 4 } };
const sender = { login: 'octocat', id: 5, type: 'User' };
const headSha = '1111111111111111111111111111111111111111';
const baseSha = '2222222222222222222222222222222222222222';
const mergeSha = '3333333333333333333333333333333333333333';

const onMain = { ref: 'refs/heads/main', sha: baseSha, headRef: '', baseRef: '' };

export function createPullRequestEvent(
  options: { isFork?: boolean; headRef?: string; title?: string; baseCommit?: string; labels?: string[] } = {},
): RunnerEvent {
  const headRepository = options.isFork === true ? fork : repository;
  const headRef = options.headRef ?? 'change';
  const pullRequest = {
    number: 7,
    title: options.title ?? 'Change a tool',
    body: null,
    draft: false,
    labels: (options.labels ?? []).map((name) => ({ name })),
    user: sender,
    head: { ref: headRef, sha: headSha, label: `${headRepository.owner.login}:${headRef}`, repo: headRepository },
    base: { ref: 'main', sha: options.baseCommit ?? baseSha, label: `${owner}:main`, repo: repository },
  };
  return {
    name: 'pull_request',
    payload: { action: 'synchronize', number: 7, pull_request: pullRequest, repository, sender },
    ref: 'refs/pull/7/merge',
    sha: mergeSha,
    headRef,
    baseRef: 'main',
  };
}

/** Creates the event of the same pull request in the context of the base branch, with the rights and the secrets of the repository. */
export function createPullRequestTargetEvent(
  options: NonNullable<Parameters<typeof createPullRequestEvent>[0]> = {},
): RunnerEvent {
  const { payload, headRef, baseRef } = createPullRequestEvent(options);
  return { ...onMain, name: 'pull_request_target', payload, headRef, baseRef };
}

export function createPushEvent(): RunnerEvent {
  const payload = { ref: onMain.ref, before: headSha, after: baseSha, repository, sender, commits: [] };
  return { ...onMain, name: 'push', payload };
}

export function createScheduleEvent(): RunnerEvent {
  return { ...onMain, name: 'schedule', payload: { schedule: '17 3 * * *', repository } };
}

export function createWorkflowDispatchEvent(inputs: Record<string, string> = {}): RunnerEvent {
  const payload = { ref: onMain.ref, workflow: '.github/workflows/evals.yml', inputs, repository, sender };
  return { ...onMain, name: 'workflow_dispatch', payload };
}

export function createMergeGroupEvent(): RunnerEvent {
  const ref = `refs/heads/gh-readonly-queue/main/pr-7-${baseSha}`;
  const mergeGroup = { head_sha: mergeSha, head_ref: ref, base_sha: baseSha, base_ref: 'refs/heads/main' };
  const payload = { action: 'checks_requested', merge_group: mergeGroup, repository, sender };
  return { ...onMain, name: 'merge_group', payload, ref, sha: mergeSha };
}

export function createWorkflowRunEvent(options: { isFork?: boolean; conclusion?: string } = {}): RunnerEvent {
  const workflowRun = {
    id: 41,
    name: 'evals',
    path: '.github/workflows/evals.yml',
    run_number: 12,
    run_attempt: 1,
    event: 'pull_request',
    status: 'completed',
    conclusion: options.conclusion ?? 'success',
    head_branch: 'change',
    head_sha: headSha,
    head_repository: options.isFork === true ? fork : repository,
    pull_requests: options.isFork === true ? [] : [{ number: 7 }],
  };
  return {
    ...onMain,
    name: 'workflow_run',
    payload: { action: 'completed', workflow_run: workflowRun, repository, sender },
  };
}
