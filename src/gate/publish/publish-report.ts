import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ConfigurationError, GateError, readErrorCode } from '../../base/errors.ts';
import { createFindings } from '../../base/findings.ts';
import { redactDeep } from '../../base/redaction.ts';
import type { GitHubClient } from '../../github/github-client.ts';
import { getPullRequest, listPullRequestsFrom, type PullRequest } from '../../github/pull-requests.ts';
import type { Repository } from '../../github/repository.ts';
import type { Report } from '../../model/report.ts';
import type { GateContext } from '../run/context.ts';
import { rejudgeReport } from '../judge/rejudge.ts';
import { type GateOptions, nameJobSlot } from '../options/schema.ts';
import { buildKey } from '../plan/marker.ts';
import {
  composeRepositoryUrl,
  describeRun,
  listJobParts,
  readGitHubAccess,
  readRun,
  readWorkflowRun,
  type WorkflowRunPayload,
} from '../plan/plan-github.ts';
import { readPolicyOption } from '../plan/plan-policy.ts';
import { readReport } from '../plan/read-report.ts';
import { explainNoComment, openClient, type PullRequestComment, commentOnPullRequest } from './publish-github.ts';

type PublishOptions = Pick<
  GateOptions,
  'reportTo' | 'githubToken' | 'commentId' | 'shard' | 'publish' | 'pullNumber' | 'minPassRate' | 'policy'
>;

/** The surroundings of the job that posts the report. */
interface PublishingJob extends Pick<GateContext, 'clock' | 'logger' | 'redactor' | 'signal' | 'environment'> {
  cwd: string;
}

/**
 * Posts a report of another workflow as a comment on its pull request. Returns the exit code: 0, also if there is nothing to post, and 3 if
 * GitHub refuses. The author of the pull request controls the report: it must belong to the commit of the run that uploaded it and to the
 * newest commit of the pull request, and all of its text is foreign.
 *
 * @throws {ConfigurationError} if the report cannot be read, is of another commit, or has no known pull request
 */
export async function publishReport(
  options: PublishOptions,
  { cwd, environment, redactor, ...calls }: PublishingJob,
): Promise<0 | 3> {
  const { logger } = calls;
  const access = readGitHubAccess(options.githubToken, environment);
  for (const secret of access.secrets) redactor.add(secret);
  const foreign = redactDeep(await readForeignReport(resolve(cwd, options.publish ?? '')), redactor);
  const run = await readWorkflowRun(environment);
  const commit = checkCommit(foreign, run);
  const report = nameSource(holdAgainstRun(await judgeByOwnPolicy(foreign, options, cwd), run), run);
  const { repository } = access;

  await using client = await openClient(access, calls);
  let { pullNumber } = options;
  try {
    const pulls = await findPulls(client, repository, { pullNumber, run });
    const current = pulls.filter(({ headCommit }) => headCommit === commit);
    if (current.length === 0) {
      const found = pullNumber === null ? 'No open pull request' : `Pull request ${pullNumber} no longer`;
      logger.warning(`${found} has ${commit} as its newest commit, which is the report's. Nothing is posted.`);
    }
    for (const { number } of current) {
      pullNumber = number;
      await commentOnPullRequest(
        client,
        report,
        { repository, pullNumber, ...planComment(report, run, { options, environment, cwd }) },
        { logger, redactor },
      );
    }
    return 0;
  } catch (error) {
    if (!(error instanceof GateError) || error instanceof ConfigurationError) throw error;
    logger.warning(explainNoComment(error, pullNumber));
    return 3;
  }
}

/**
 * Judges the results by the policy and the minimum of this job, which the pull request cannot change. Without either, keeps the report's own
 * verdict, which was checked against its results when it was read.
 */
async function judgeByOwnPolicy(report: Report, options: PublishOptions, cwd: string): Promise<Report> {
  const findings = createFindings();
  const policy = await readPolicyOption(options.policy, cwd, findings);
  findings.throwIfAny();
  if (policy === null && options.minPassRate === null) return report;
  const { minPassRate: minimumPassRate } = options;
  return rejudgeReport(report, { baseline: null, minimumPassRate, policy }).report;
}

/**
 * Compares the report with the conclusion of its run. A passing gate ends its run with success, so a passing report of a failed run makes
 * the verdict inconclusive.
 */
function holdAgainstRun(report: Report, run: WorkflowRunPayload | null): Report {
  const conclusion = run?.conclusion ?? 'success';
  if (conclusion === 'success' || report.verdict.outcome !== 'passed') return report;
  const message = `The report says passed, and the workflow run that uploaded it ended with ${conclusion}. See the run for what failed.`;
  const verdict = { outcome: 'inconclusive' as const, reasons: [{ code: 'results-inconsistent' as const, message }] };
  return { ...report, verdict, stopsJob: true };
}

