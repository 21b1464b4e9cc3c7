/** The CI systems with known variables, and their names in messages. */
export const ciSystemNames = {
  github: 'GitHub Actions',
  gitlab: 'GitLab CI',
  buildkite: 'Buildkite',
  circleci: 'CircleCI',
  jenkins: 'Jenkins',
  azure: 'Azure Pipelines',
  bitbucket: 'Bitbucket Pipelines',
} as const;

export type CiSystem = keyof typeof ciSystemNames;

type Environment = Readonly<Record<string, string | undefined>>;

/** The checkout, as git describes it; null for each value that git does not know. */
export interface GitCheckout {
  /** Null on a detached HEAD, which most CI systems check out. */
  branch: string | null;
  commit: string | null;
  /** The branch that `origin/HEAD` refers to. */
  defaultBranch: string | null;
}

/** A pull request or a merge request, depending on the system. */
export interface ChangeRequest {
  /** Absent if the system does not list them. */
  labels?: string[];
  noun: 'pull request' | 'merge request';
  /** `PR 12`, `MR 7`. No branch has such a name: git allows no blank in it. */
  label: string;
  /** The branch that it goes into; null if the system does not name it. */
  target: string | null;
  /** The commit of that branch; null if the system does not name it. */
  targetCommit: string | null;
}

/** A job, as its CI system describes it; null for each value that the system does not give. */
export interface CiJob {
  /** Null if no system is known. */
  system: CiSystem | null;
  repository: string | null;
  /** The branch that is tested; for a change request its own branch, and null for a tag. */
  branch: string | null;
  isTag: boolean;
  change: ChangeRequest | null;
  /** True if the build tests `branch`, and the change request is only open for that branch. */
  isBranchBuild: boolean;
  defaultBranch: string | null;
  commit: string | null;
  build: string | null;
  job: string | null;
  url: string | null;
}

/**
 * Reads what the CI system says about this job. The first system that its variables show is used: GitHub-compatible runners of another
 * system set GitHub's variables on purpose. GitHub is not read here, because it needs its event's payload.
 *
 * `env-ci` 11.2 does not serve here. Of the 37 sets of variables in the tests, it reads another branch or request out of 11 and another commit
 * out of 5, and it has no field for the base's commit, for the default branch, or for a merge request of an open branch.
 */
export function detectCiJob(environment: Environment, git: Pick<GitCheckout, 'defaultBranch'>): CiJob {
  const read = (name: string) => environment[name]?.trim() || null;
  if (read('GITLAB_CI') !== null) return readGitLab(read);
  if (read('BUILDKITE') !== null) return readBuildkite(read);
  if (read('CIRCLECI') !== null) return readCircle(read, git);
  if (read('TF_BUILD') !== null) return readAzure(read);
  if (read('BITBUCKET_BUILD_NUMBER') !== null) return readBitbucket(read);
  if (read('JENKINS_URL') !== null) return readJenkins(read);
  return unknownJob;
}

const unknownJob: CiJob = {
  system: null,
  repository: null,
  branch: null,
  isTag: false,
  change: null,
  isBranchBuild: false,
  defaultBranch: null,
  commit: null,
  build: null,
  job: null,
  url: null,
};

type Read = (name: string) => string | null;

