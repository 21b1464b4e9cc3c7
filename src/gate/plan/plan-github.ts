import { relative } from 'node:path';
import { z } from 'zod';
import { ConfigurationError, describeError } from '../../base/errors.ts';
import { readTextFile } from '../../base/files.ts';
import type { Findings } from '../../base/findings.ts';
import type { Secret } from '../../base/redaction.ts';
import { parseRepository, type Repository } from '../../github/repository.ts';
import { listProxySecrets, type ProxySettings, readProxySettings } from '../../http/proxy.ts';
import type { CommentMode } from '../options/report-to.ts';
import { type GateOptions, nameJobSlot } from '../options/schema.ts';
import type { CiJob } from './ci-job.ts';
import { buildKey, type RunStamp } from './marker.ts';

/** The posts of the gate on GitHub in addition to the job's own results, and the access for them. */
export interface PlannedGitHub extends GitHubAccess {
  /** Null for no comment. */
  comment: { mode: CommentMode; pullNumber: number } | null;
  hasCheckRun: boolean;
  /** Distinguishes the issues of these suites from those of other jobs and branches; null for none. */
  issueParts: ReadonlyArray<string | null> | null;
  /** Distinguishes this job from every other one of the repository, in every run. */
  key: string;
  /** The path of the workflow's file; null if it is not known. */
  workflow: string | null;
  run: RunStamp;
  page: PageLinks;
}

/** The access to GitHub's API. */
export interface GitHubAccess {
  apiUrl: string;
  token: Secret;
  proxy: ProxySettings;
  repository: Repository;
  /** The file with the payload of the event; null if the job names none. */
  eventPath: string | null;
  secrets: readonly Secret[];
}

type Environment = Readonly<Record<string, string | undefined>>;

const payloadSchema = z.object({
  pull_request: z.object({ number: z.number() }).optional().catch(undefined),
  // Present in the event of an `issue_comment` on a pull request.
  issue: z
    .object({ number: z.number(), pull_request: z.object({}) })
    .optional()
    .catch(undefined),
  workflow_run: z
    .object({
      id: z.number(),
      run_number: z.number(),
      run_attempt: z.number(),
      head_sha: z.string(),
      conclusion: z.string().nullish(),
      head_branch: z.string().nullish(),
      head_repository: z.object({ owner: z.object({ login: z.string() }) }).nullish(),
      name: z.string().nullish(),
      path: z.string().nullish(),
    })
    .optional()
    .catch(undefined),
});

export type WorkflowRunPayload = NonNullable<z.output<typeof payloadSchema>['workflow_run']>;

/**
 * Plans what to post and where; null if there is nothing to post. If something requested cannot be posted, a note says why: it never decides
 * a verdict.
 */
export async function planGitHub(
  options: Pick<GateOptions, 'reportTo' | 'githubToken' | 'commentId' | 'shard'>,
  { cwd, environment }: { cwd: string; environment: Environment },
  findings: Findings,
): Promise<PlannedGitHub | null> {
  const { githubToken } = options;
  const { comment: mode, checkRun: hasCheckRun, issue } = options.reportTo;
  if (mode === null && !hasCheckRun && !issue) return null;
  const jobSlot = nameJobSlot(options);
  const pullNumber = await findPullNumber(environment);
  const comment = mode === null || pullNumber === null ? null : { mode, pullNumber };
  // The author of a failing pull request reads the comment, so it needs no issue.
  const hasIssues = issue && pullNumber === null;
  if (comment === null && !hasCheckRun && !hasIssues) return null;
  try {
    const access = readGitHubAccess(githubToken, environment);
    const parts = [readWorkflowPath(environment), ...listJobParts(environment, jobSlot)];
    const issueParts = hasIssues ? [...parts, environment['GITHUB_REF_NAME'] ?? null] : null;
    const key = buildKey(parts);
    const workflow = readWorkflowFile(environment);
    return { ...access, comment, hasCheckRun, issueParts, key, workflow, ...readRun(environment, { cwd, jobSlot }) };
  } catch (error) {
    findings.note(`The gate will post nothing on GitHub except the job's own results: ${describeError(error)}`);
    return null;
  }
}

