/** Variables of CI systems, as they document them: only those that could be mistaken for the branch, the commit or the base. */
export interface CiExample {
  variables: Readonly<Record<string, string>>;
  /** The expected result of the gate. */
  expected: {
    line: string | null;
    commit: string;
    isDefaultBranch: boolean;
    defaultBranch: string | null;
    /** `target: revisions`; null if there is no request to merge. */
    base: { label: string | null; branch: string | null; revisions: string[] } | null;
  };
}

export const headCommit = 'a'.repeat(40);
const mergeCommit = 'b'.repeat(40);
const targetCommit = 'c'.repeat(40);

const onMain = { line: 'main', commit: headCommit, isDefaultBranch: true, defaultBranch: 'main', base: null };
const onFeature = { ...onMain, line: 'feature/x', isDefaultBranch: false };
const onTag = { ...onMain, line: null, isDefaultBranch: false };
/** A merge request. If the system names a commit, it is the base; otherwise, the gate searches for a ref. */
const request = (label: string, branch: string | null = 'main', ...commits: string[]) => ({
  ...onFeature,
  line: label,
  base: {
    label,
    branch,
    revisions: commits.length > 0 || branch === null ? commits : [`refs/remotes/origin/${branch}`],
  },
});

const gitlab = {
  CI: 'true',
  GITLAB_CI: 'true',
  CI_PROJECT_PATH: 'your-org/your-server',
  CI_DEFAULT_BRANCH: 'main',
  CI_COMMIT_SHA: headCommit,
  CI_PIPELINE_ID: '4711',
  CI_JOB_NAME: 'evals',
  CI_JOB_URL: 'https://gitlab.example/your-org/your-server/-/jobs/9',
};
const gitlabRequest = {
  ...gitlab,
  CI_PIPELINE_SOURCE: 'merge_request_event',
  CI_MERGE_REQUEST_IID: '7',
  CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'feature/x',
  CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
  CI_MERGE_REQUEST_DIFF_BASE_SHA: 'd'.repeat(40),
  CI_OPEN_MERGE_REQUESTS: 'your-org/your-server!7',
};
const buildkite = {
  CI: 'true',
  BUILDKITE: 'true',
  BUILDKITE_ORGANIZATION_SLUG: 'your-org',
  BUILDKITE_PIPELINE_SLUG: 'your-server',
  BUILDKITE_PIPELINE_DEFAULT_BRANCH: 'main',
  BUILDKITE_BUILD_NUMBER: '4711',
  BUILDKITE_LABEL: 'evals',
  BUILDKITE_COMMIT: headCommit,
  BUILDKITE_PULL_REQUEST: 'false',
  BUILDKITE_PULL_REQUEST_BASE_BRANCH: '',
  BUILDKITE_TAG: '',
};
const circle = {
  CI: 'true',
  CIRCLECI: 'true',
  CIRCLE_PROJECT_USERNAME: 'your-org',
  CIRCLE_PROJECT_REPONAME: 'your-server',
  CIRCLE_SHA1: headCommit,
  CIRCLE_BUILD_NUM: '4711',
  CIRCLE_JOB: 'evals',
};
const jenkins = {
  JENKINS_URL: 'https://jenkins.example/',
  BUILD_NUMBER: '4711',
  JOB_NAME: 'your-server/main',
  GIT_COMMIT: headCommit,
};
const azure = {
  TF_BUILD: 'True',
  BUILD_REPOSITORY_NAME: 'your-server',
  BUILD_BUILDID: '4711',
  BUILD_REASON: 'IndividualCI',
  BUILD_SOURCEVERSION: headCommit,
  SYSTEM_JOBDISPLAYNAME: 'evals',
};
const azureRequest = {
  ...azure,
  BUILD_REASON: 'PullRequest',
  BUILD_SOURCEBRANCH: 'refs/pull/7/merge',
  BUILD_SOURCEBRANCHNAME: 'merge',
  BUILD_SOURCEVERSION: mergeCommit,
  SYSTEM_PULLREQUEST_PULLREQUESTID: '7',
  SYSTEM_PULLREQUEST_SOURCEBRANCH: 'refs/heads/feature/x',
  SYSTEM_PULLREQUEST_SOURCECOMMITID: headCommit,
  SYSTEM_PULLREQUEST_TARGETBRANCH: 'refs/heads/main',
};
const bitbucket = {
  CI: 'true',
  BITBUCKET_BUILD_NUMBER: '4711',
  BITBUCKET_COMMIT: headCommit,
  BITBUCKET_REPO_FULL_NAME: 'your-org/your-server',
};

/** A checkout with a detached HEAD, as in most systems, and a known `origin/HEAD`. */
export const detachedCheckout = { branch: null, commit: mergeCommit, defaultBranch: 'main' };