/** https://docs.gitlab.com/ci/variables/predefined_variables/ */
function readGitLab(read: Read): CiJob {
  const tag = read('CI_COMMIT_TAG');
  const defaultBranch = read('CI_DEFAULT_BRANCH');
  const iid = read('CI_MERGE_REQUEST_IID');
  const external = read('CI_EXTERNAL_PULL_REQUEST_IID');
  const pushed = read('CI_COMMIT_BRANCH');
  // In a branch pipeline, the variable lists `group/project!12` for each open merge request of the branch.
  const open = pushed === defaultBranch ? undefined : /!(\d+)/.exec(read('CI_OPEN_MERGE_REQUESTS') ?? '')?.[1];
  const common = {
    ...unknownJob,
    system: 'gitlab',
    repository: read('CI_PROJECT_PATH'),
    isTag: tag !== null,
    defaultBranch,
    commit: read('CI_COMMIT_SHA'),
    build: read('CI_PIPELINE_ID'),
    job: read('CI_JOB_NAME'),
    url: read('CI_JOB_URL'),
  } as const;
  if (iid !== null) {
    const change = {
      noun: 'merge request',
      label: `MR ${iid}`,
      target: read('CI_MERGE_REQUEST_TARGET_BRANCH_NAME'),
      // Only pipelines for merged results and merge trains have the SHA of the target branch.
      targetCommit: read('CI_MERGE_REQUEST_TARGET_BRANCH_SHA'),
      labels: (read('CI_MERGE_REQUEST_LABELS') ?? '').split(',').filter((name) => name !== ''),
    } as const;
    const commit = read('CI_MERGE_REQUEST_SOURCE_BRANCH_SHA') ?? common.commit;
    return { ...common, branch: read('CI_MERGE_REQUEST_SOURCE_BRANCH_NAME'), change, commit };
  }
  if (external !== null) {
    const change = {
      noun: 'pull request',
      label: `PR ${external}`,
      target: read('CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME'),
      targetCommit: read('CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_SHA'),
    } as const;
    const commit = read('CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA') ?? common.commit;
    return { ...common, branch: read('CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME'), change, commit };
  }
  const branch = tag === null ? (pushed ?? read('CI_COMMIT_REF_NAME')) : null;
  if (open === undefined || branch === null) return { ...common, branch };
  const change = { noun: 'merge request', label: `MR ${open}`, target: null, targetCommit: null } as const;
  return { ...common, branch, change, isBranchBuild: true };
}

/** https://buildkite.com/docs/pipelines/configure/environment-variables */
function readBuildkite(read: Read): CiJob {
  const number = read('BUILDKITE_PULL_REQUEST');
  const isTag = read('BUILDKITE_TAG') !== null;
  const names = [read('BUILDKITE_ORGANIZATION_SLUG'), read('BUILDKITE_PIPELINE_SLUG')].filter((name) => name !== null);
  return {
    ...unknownJob,
    system: 'buildkite',
    repository: names.length === 0 ? null : names.join('/'),
    // For a tag, this variable has the tag's name.
    branch: isTag ? null : read('BUILDKITE_BRANCH'),
    isTag,
    change: isNumber(number) ? request(number, read('BUILDKITE_PULL_REQUEST_BASE_BRANCH')) : null,
    defaultBranch: read('BUILDKITE_PIPELINE_DEFAULT_BRANCH'),
    commit: read('BUILDKITE_COMMIT'),
    build: read('BUILDKITE_BUILD_NUMBER'),
    job: read('BUILDKITE_LABEL') ?? read('BUILDKITE_STEP_KEY'),
    url: read('BUILDKITE_BUILD_URL'),
  };
}

/** https://circleci.com/docs/reference/variables/, which name neither the branch a pull request goes into nor the default one. */
function readCircle(read: Read, { defaultBranch }: Pick<GitCheckout, 'defaultBranch'>): CiJob {
  const branch = read('CIRCLE_BRANCH');
  const fork = read('CIRCLE_PR_NUMBER');
  const opened = /\/(\d+)\/?$/.exec(read('CIRCLE_PULL_REQUEST') ?? '')?.[1];
  // Every build belongs to a branch. A pull request that was opened from the default branch says nothing about that branch's builds.
  const number = fork ?? (branch !== null && branch === defaultBranch ? null : (opened ?? null));
  const names = [read('CIRCLE_PROJECT_USERNAME'), read('CIRCLE_PROJECT_REPONAME')].filter((name) => name !== null);
  return {
    ...unknownJob,
    system: 'circleci',
    repository: names.length === 0 ? null : names.join('/'),
    branch,
    isTag: read('CIRCLE_TAG') !== null,
    change: number === null ? null : request(number, null),
    commit: read('CIRCLE_SHA1'),
    build: read('CIRCLE_BUILD_NUM'),
    job: read('CIRCLE_JOB'),
    url: read('CIRCLE_BUILD_URL'),
  };
}