/**
 * Reads the access to GitHub.
 *
 * @throws {ConfigurationError} if there is no token, no repository, or a proxy that cannot be used
 */
export function readGitHubAccess(token: Secret | null, environment: Environment): GitHubAccess {
  const repository = parseRepository(environment['GITHUB_REPOSITORY'] ?? '');
  if (token === null) {
    const message = 'is missing; give the action the input, or the command the variable GITHUB_TOKEN';
    throw new ConfigurationError([{ input: 'github-token', code: 'missing-github-token', message }]);
  }
  if (repository === null) {
    const message = 'does not say which repository this is; outside of GitHub’s workflows, set it to owner/name';
    throw new ConfigurationError([{ input: 'GITHUB_REPOSITORY', code: 'missing-repository', message }]);
  }
  const proxy = readProxySettings(environment);
  const apiUrl = environment['GITHUB_API_URL'] || 'https://api.github.com';
  const eventPath = environment['GITHUB_EVENT_PATH'] || null;
  return { apiUrl, token, proxy, repository, eventPath, secrets: [token, ...listProxySecrets(proxy)] };
}

async function findPullNumber(environment: Environment): Promise<number | null> {
  const { pull_request: pull, issue } = await readPayload(environment);
  // A merge queue tests a pull request on a branch that is named after it.
  const queued = /^gh-readonly-queue\/.+\/pr-(\d+)-/.exec(environment['GITHUB_REF_NAME'] ?? '')?.[1];
  return pull?.number ?? issue?.number ?? (queued === undefined ? null : Number(queued));
}

/** Reads the run that started the workflow when it ended; null if something else started it. */
export async function readWorkflowRun(environment: Environment): Promise<WorkflowRunPayload | null> {
  return (await readPayload(environment)).workflow_run ?? null;
}

/** Reads the event's payload; empty if it cannot be read. */
async function readPayload(environment: Environment): Promise<z.output<typeof payloadSchema>> {
  try {
    return payloadSchema.parse(JSON.parse(await readTextFile(environment['GITHUB_EVENT_PATH'] ?? '')));
  } catch {
    return {};
  }
}

/** Reads the number of this run, and the addresses of its pages. */
export function readRun(
  environment: Environment,
  { cwd, jobSlot }: { cwd: string; jobSlot: string | null },
): { run: RunStamp; page: PageLinks } {
  const count = (name: string) => (/^\d{1,15}$/.test(environment[name] ?? '') ? Number(environment[name]) : 0);
  const run = {
    id: String(count('GITHUB_RUN_ID')),
    number: count('GITHUB_RUN_NUMBER'),
    attempt: count('GITHUB_RUN_ATTEMPT'),
  };
  const repositoryUrl = composeRepositoryUrl(environment);
  const names = [environment['GITHUB_WORKFLOW'], environment['GITHUB_JOB']].filter((name) => name);
  const slot = jobSlot === null || jobSlot === '0' ? '' : ` ${jobSlot}`;
  return {
    run,
    page: {
      job: names.length === 0 ? null : `${names.join(' / ')}${slot}`,
      run: run.id === '0' ? null : describeRun(run, repositoryUrl),
      repositoryUrl,
      directory: locateDirectory(environment, cwd),
    },
  };
}

/** Plans the links to the repository's pages; null if it is not on GitHub. */
export function planPage(
  options: Pick<GateOptions, 'commentId' | 'shard'>,
  { ci, cwd, environment }: { ci: Pick<CiJob, 'system' | 'repository'>; cwd: string; environment: Environment },
): PageLinks | null {
  if (ci.system !== 'github' || ci.repository === null) return null;
  return readRun(environment, { cwd, jobSlot: nameJobSlot(options) }).page;
}

