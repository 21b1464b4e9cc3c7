import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { readTextFile } from '../../base/files.ts';
import { type GateOptions, nameJobSlot } from '../options/schema.ts';
import { type CiSystem, ciSystemNames, detectCiJob, type GitCheckout } from './ci-systems.ts';
import { probeGit } from './git-checkout.ts';

/** The job that a gate runs in, and the revision that it tests. */
export interface CiJob {
  /** Null if no known CI system runs the job. */
  system: CiSystem | null;
  /** The name of the CI system in messages. */
  systemName: string;
  /** `owner/name`; null if it is not known. */
  repository: string | null;
  /** The tested line of development: `PR 12`, `MR 7`, the name of a branch, or null if none is known. */
  line: string | null;
  isDefaultBranch: boolean;
  /** Null if it is not known. */
  defaultBranch: string | null;
  /** The commit that was checked out; of a pull request its head, since the merge commit that is tested cannot be found later. */
  commit: string | null;
  /** Full ids of the commits that the CI system says are tested: the merge of a pull request, and its head. Empty if it names none. */
  tested: string[];
  /** The base that a pull or merge request goes into; null without such a request. */
  base: ChangeBase | null;
  /** The labels of the pull or merge request, as they were when the job was started. */
  labels: string[];
  /** The event, if it gives the workflow the rights of the repository and other people can cause it; null for every other event. */
  elevatedEvent: ElevatedEvent | null;
  /** Distinguishes this invocation from every other one; stable within it. */
  invocation: string;
  /** A short form of `invocation` for people: `1234.1 test`. */
  label: string;
  /** The id of the build, the name of the job and the URL of its page in the CI system. */
  build: { id: string | null; job: string | null; url: string | null; branch: string | null };
}

/** Events on which a job of GitHub has secrets and a token that may write, although a stranger can cause them. */
const elevatedEvents = ['pull_request_target', 'workflow_run', 'issue_comment'] as const;
export type ElevatedEvent = (typeof elevatedEvents)[number];

/** The branch or commit that a change is to be merged into, by every name that git may know it by. */
export interface ChangeBase {
  noun: 'pull request' | 'merge request';
  /** The name of the request: `PR 12`; null if only `base-ref` says that there is a base. */
  label: string | null;
  /** Null if the CI system does not name it. */
  branch: string | null;
  /** The most exact one first; empty if nothing is known. */
  revisions: string[];
}

interface CiSources {
  environment: Readonly<Record<string, string | undefined>>;
  /** The payload of GitHub's event; empty on other systems. */
  payload: GitHubPayload;
  git: GitCheckout;
}

type Overrides = Pick<GateOptions, 'branch' | 'commit' | 'baseRef' | 'commentId' | 'shard'>;