/** https://learn.microsoft.com/azure/devops/pipelines/build/variables */
function readAzure(read: Read): CiJob {
  const ref = read('BUILD_SOURCEBRANCH');
  const isTag = ref?.startsWith('refs/tags/') === true;
  // For GitHub, the number that people know; for Azure's own repositories, the id.
  const number = read('SYSTEM_PULLREQUEST_PULLREQUESTNUMBER') ?? read('SYSTEM_PULLREQUEST_PULLREQUESTID');
  const isChange = read('BUILD_REASON') === 'PullRequest' || ref?.startsWith('refs/pull/') === true || number !== null;
  const source = isChange ? read('SYSTEM_PULLREQUEST_SOURCEBRANCH') : isTag ? null : ref;
  const change = request(number ?? 'unknown', stripHeads(read('SYSTEM_PULLREQUEST_TARGETBRANCH')));
  return {
    ...unknownJob,
    system: 'azure',
    repository: read('BUILD_REPOSITORY_NAME'),
    branch: stripHeads(source),
    isTag,
    change: isChange ? change : null,
    commit: (isChange ? read('SYSTEM_PULLREQUEST_SOURCECOMMITID') : null) ?? read('BUILD_SOURCEVERSION'),
    build: read('BUILD_BUILDID'),
    job: read('SYSTEM_JOBDISPLAYNAME') ?? read('SYSTEM_JOBNAME'),
  };
}

/** https://support.atlassian.com/bitbucket-cloud/docs/variables-and-secrets/ */
function readBitbucket(read: Read): CiJob {
  const number = read('BITBUCKET_PR_ID');
  const target = read('BITBUCKET_PR_DESTINATION_BRANCH');
  const change = number === null ? null : request(number, target, read('BITBUCKET_PR_DESTINATION_COMMIT'));
  return {
    ...unknownJob,
    system: 'bitbucket',
    repository: read('BITBUCKET_REPO_FULL_NAME'),
    branch: read('BITBUCKET_BRANCH'),
    isTag: read('BITBUCKET_TAG') !== null,
    change,
    commit: read('BITBUCKET_COMMIT'),
    build: read('BITBUCKET_BUILD_NUMBER'),
    job: read('BITBUCKET_STEP_UUID'),
  };
}

/** https://www.jenkins.io/doc/book/pipeline/multibranch/; the variables of the Git plugin (GIT_*) are the only ones in other jobs. */
function readJenkins(read: Read): CiJob {
  const number = read('CHANGE_ID');
  const isTag = read('TAG_NAME') !== null;
  // In the build of a change request BRANCH_NAME is `PR-12`.
  const named = number === null ? read('BRANCH_NAME') : read('CHANGE_BRANCH');
  const checkedOut =
    read('GIT_LOCAL_BRANCH') ?? read('GIT_BRANCH')?.replace(/^(?:refs\/remotes\/)?origin\//, '') ?? null;
  const branch = named ?? (number === null && checkedOut !== 'detached' ? checkedOut : null);
  return {
    ...unknownJob,
    system: 'jenkins',
    branch: isTag ? null : branch,
    isTag,
    change: number === null ? null : request(number, read('CHANGE_TARGET')),
    defaultBranch: read('BRANCH_IS_PRIMARY') === 'true' ? read('BRANCH_NAME') : null,
    commit: read('GIT_COMMIT'),
    build: read('BUILD_NUMBER'),
    job: read('JOB_NAME'),
    url: read('BUILD_URL'),
  };
}

function request(number: string, target: string | null, targetCommit: string | null = null): ChangeRequest {
  return { noun: 'pull request', label: `PR ${number.replaceAll(/\s+/g, '-')}`, target, targetCommit };
}

function isNumber(text: string | null): text is string {
  return text !== null && /^\d+$/.test(text);
}

function stripHeads(ref: string | null): string | null {
  return ref?.replace(/^refs\/heads\//, '') ?? null;
}