/** Finds the path of the working directory in the checked-out repository; null if it is outside of it. */
export function locateDirectory(environment: Environment, cwd: string): string | null {
  const directory = relative(environment['GITHUB_WORKSPACE'] || cwd, cwd).replaceAll('\\', '/');
  return directory.startsWith('..') ? null : directory;
}

export function composeRepositoryUrl(environment: Environment): string {
  return `${environment['GITHUB_SERVER_URL'] || 'https://github.com'}/${environment['GITHUB_REPOSITORY'] ?? ''}`;
}

export function describeRun({ id, number, attempt }: RunStamp, repositoryUrl: string): PageLinks['run'] {
  const label = `Run ${number}${attempt > 1 ? `, attempt ${attempt}` : ''}`;
  return { label, url: `${repositoryUrl}/actions/runs/${id}/attempts/${Math.max(1, attempt)}` };
}

/** Distinguishes this job's step from others of the workflow. */
export function listJobParts(environment: Environment, jobSlot: string | null): Array<string | null> {
  const step = environment['GITHUB_ACTION'] ?? '';
  // `__run_3` counts the scripts of the job; a new script before it would change its number.
  return [environment['GITHUB_JOB'] ?? null, jobSlot ?? '0', /^__run(?:_\d+)?$/.test(step) ? '' : step];
}

/** Reads the path of the workflow's file, because names are not unique; else its name. */
function readWorkflowPath(environment: Environment): string | null {
  return readWorkflowFile(environment) ?? environment['GITHUB_WORKFLOW'] ?? null;
}

/** Reads the path of the workflow's file; null if the runner does not name it. */
function readWorkflowFile(environment: Environment): string | null {
  const [, path] = /^[^/]+\/[^/]+\/(.+?)@/.exec(environment['GITHUB_WORKFLOW_REF'] ?? '') ?? [];
  return path ?? null;
}

/** The pages that a text on GitHub links to. */
export interface PageLinks {
  /** The name of the job: `evals / test`. */
  job: string | null;
  run: { label: string; url: string } | null;
  /** `https://github.com/owner/name`. */
  repositoryUrl: string;
  /** The directory that the paths of a report are relative to, from the repository's root; null if it is outside of the repository. */
  directory: string | null;
}

/** A line of a file, as a report names it. */
export interface LineLocation {
  file: string;
  line: number;
}

/** The file name of inline tests; they are in no file. */
const inlineTests = 'tests';

/** Finds the path of a file from the repository's root; null if it is outside of the repository. Paths may be foreign text. */
function locateInRepository(directory: string | null, file: string): string | null {
  if (directory === null || /^(?:[/\\]|[A-Za-z]:)|\p{Cc}/u.test(file)) return null;
  const segments = [...directory.split('/'), ...file.split(/[/\\]/)].filter((part) => part !== '' && part !== '.');
  return segments.length === 0 || segments.includes('..') ? null : segments.join('/').toWellFormed();
}

/** Finds a line that a report names; null if it is in no file of the repository. */
export function locateLine(
  { directory }: Pick<PageLinks, 'directory'>,
  { file, line }: LineLocation,
): { path: string; line: number } | null {
  const path = file === inlineTests ? null : locateInRepository(directory, file);
  return path === null || !Number.isInteger(line) || line < 1 ? null : { path, line };
}

/** Composes the URL of a line of a commit; null if the line or the commit is not known. */
export function composeLineUrl(page: PageLinks, commit: string | null, location: LineLocation): string | null {
  const located = locateLine(page, location);
  if (located === null || !/^[0-9a-f]{40,64}$/.test(commit ?? '')) return null;
  const path = located.path.split('/').map(encodeURIComponent).join('/');
  return `${page.repositoryUrl}/blob/${commit}/${path}#L${located.line}`;
}
