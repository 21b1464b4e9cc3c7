import { type Clock, startDeadline } from '../../base/time.ts';
import { describeError, GitHubError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Redactor } from '../../base/redaction.ts';
import { linkPage } from '../../base/version.ts';
import type { GitHubClient } from '../../github/github-client.ts';
import { loadGitHub } from '../../github/load.ts';
import type { Repository } from '../../github/repository.ts';
import type { Report } from '../../model/report.ts';
import { renderComment } from '../../report/comment.ts';
import { flattenText } from '../../report/escape/plain.ts';
import { buildKey, type RunStamp } from '../plan/marker.ts';
import {
  composeLineUrl,
  type GitHubAccess,
  type PageLinks,
  type LineLocation,
  type PlannedGitHub,
} from '../plan/plan-github.ts';
import type { CommentMode } from '../options/report-to.ts';
import { describeSince, parseRecord, renderRecord } from './case-record.ts';
import { postComment } from './post-comment.ts';
import { postCheck } from './post-check.ts';
import { postIssue } from './post-issue.ts';

interface GitHubCalls {
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
}

/** Long enough for a rate limit of GitHub that lasts a minute. */
const publishTimeoutMs = 120_000;

/** Posts a gate's report on GitHub, as planned. Warns about each failure: presentation never changes a verdict. */
export async function publishToGitHub(
  report: Report,
  plan: PlannedGitHub,
  { redactor, ...calls }: GitHubCalls & { redactor: Redactor },
): Promise<void> {
  // A cancelled job established nothing, and has only seconds left. The run that replaces it posts its own verdict.
  if (calls.signal.aborted) return;
  const { comment, hasCheckRun, issueParts } = plan;
  const { logger } = calls;
  const warn = (text: string) => logger.warning(`${text} The verdict stands.`);
  try {
    await using client = await openClient(plan, calls);
    if (comment !== null) {
      await commentOnPullRequest(client, report, { ...plan, ...comment }, { logger, redactor }).catch(
        (error: unknown) => warn(explainNoComment(error, comment.pullNumber)),
      );
    }
    if (hasCheckRun) {
      await addCheck(client, report, plan, { logger, redactor }).catch((error: unknown) => warn(explainNoCheck(error)));
    }
    if (issueParts !== null) {
      await keepIssues(client, report, { ...plan, issueParts }, { logger, redactor }).catch((error: unknown) =>
        warn(explainNoIssue(error)),
      );
    }
  } catch (error) {
    warn(`Could not tell the verdict on GitHub: ${describeError(error)}`);
  }
}

/**
 * Opens a client that lasts as long as posting a verdict may take.
 *
 * @throws {ConfigurationError} if the client does not load, or the URL of the API or the token cannot be used
 */
export async function openClient(access: GitHubAccess, calls: GitHubCalls): Promise<GitHubClient> {
  const deadline = startDeadline(calls.clock, publishTimeoutMs, 'Telling the verdict on GitHub');
  const openGitHub = await loadGitHub(access);
  return openGitHub({ ...access, ...calls, deadline });
}

/** A comment on a pull request, and its links. */
export interface PullRequestComment {
  repository: Repository;
  pullNumber: number;
  mode: CommentMode;
  key: string;
  /** The path of the workflow's file; null if it is not known. */
  workflow: string | null;
  run: RunStamp;
  page: PageLinks;
}

/**
 * Posts the comment and logs the outcome.
 *
 * @throws {GateError} if GitHub cannot be reached, or refuses
 */