const payloadSchema = z.object({
  repository: z.object({ default_branch: z.string() }).optional().catch(undefined),
  pull_request: z
    .object({
      number: z.number(),
      head: z.object({ sha: z.string() }).optional().catch(undefined),
      base: z.object({ sha: z.string() }).optional().catch(undefined),
      labels: z
        .array(z.object({ name: z.string() }))
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
  merge_group: z
    .object({ base_sha: z.string(), base_ref: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

type GitHubPayload = z.output<typeof payloadSchema>;

const noCheckout: GitCheckout = { branch: null, commit: null, defaultBranch: null };

/** Reads the job from the variables of the CI system, the payload of GitHub's event, and git's checkout. */
export async function readCiJob(
  overrides: Overrides,
  { cwd, environment }: { cwd: string; environment: CiSources['environment'] },
): Promise<CiJob> {
  const isOnGitHub = isGitHub(environment);
  const payload = isOnGitHub ? await readPayload(environment['GITHUB_EVENT_PATH']) : {};
  const git = isOnGitHub ? noCheckout : await probeGit(cwd);
  return detectCiContext(overrides, { environment, payload, git });
}

/** Does the same as `readCiJob` without reading anything. Options have precedence, then the CI system, then git. */
export function detectCiContext(overrides: Overrides, sources: CiSources): CiJob {
  const found = isGitHub(sources.environment) ? detectGitHub(overrides, sources) : detectElsewhere(sources);
  const line = overrides.branch ?? found.line;
  const isNamed = overrides.branch !== null;
  return {
    ...found,
    line,
    isDefaultBranch: isNamed ? line === found.defaultBranch : found.isDefaultBranch,
    commit: overrides.commit ?? found.commit,
    base: overrides.baseRef === null ? found.base : nameBase(overrides.baseRef, found.base),
  };
}

/** Checks for GitHub before other systems: a compatible runner sets GitHub's variables on purpose. */
function isGitHub(environment: CiSources['environment']): boolean {
  return (
    environment['GITHUB_ACTIONS'] === 'true' ||
    Boolean(environment['GITHUB_RUN_ID']) ||
    Boolean(environment['GITHUB_EVENT_PATH'])
  );
}

function detectGitHub(overrides: Overrides, { environment, payload }: CiSources): CiJob {
  // No variable distinguishes the jobs of a matrix.
  const jobSlot = nameJobSlot(overrides);
  const read = (name: string) => environment[name] || null;
  const repository = read('GITHUB_REPOSITORY');
  const runId = read('GITHUB_RUN_ID');
  const attempt = read('GITHUB_RUN_ATTEMPT') ?? '1';
  const job = read('GITHUB_JOB') ?? 'job';
  // Steps of one job that use the same action differ only in this variable.
  const step = read('GITHUB_ACTION') ?? '';
  const branch = read('GITHUB_REF_TYPE') === 'tag' ? null : read('GITHUB_REF_NAME');
  // A merge queue tests a pull request on a branch that is created for it and named after it.
  const queued = /^gh-readonly-queue\/.+\/pr-(\d+)-/.exec(branch ?? '')?.[1];
  const number = payload.pull_request?.number ?? queued;
  const isPullRequest = number !== undefined;
  const label = isPullRequest ? `PR ${number}` : null;
  const defaultBranch = payload.repository?.default_branch ?? null;
  const isKnown = repository !== null && runId !== null;
  // On other events, the commit belongs to a branch of the repository.
  const isMerge = /^(?:pull_request|merge_group)$/.test(read('GITHUB_EVENT_NAME') ?? '');
  const random = randomUUID();
  return {
    system: 'github',
    systemName: ciSystemNames.github,
    repository,
    line: label ?? branch,
    isDefaultBranch: !isPullRequest && branch !== null && branch === defaultBranch,
    defaultBranch,
    commit: payload.pull_request?.head?.sha ?? read('GITHUB_SHA'),
    tested: [isMerge ? read('GITHUB_SHA') : null, payload.pull_request?.head?.sha].filter(isNamedCommit),
    base: findGitHubBase(label, { environment, payload }),
    labels: payload.pull_request?.labels?.map(({ name }) => name) ?? [],
    elevatedEvent: elevatedEvents.find((event) => event === read('GITHUB_EVENT_NAME')) ?? null,
    invocation: isKnown ? JSON.stringify([repository, runId, attempt, job, jobSlot ?? '', step]) : random,
    label: isKnown
      ? `${runId}.${attempt} ${job}${jobSlot === null || jobSlot === '0' ? '' : ` ${jobSlot}`}`
      : random.slice(0, 8),
    build: { id: runId, job, url: null, branch: read('GITHUB_HEAD_REF') ?? branch },
  };
}

function findGitHubBase(
  label: string | null,
  { environment, payload }: Pick<CiSources, 'environment' | 'payload'>,
): ChangeBase | null {
  const isEvent = /^(?:pull_request|pull_request_target|merge_group)$/.test(environment['GITHUB_EVENT_NAME'] ?? '');
  const queuedFor = payload.merge_group?.base_ref?.replace(/^refs\/heads\//, '');
  const branch = environment['GITHUB_BASE_REF'] || queuedFor || null;
  const commit = payload.pull_request?.base?.sha ?? payload.merge_group?.base_sha ?? null;
  if (!isEvent && branch === null && commit === null) return null;
  return { noun: 'pull request', label, branch, revisions: listRevisions({ branch, commit }) };
}

function detectElsewhere({ environment, git }: CiSources): CiJob {
  const found = detectCiJob(environment, git);
  const { system, change, isTag, isBranchBuild } = found;
  // Git may know the branch if a known system names neither a branch nor a tag: a custom build of a branch.
  const branch = isTag ? null : (found.branch ?? (change === null ? git.branch : null));
  const defaultBranch = found.defaultBranch ?? git.defaultBranch;
  // A developer's own checkout of the default branch is not what the branch's jobs test.
  const isCi = system !== null || Boolean(environment['CI']);
  const invocation = randomUUID();
  const short = invocation.slice(0, 8);
  const isRequest = change !== null && !isBranchBuild;
  return {
    system,
    systemName: system === null ? 'this machine' : ciSystemNames[system],
    repository: found.repository,
    line: isRequest ? change.label : branch,
    isDefaultBranch: isCi && !isRequest && branch !== null && branch === defaultBranch,
    defaultBranch,
    commit: isFullHash(found.commit ?? '') ? found.commit : git.commit,
    tested: [found.commit].filter(isNamedCommit),
    base:
      change === null
        ? null
        : {
            noun: change.noun,
            label: change.label,
            branch: change.target,
            revisions: listRevisions({ branch: change.target, commit: change.targetCommit }),
          },
    labels: change?.labels ?? [],
    elevatedEvent: null,
    // No variable of these systems distinguishes two gates of one job.
    invocation,
    label: [found.build, found.job, short].filter((part) => part !== null).join(' '),
    build: { id: found.build, job: found.job, url: found.url, branch: found.branch ?? branch },
  };
}

/** Names the base that the user gives: `main`, `origin/main` or a commit. It must be found, on every event. */
function nameBase(ref: string, found: ChangeBase | null): ChangeBase {
  const { noun = 'pull request', label = null } = found ?? {};
  if (isFullHash(ref)) return { noun, label, branch: null, revisions: [ref] };
  const branch = ref.replace(/^(?:refs\/heads\/|refs\/remotes\/origin\/|origin\/)/, '');
  return { noun, label, branch, revisions: [...listRevisions({ branch, commit: null }), `refs/heads/${branch}`] };
}

/** Lists only revisions that git cannot take for an option, and refs that the change itself cannot have created. */
function listRevisions({ branch, commit }: { branch: string | null; commit: string | null }): string[] {
  const isCommit = commit !== null && /^[0-9a-f]{12,64}$/.test(commit);
  const branches = branch === null ? [] : [`refs/remotes/origin/${branch}`];
  if (!isCommit) return branches;
  // A ref here may have moved since. A short hash could also be the name of a branch.
  return isFullHash(commit) ? [commit] : [...branches, commit];
}

function isNamedCommit(commit: string | null | undefined): commit is string {
  return isFullHash(commit ?? '');
}

export function isFullHash(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** Reads the event's payload. An unreadable event is empty, because the gate itself does not depend on it. */
async function readPayload(path: string | undefined): Promise<GitHubPayload> {
  if (path === undefined || path === '') return {};
  try {
    return payloadSchema.parse(JSON.parse(await readTextFile(path)));
  } catch {
    return {};
  }
}

type JobNames = Pick<CiJob, 'line' | 'isDefaultBranch' | 'label'>;

const longestServerName = 128;
const longestSuiteName = 200;

/** Names the service's suite that keeps an evals file. The default branch and jobs with a shared scope use the plain name. */
export function nameHostedSuite(name: string, scope: 'branch' | 'shared' | 'run', context: JobNames): string {
  if (scope === 'shared' || (scope === 'branch' && context.isDefaultBranch)) return name;
  // A run outside of any branch must not change the suite that the branches share.
  const suffix = scope === 'run' ? `run ${context.label}` : (context.line ?? 'local');
  return `${name} · ${suffix}`.slice(0, longestSuiteName);
}

/** Names the server of this job so that no other job has the name: readable first, then a digest of the invocation. */
export function nameHostedServer(context: CiJob): string {
  const readable = `mcp-eval-ci ${context.repository ?? 'local'} ${context.label}`;
  const digest = createHash('sha256').update(context.invocation).digest('hex').slice(0, 10);
  return `${readable.slice(0, longestServerName - digest.length - 1)} ${digest}`;
}

/** Names one of several servers of this job: the name of the job's server, then the server's name in `mcp-config`. */
export function nameOneOfServers(jobServerName: string, name: string): string {
  const whole = `${jobServerName} ${name}`;
  if (whole.length <= longestServerName) return whole;
  const digest = createHash('sha256')
    .update(JSON.stringify([jobServerName, name]))
    .digest('hex')
    .slice(0, 10);
  const ending = ` ${digest} ${name.slice(0, 48)}`;
  return `${jobServerName.slice(0, longestServerName - ending.length)}${ending}`;
}