function nameSource(report: Report, run: WorkflowRunPayload | null): Report {
  const source = run === null ? 'a report that was named by hand' : `the report that workflow run ${run.id} uploaded`;
  const note = `These results are those of ${source}. The code of the pull request wrote it; nothing here ran the evals again.`;
  return { ...report, notes: [...report.notes, note] };
}

/** Checks the commit: the verdict of a report of another commit must not be shown for this one. */
function checkCommit({ revision }: Report, run: WorkflowRunPayload | null): string {
  const commit = revision?.commit ?? '';
  const refuse = (code: string, message: string) => new ConfigurationError([{ input: 'publish', code, message }]);
  if (!/^[0-9a-f]{40,64}$/.test(commit)) {
    throw refuse('report-without-commit', 'does not say of which commit it is; was it written in a workflow?');
  }
  if (run !== null && run.head_sha !== commit) {
    const message = `is of the commit ${commit}, and the run that it should come from of ${run.head_sha}`;
    throw refuse('report-of-another-commit', message);
  }
  return commit;
}

async function findPulls(
  client: GitHubClient,
  repository: Repository,
  { pullNumber, run }: { pullNumber: number | null; run: WorkflowRunPayload | null },
): Promise<PullRequest[]> {
  if (pullNumber !== null) return [await getPullRequest(client, repository, pullNumber)];
  const branch = run?.head_branch ?? null;
  const owner = run?.head_repository?.owner.login ?? null;
  if (branch !== null && owner !== null) return await listPullRequestsFrom(client, repository, { owner, branch });
  const message = 'is missing, and no `workflow_run` event says which pull request the report is of';
  throw new ConfigurationError([{ input: 'pull-number', code: 'missing-pull-number', message }]);
}

/** Plans the comment. If the report's own run is known, the comment counts as that run's: its number orders the comments, and its page is linked. */
function planComment(
  { startedAt }: Report,
  workflowRun: WorkflowRunPayload | null,
  { options, environment, cwd }: Pick<PublishingJob, 'environment' | 'cwd'> & { options: PublishOptions },
): Omit<PullRequestComment, 'repository' | 'pullNumber'> {
  const mode = options.reportTo.comment ?? 'always';
  const jobSlot = nameJobSlot(options);
  const parts = ['publish', ...listJobParts(environment, jobSlot)];
  const own = readRun(environment, { cwd, jobSlot });
  if (workflowRun === null) {
    // A call by hand has no run number.
    const number = own.run.number || Math.max(0, Math.floor(Date.parse(startedAt) / 1000)) || 0;
    return { mode, key: buildKey(parts), workflow: null, run: { ...own.run, number }, page: own.page };
  }
  const { id, run_number: number, run_attempt: attempt, path, name } = workflowRun;
  const run = { id: String(id), number, attempt };
  const page = describeRun(run, composeRepositoryUrl(environment));
  return {
    mode,
    key: buildKey([...parts, path?.split('@')[0] ?? name ?? null]),
    workflow: path?.split('@')[0] ?? null,
    run,
    // The paths of the report are relative to the working directory of that job, which is the root unless the job chose another one.
    page: { ...own.page, job: name ?? null, run: page, directory: '' },
  };
}

/** Far larger than any report that fits into a comment; the gate did not write a larger file. */
const maxReportBytes = 32 * 2 ** 20;

/**
 * Reads an untrusted report; the path may also name only its directory.
 *
 * @throws {ConfigurationError} unless it is a regular file of a limited size, and a report of this version
 */
async function readForeignReport(path: string): Promise<Report> {
  const entry = await findEntry(path);
  // A link would publish another file of this machine.
  if (!entry.isFile) throw refuse('is no file; name a report.json, or the directory that holds it');
  if (entry.size > maxReportBytes) throw refuse(`has ${entry.size} bytes, more than any report`);
  const read = await readReport(entry.path);
  if (read.kind === 'report') return read.report;
  throw refuse(read.kind === 'bad' ? read.why : missing);
}

const missing = 'is not there; did the other workflow upload its report?';

function refuse(message: string): ConfigurationError {
  return new ConfigurationError([{ input: 'publish', code: 'bad-report', message }]);
}

async function findEntry(path: string): Promise<{ path: string; isFile: boolean; size: number }> {
  try {
    const stats = await lstat(path);
    return stats.isDirectory()
      ? await findEntry(join(path, 'report.json'))
      : { path, isFile: stats.isFile(), size: stats.size };
  } catch (error) {
    throw readErrorCode(error) === 'ENOENT' ? refuse(missing) : error;
  }
}