export async function commentOnPullRequest(
  client: GitHubClient,
  report: Report,
  { repository, pullNumber, mode, key, workflow, run, page }: PullRequestComment,
  { logger, redactor }: { logger: Logger; redactor: Redactor },
): Promise<void> {
  const { outcome } = report.verdict;
  const render = (maxBytes: number, replaced: string | null) => {
    const before = replaced === null ? null : parseRecord(replaced);
    return renderFor(report, page, redactor, before === null ? null : describeSince(before, report))(maxBytes);
  };
  const record = renderRecord(report);
  const hidden = record === null ? [] : [record];
  const commit = report.revision?.commit ?? null;
  const draft = { repository, pullNumber, commit, workflow, mode, marker: { key, run, outcome }, hidden, render };
  const { kind, url } = await postComment(client, draft, logger);
  const target = `pull request ${pullNumber}`;
  const said = {
    created: `Commented on ${target}: ${url}`,
    updated: `Updated the comment on ${target}: ${url}`,
    unwanted: `No comment on ${target}: the verdict is ${outcome}, and comments are written ${mode}.`,
    outdated: `A newer run has posted its verdict on ${target}; that comment stays.`,
  };
  logger.info(said[kind]);
}

/**
 * Adds the check to the commit and logs it.
 *
 * @throws {GateError} if GitHub cannot be reached, or refuses
 */
async function addCheck(
  client: GitHubClient,
  report: Report,
  { repository, page }: { repository: Repository; page: PageLinks },
  { logger, redactor }: { logger: Logger; redactor: Redactor },
): Promise<void> {
  const check = await postCheck(client, report, { repository, page, redactor });
  logger.info(
    check === null ? 'There is no commit to add a check to.' : `Added a check: ${check.url ?? 'without a page'}`,
  );
}

/** Keeps an issue for every suite, with the report of the gate reduced to that suite. */
async function keepIssues(
  client: GitHubClient,
  report: Report,
  plan: PlannedGitHub & { issueParts: ReadonlyArray<string | null> },
  { logger, redactor }: { logger: Logger; redactor: Redactor },
): Promise<void> {
  const { repository, run, page, issueParts, workflow } = plan;
  for (const suite of report.suites) {
    const { verdict, totals } = suite;
    const cases = report.cases.filter(({ suiteId }) => suiteId === suite.id);
    const own = { ...report, verdict, totals, suites: [suite], cases, comparison: null };
    const render = renderFor(own, page, redactor);
    const title = redactor.redact(flattenText(`Evals fail: ${suite.name}`));
    const marker = { key: buildKey([...issueParts, suite.id]), run, outcome: verdict.outcome };
    const { kind, url } = await postIssue(client, { repository, marker, workflow, title, render }, logger);
    if (kind !== 'unwanted') logger.info(`The issue of ${suite.name} is ${kind}: ${url}`);
  }
}

/** Renders the visible part of a comment or an issue. */
function renderFor(
  report: Report,
  page: PageLinks,
  redactor: Redactor,
  since: string | null = null,
): (maxBytes: number) => string {
  const linkLine = (location: LineLocation) => composeLineUrl(page, report.revision?.commit ?? null, location);
  const { job, run } = page;
  return (maxBytes) => redactor.redact(renderComment(report, { maxBytes, job, run, since, linkLine }));
}

/** Explains why there is no comment, and what to do about it. */
export function explainNoComment(error: unknown, pullNumber: number | null): string {
  const target = pullNumber === null ? 'the pull request' : `pull request ${pullNumber}`;
  const advice = adviseOn(
    error,
    'pull-requests: write',
    `, which jobs of forks and of Dependabot never have; the two workflows that comment on their pull requests: ${linkPage('comments.md')}`,
  );
  return `Could not comment on ${target}: ${describeError(error)}${advice}`;
}

/** Explains why there is no check, and what to do about it. */
function explainNoCheck(error: unknown): string {
  return `Could not add a check: ${describeError(error)}${adviseOn(error, 'checks: write', '')}`;
}

function explainNoIssue(error: unknown): string {
  return `Could not keep the issues of the suites: ${describeError(error)}${adviseOn(error, 'issues: write', '')}`;
}

function adviseOn(error: unknown, permission: string, rest: string): string {
  if (!(error instanceof GitHubError)) return '';
  if (error.status === 401) return ' Check `github-token`.';
  const isRefused = [403, 404, 410, 422].includes(error.status) && error.retryAfterMs === undefined;
  return isRefused ? ` The token needs the permission \`${permission}\`${rest}.` : '';
}
