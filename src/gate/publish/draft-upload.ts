import { clipText, endSentence } from '../../base/text.ts';
import { meetsMinimumPassRate, toPercent } from '../../model/rate.ts';
import type { CaseReport, Report, SuiteReport } from '../../model/report.ts';
import type { IngestResult, IngestRun } from '../../service/ingest.ts';
import type { KeptResult, KeptResults } from '../run/keep-results.ts';
import { buildKey } from '../plan/marker.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';
import type { PlannedUpload } from '../plan/plan-upload.ts';
import { stepServerName } from '../../model/suite.ts';

/** What is sent of a suite. */
export interface SuiteDraft {
  /** As the evals file calls the suite. */
  name: string;
  run: IngestRun;
  results: IngestResult[];
}

/** A suite that stays out. */
export interface LeftOutSuite {
  name: string;
  /** Completes the sentence "It is not uploaded: …". */
  why: string;
}

/** What a gate came to, and where it goes. */
export interface UploadSource {
  report: Report;
  kept: KeptResults;
  upload: PlannedUpload;
  suites: readonly PlannedSuite[];
}

/** Of all suites: what gets there within two minutes, at a request a second and 200 iterations in each. */
const maxIterations = 20_000;
const maxNotesLength = 1000;
const maxErrorLength = 2000;

/** Makes of each suite what is sent of it, or says why nothing is: half a run would get a verdict in the service. */
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
      serverNames: [clipText(report.server?.name ?? stepServerName, 128)],
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

/** The gate's verdict, and what the service does not know of it: it counts the iterations that it gets, and nothing else. */
function explainVerdict(
  { verdict: { outcome, reasons }, minimumPassRate }: SuiteReport,
  results: readonly KeptResult[],
): string {
  const ours = endSentence(`The verdict is ${outcome}. ${reasons[0]?.message ?? ''}`.trimEnd());
  const passed = results.filter((result) => result.passed).length;
  const theirs = meetsMinimumPassRate(passed, results.length, minimumPassRate) ? 'passed' : 'failed';
  if (theirs === outcome) return ours;
  return `${ours}\nBy its pass rate alone, with every case and without further rounds, this run has ${theirs}.`;
}

function draftResults(
  results: readonly KeptResult[],
  { cases, externalRunId }: { cases: ReadonlyMap<string, CaseReport>; externalRunId: string },
): IngestResult[] {
  const counts = new Map<string, number>();
  return results.map((result) => {
    const { caseId, durationMs, model, tokensUsed, trace } = result;
    const place = (counts.get(caseId) ?? 0) + 1;
    counts.set(caseId, place);
    const found = cases.get(caseId);
    const reasons = found?.failures.find(({ iterationId }) => iterationId === result.iterationId)?.reasons;
    const error = result.passed ? null : (reasons?.join('\n') ?? result.error);
    return {
      caseTitle: found?.title ?? caseId,
      passed: result.passed,
      // Of the place and not of the iteration, so that the same execution that is sent again is known.
      externalIterationId: `${externalRunId}-${caseId}-${place}`,
      externalCaseId: caseId,
      ...(durationMs === null ? {} : { durationMs }),
      ...(model === null ? {} : { model }),
      ...(tokensUsed === null ? {} : { tokens: { total: tokensUsed } }),
      ...(error === null ? {} : { error: clipText(error, maxErrorLength) }),
      ...(trace === undefined ? {} : { trace }),
      expectedToolCalls: result.expectedToolCalls,
      actualToolCalls: result.actualToolCalls,
      metadata: { iterationNumber: result.iterationNumber ?? place, quarantined: (found?.quarantine ?? null) !== null },
    };
  });
}