export const ciExamples: Readonly<Record<string, CiExample>> = {
  'GitLab, push to the default branch': {
    variables: { ...gitlab, CI_PIPELINE_SOURCE: 'push', CI_COMMIT_BRANCH: 'main', CI_COMMIT_REF_NAME: 'main' },
    expected: onMain,
  },
  'GitLab, push to a branch': {
    variables: {
      ...gitlab,
      CI_PIPELINE_SOURCE: 'push',
      CI_COMMIT_BRANCH: 'feature/x',
      CI_COMMIT_REF_NAME: 'feature/x',
    },
    expected: onFeature,
  },
  'GitLab, push to a branch with an open merge request': {
    variables: {
      ...gitlab,
      CI_PIPELINE_SOURCE: 'push',
      CI_COMMIT_BRANCH: 'feature/x',
      CI_OPEN_MERGE_REQUESTS: 'your-org/your-server!7,your-org/other!9',
    },
    expected: { ...onFeature, base: { label: 'MR 7', branch: null, revisions: [] } },
  },
  'GitLab, push to a default branch that is to be merged elsewhere': {
    variables: { ...gitlab, CI_COMMIT_BRANCH: 'main', CI_OPEN_MERGE_REQUESTS: 'your-org/your-server!8' },
    expected: onMain,
  },
  'GitLab, merge request': {
    variables: { ...gitlabRequest, CI_COMMIT_REF_NAME: 'feature/x' },
    expected: request('MR 7'),
  },
  'GitLab, merge request as older versions name its ref': {
    variables: { ...gitlabRequest, CI_COMMIT_REF_NAME: 'refs/merge-requests/7/head' },
    expected: request('MR 7'),
  },
  'GitLab, merged results': {
    variables: {
      ...gitlabRequest,
      CI_COMMIT_SHA: mergeCommit,
      CI_MERGE_REQUEST_EVENT_TYPE: 'merged_result',
      CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: headCommit,
      CI_MERGE_REQUEST_TARGET_BRANCH_SHA: targetCommit,
    },
    expected: request('MR 7', 'main', targetCommit),
  },
  'GitLab, pull request of a repository elsewhere': {
    variables: {
      ...gitlab,
      CI_PIPELINE_SOURCE: 'external_pull_request_event',
      CI_COMMIT_BRANCH: 'feature/x',
      CI_EXTERNAL_PULL_REQUEST_IID: '7',
      CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME: 'feature/x',
      CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA: headCommit,
      CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME: 'main',
      CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_SHA: targetCommit,
    },
    expected: request('PR 7', 'main', targetCommit),
  },
  'GitLab, tag': {
    variables: { ...gitlab, CI_PIPELINE_SOURCE: 'push', CI_COMMIT_TAG: 'v1.0.0', CI_COMMIT_REF_NAME: 'v1.0.0' },
    expected: onTag,
  },
  'GitLab, schedule': {
    variables: { ...gitlab, CI_PIPELINE_SOURCE: 'schedule', CI_COMMIT_BRANCH: 'main', CI_COMMIT_REF_NAME: 'main' },
    expected: onMain,
  },
  'Buildkite, push to the default branch': {
    variables: { ...buildkite, BUILDKITE_BRANCH: 'main', BUILDKITE_SOURCE: 'webhook' },
    expected: onMain,
  },
  'Buildkite, pull request': {
    variables: {
      ...buildkite,
      BUILDKITE_BRANCH: 'feature/x',
      BUILDKITE_PULL_REQUEST: '7',
      BUILDKITE_PULL_REQUEST_BASE_BRANCH: 'main',
    },
    expected: request('PR 7'),
  },
  'Buildkite, pull request from the default branch of a fork': {
    variables: {
      ...buildkite,
      BUILDKITE_BRANCH: 'main',
      BUILDKITE_PULL_REQUEST: '7',
      BUILDKITE_PULL_REQUEST_BASE_BRANCH: 'main',
    },
    expected: request('PR 7'),
  },
  'Buildkite, tag': {
    variables: { ...buildkite, BUILDKITE_BRANCH: 'v1.0.0', BUILDKITE_TAG: 'v1.0.0' },
    expected: onTag,
  },
  'Buildkite, schedule, whose commit is only called HEAD': {
    variables: { ...buildkite, BUILDKITE_BRANCH: 'main', BUILDKITE_SOURCE: 'schedule', BUILDKITE_COMMIT: 'HEAD' },
    expected: { ...onMain, commit: mergeCommit },
  },
  'CircleCI, push to the default branch': { variables: { ...circle, CIRCLE_BRANCH: 'main' }, expected: onMain },
  'CircleCI, push to a branch': { variables: { ...circle, CIRCLE_BRANCH: 'feature/x' }, expected: onFeature },
  'CircleCI, pull request': {
    variables: {
      ...circle,
      CIRCLE_BRANCH: 'feature/x',
      CIRCLE_PULL_REQUEST: 'https://github.com/your-org/your-server/pull/7',
    },
    expected: request('PR 7', null),
  },
  'CircleCI, pull request of a fork': {
    variables: {
      ...circle,
      CIRCLE_BRANCH: 'pull/7',
      CIRCLE_PR_NUMBER: '7',
      CIRCLE_PULL_REQUEST: 'https://github.com/your-org/your-server/pull/7',
    },
    expected: request('PR 7', null),
  },
  'CircleCI, push to a default branch that is to be merged elsewhere': {
    variables: {
      ...circle,
      CIRCLE_BRANCH: 'main',
      CIRCLE_PULL_REQUEST: 'https://github.com/your-org/your-server/pull/8',
    },
    expected: onMain,
  },
  'CircleCI, tag': { variables: { ...circle, CIRCLE_TAG: 'v1.0.0' }, expected: onTag },
  'Jenkins, branch of a multibranch project': {
    variables: { ...jenkins, BRANCH_NAME: 'main', BRANCH_IS_PRIMARY: 'true', GIT_BRANCH: 'main' },
    expected: onMain,
  },
  'Jenkins, branch with a slash': { variables: { ...jenkins, BRANCH_NAME: 'feature/x' }, expected: onFeature },
  'Jenkins, pull request': {
    variables: {
      ...jenkins,
      BRANCH_NAME: 'PR-7',
      GIT_BRANCH: 'PR-7',
      CHANGE_ID: '7',
      CHANGE_BRANCH: 'feature/x',
      CHANGE_TARGET: 'main',
    },
    expected: request('PR 7'),
  },
  'Jenkins, tag': {
    variables: { ...jenkins, BRANCH_NAME: 'v1.0.0', TAG_NAME: 'v1.0.0', GIT_BRANCH: 'v1.0.0' },
    expected: onTag,
  },
  'Jenkins, schedule of a single-branch project': {
    variables: { ...jenkins, GIT_BRANCH: 'origin/main' },
    expected: onMain,
  },
  'Jenkins, a commit without a branch': {
    variables: { ...jenkins, GIT_BRANCH: 'detached' },
    expected: { ...onTag },
  },
  'Azure Pipelines, push to the default branch': {
    variables: { ...azure, BUILD_SOURCEBRANCH: 'refs/heads/main', BUILD_SOURCEBRANCHNAME: 'main' },
    expected: onMain,
  },
  'Azure Pipelines, push to a branch with a slash': {
    variables: { ...azure, BUILD_SOURCEBRANCH: 'refs/heads/feature/x', BUILD_SOURCEBRANCHNAME: 'x' },
    expected: onFeature,
  },
  'Azure Pipelines, pull request': { variables: azureRequest, expected: request('PR 7') },
  'Azure Pipelines, pull request of GitHub': {
    variables: {
      ...azureRequest,
      SYSTEM_PULLREQUEST_PULLREQUESTID: '123456',
      SYSTEM_PULLREQUEST_PULLREQUESTNUMBER: '7',
      SYSTEM_PULLREQUEST_TARGETBRANCH: 'main',
    },
    expected: request('PR 7'),
  },
  'Azure Pipelines, tag': {
    variables: { ...azure, BUILD_SOURCEBRANCH: 'refs/tags/v1.0.0', BUILD_SOURCEBRANCHNAME: 'v1.0.0' },
    expected: onTag,
  },
  'Azure Pipelines, schedule': {
    variables: { ...azure, BUILD_REASON: 'Schedule', BUILD_SOURCEBRANCH: 'refs/heads/main' },
    expected: onMain,
  },
  'Bitbucket, push to the default branch': { variables: { ...bitbucket, BITBUCKET_BRANCH: 'main' }, expected: onMain },
  'Bitbucket, pull request': {
    variables: {
      ...bitbucket,
      BITBUCKET_BRANCH: 'feature/x',
      BITBUCKET_PR_ID: '7',
      BITBUCKET_PR_DESTINATION_BRANCH: 'main',
      BITBUCKET_PR_DESTINATION_COMMIT: 'cccccccccccc',
    },
    expected: {
      ...onFeature,
      line: 'PR 7',
      base: { label: 'PR 7', branch: 'main', revisions: ['refs/remotes/origin/main', 'cccccccccccc'] },
    },
  },
  'Bitbucket, tag': { variables: { ...bitbucket, BITBUCKET_TAG: 'v1.0.0' }, expected: onTag },
  'a CI system that is not known': {
    variables: { CI: 'true' },
    expected: { ...onTag, commit: mergeCommit },
  },
};
