import { DeadlineError, describeError, GateError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { redactDeep } from '../../base/redaction.ts';
import { clipText, endSentence, formatCount } from '../../base/text.ts';
import { type Clock, type Deadline, startDeadline } from '../../base/time.ts';
import { meetsMinimumPassRate, toPercent } from '../../model/rate.ts';
import type { CaseReport } from '../../model/case-report.ts';
import type { Report, SuiteReport } from '../../model/report.ts';
import { serverUnderTest } from '../../cases/step-server.ts';
import { listServers } from '../../report/wording.ts';
import type { ServiceClient } from '../../service/client.ts';
import { type IngestResult, ingestRun, type IngestRun } from '../../service/ingest-client.ts';
import { requireProject } from '../../service/project.ts';
import type { WireIngestedRun } from '../../service/wire.ts';
import type { GateContext } from '../run/context.ts';
import { buildKey } from '../plan/marker.ts';
import type { PlannedUpload } from '../plan/plan-service.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';
import { openUploadClient } from '../run/hosted-project.ts';
import type { KeptResult, KeptResults } from '../run/keep-results.ts';

/** Two minutes in all, with the time to end an incomplete run. */
const uploadTimeoutMs = 115_000;

/**
 * Uploads the results of a gate's first rounds to the hosted project, a run for each suite that has a verdict. Warns about each failure: an
 * upload never changes a verdict.
 */
export async function uploadResults(
  source: UploadSource,
  { clock, logger, redactor, signal }: Pick<GateContext, 'clock' | 'logger' | 'redactor' | 'signal'>,
): Promise<void> {
  // A cancelled job has only seconds left.
  if (signal.aborted) return;
  const warn = (text: string) => logger.warning(`${endSentence(text)} The verdict stands.`);
  const { drafts, leftOut } = draftUploads(source);
  for (const { name, why } of leftOut) logger.info(`${name} is not uploaded: ${why}.`);
  if (drafts.length === 0) return;
  if (source.kept.lacksTraces) {
    logger.info('Not every trace of a failed iteration is uploaded: they are too large together.');
  }

  const { upload } = source;
  using limit = startTimeLimit(clock, signal);
  try {
    await using client = openUploadClient(upload, { clock, logger });
    const { project } = upload.service;
    const { id: projectId } = await requireProject(client, { project, ...limit.options });
    for (const draft of drafts) {
      try {
        await uploadSuite(client, redactDeep(draft, redactor), { upload, projectId, logger, options: limit.options });
      } catch (error) {
        if (limit.options.signal.aborted) throw error;
        warn(`${draft.name} could not be uploaded to its end: ${explain(error)}`);
      }
    }
  } catch (error) {
    warn(`The results could not be uploaded: ${explain(error)}`);
  }
}

interface Sending {
  upload: PlannedUpload;
  projectId: string;
  logger: Logger;
  options: TimeLimit['options'];
}

async function uploadSuite(
  client: ServiceClient,
  { name, run, results }: SuiteDraft,
  { upload, projectId, logger, options }: Sending,
): Promise<void> {
  const ended = await ingestRun(client, { projectId, run, results, ...options });
  const { suiteId, runId } = ended;
  const ids = { baseUrl: upload.service.baseUrl, projectId: ended.projectId ?? projectId, suiteId, runId };
  const what = `${formatCount(results.length, 'iteration')} in the suite ${JSON.stringify(run.suiteName)}`;
  logger.info(`${name} is uploaded, ${what}: ${upload.profile.composeRunUrl(ids) ?? `run ${runId}`}`);
  const passed = results.filter((result) => result.passed).length;
  const difference = findDifference(ended, { total: results.length, passed });
  if (difference === null) return;
  const why = ended.reused === true ? ', which an earlier upload of this job brought' : '';
  const counted = `here it is ${passed} of ${results.length}`;
  logger.warning(`${name}: the run in the service ${difference}${why}; ${counted}. The verdict stands.`);
}

/** Describes how the service's run differs from the gate's; null if no difference shows. */
function findDifference({ status, summary }: WireIngestedRun, own: { total: number; passed: number }): string | null {
  if (status != null && status !== 'completed') return `is ${status}`;
  const { total = null, passed = null } = summary ?? {};
  const differs = (total ?? own.total) !== own.total || (passed ?? own.passed) !== own.passed;
  return differs ? `says that ${passed ?? '?'} of ${total ?? '?'} passed` : null;
}

interface TimeLimit extends Disposable {
  options: { signal: AbortSignal; deadline: Deadline };
}

/** Limits the time of the upload: it changes no verdict, so the gate does not wait longer. */
function startTimeLimit(clock: Clock, signal: AbortSignal): TimeLimit {
  const deadline = startDeadline(clock, uploadTimeoutMs, 'Uploading the results');
  const over = new AbortController();
  const done = new AbortController();
  void clock.sleep(uploadTimeoutMs, { signal: done.signal }).then(
    () => over.abort(new DeadlineError('It was not over after two minutes.')),
    () => {},
  );
  return {
    options: { deadline, signal: AbortSignal.any([signal, over.signal]) },
    [Symbol.dispose]: () => done.abort(),
  };
}

function explain(error: unknown): string {
  const hint = error instanceof GateError ? error.hint : undefined;
  return hint === undefined ? describeError(error) : `${endSentence(describeError(error))} ${hint}`;
}

/** The data that is sent for a suite. */
interface SuiteDraft {
  /** The name of the suite in the evals file. */
  name: string;
  run: IngestRun;
  results: IngestResult[];
}

/** A suite that is not uploaded. */
interface LeftOutSuite {
  name: string;
  /** Completes the sentence "It is not uploaded: …". */
  why: string;
}

/** The results of a gate, and where they are uploaded to. */
interface UploadSource {
  report: Report;
  kept: KeptResults;
  upload: PlannedUpload;
  suites: readonly PlannedSuite[];
}

/** The limit for all suites: about two minutes, at a request per second with 200 iterations each. */
const maxIterations = 20_000;
const maxNotesLength = 1000;
const maxErrorLength = 2000;

/** Builds the upload of each suite, or says why there is none: the service would give a verdict on an incomplete run. */
export function draftUploads(source: UploadSource): { drafts: SuiteDraft[]; leftOut: LeftOutSuite[] } {
  const drafts: SuiteDraft[] = [];
  const leftOut: LeftOutSuite[] = [];
  let room = maxIterations;
  for (const suite of source.report.suites) {
    const results = source.kept.suites.get(suite.id) ?? [];
    const planned = source.suites.find((item) => item.kind === 'file' && item.suite.id === suite.id);
    const why = findObstacle(suite, { results, kept: source.kept, room });
    if (why === null && planned?.kind === 'file') {
      drafts.push(draftSuite(suite, { ...source, results, suiteName: planned.hostedName }));
      room -= results.length;
    } else {
      leftOut.push({ name: suite.name, why: why ?? 'it is in no file' });
    }
  }
  return { drafts, leftOut };
}

function findObstacle(
  { id, verdict, stoppedEarly }: SuiteReport,
  { results, kept, room }: { results: readonly KeptResult[]; kept: KeptResults; room: number },
): string | null {
  if (verdict.outcome === 'inconclusive') return 'its verdict is inconclusive';
  if (stoppedEarly !== null) return 'its run was stopped early';
  if (kept.overflowing.has(id)) return 'its results are too large together';
  if (results.length === 0) return 'it has no results';
  return results.length > room ? `with it, there would be more than ${maxIterations} iterations` : null;
}

function draftSuite(
  suite: SuiteReport,
  {
    report,
    upload,
    results,
    suiteName,
  }: Pick<UploadSource, 'report' | 'upload'> & { results: readonly KeptResult[]; suiteName: string },
): SuiteDraft {
  const cases = new Map(report.cases.flatMap((item) => (item.suiteId === suite.id ? [[item.id, item] as const] : [])));
  const externalRunId = `mcp-eval-ci-${buildKey([...upload.invocation, suite.id])}`;
  return {
    name: suite.name,
    run: {
      suiteName,
      serverNames: nameServers(report),
      notes: clipText(explainVerdict(suite, results), maxNotesLength),
      passCriteria: { minimumPassRate: toPercent(suite.minimumPassRate) },
      externalRunId,
      framework: report.generator.name,
      ...(upload.ci === null ? {} : { ci: upload.ci }),
      expectedIterations: [...cases.values()].reduce((sum, item) => sum + item.planned, 0),
      tags: [...upload.tags, suite.verdict.outcome],
    },
    results: draftResults(results, { cases, externalRunId }),
  };
}

/** Explains the gate's verdict, and how it differs from the service's, which counts only the iterations that it gets. */
function explainVerdict(
  { verdict: { outcome, reasons }, minimumPassRate }: SuiteReport,
  results: readonly KeptResult[],
): string {
  const verdict = endSentence(`The verdict is ${outcome}. ${reasons[0]?.message ?? ''}`.trimEnd());
  const passed = results.filter((result) => result.passed).length;
  const byRate = meetsMinimumPassRate(passed, results.length, minimumPassRate) ? 'passed' : 'failed';
  if (byRate === outcome) return verdict;
  return `${verdict}\nBy its pass rate alone, with every case and without further rounds, this run has ${byRate}.`;
}

function draftResults(
  results: readonly KeptResult[],
  { cases, externalRunId }: { cases: ReadonlyMap<string, CaseReport>; externalRunId: string },
): IngestResult[] {
  const counts = new Map<string, number>();
  return results.map((result) => {
    const { caseId, durationMs, model, tokensUsed, trace } = result;
    const index = (counts.get(caseId) ?? 0) + 1;
    counts.set(caseId, index);
    const found = cases.get(caseId);
    const reasons = found?.failures.find(({ iterationId }) => iterationId === result.iterationId)?.reasons;
    const error = result.passed ? null : (reasons?.join('\n') ?? result.error);
    return {
      caseTitle: found?.title ?? caseId,
      passed: result.passed,
      // Uses the index and not the iteration's id, so that the service recognizes the same execution if it is sent again.
      externalIterationId: `${externalRunId}-${caseId}-${index}`,
      externalCaseId: caseId,
      ...(durationMs === null ? {} : { durationMs }),
      ...(model === null ? {} : { model }),
      ...(tokensUsed === null ? {} : { tokens: { total: tokensUsed } }),
      ...(error === null ? {} : { error: clipText(error, maxErrorLength) }),
      ...(trace === undefined ? {} : { trace }),
      expectedToolCalls: result.expectedToolCalls,
      actualToolCalls: result.actualToolCalls,
      metadata: { iterationNumber: result.iterationNumber ?? index, quarantined: (found?.quarantine ?? null) !== null },
    };
  });
}

/** Names the servers. The API requires at least one. */
function nameServers(report: Report): string[] {
  const names = listServers(report).map(({ label, name }) => clipText(label ?? name ?? serverUnderTest, 128));
  return names.length === 0 ? [serverUnderTest] : names;
}
