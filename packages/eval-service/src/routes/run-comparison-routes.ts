import { runComparisonOperations, type RunComparison } from '../../../../src/service/operations/run-comparison.ts';
import { compareRuns, type ComparedIteration, type ComparedRun } from '../compare/compare-runs.ts';
import { ApiError, invalid } from '../envelope.ts';
import { requireRun } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import type { IterationRecord } from '../store/iterations.ts';
import type { Store } from '../store/open-store.ts';
import type { RunRecord } from '../store/run-store.ts';

/** The length of an error's preview: the default, and the maximum that a request may set. */
const standardPreview = 2000;
const longestPreview = 20_000;

/** Serves the comparison of two runs of a suite. */
export function serveRunComparison(serve: ServeOperation, { store }: { store: Store }): void {
  serve(runComparisonOperations.compareEvalRun, ({ ids, request }): RunComparison => {
    const run = requireRun(store, ids.projectId, ids.runId);
    const previewChars = readPreviewChars(request.query('previewChars'));
    const baseRunId = request.query('baseRunId') ?? '';
    const base = baseRunId === '' ? store.runs.getPrevious(run) : findBaseline(store, run, baseRunId);
    if (base === undefined) throw baselineNotFound(run, baseRunId);
    return {
      suite: { id: run.suiteId, name: store.suites.get(run.projectId, run.suiteId)?.content.name ?? '' },
      baseline: { policy: baseRunId === '' ? 'previous_completed' : 'run', baseRunId: base.id },
      ...compareRuns(loadRun(store, base), loadRun(store, run), { previewChars }),
    };
  });
}

/** Finds a completed run of the same suite; undefined for any other run. */
function findBaseline(store: Store, run: RunRecord, baseRunId: string): RunRecord | undefined {
  const base = store.runs.get(baseRunId);
  return base?.suiteId === run.suiteId && base.status === 'completed' ? base : undefined;
}

function baselineNotFound(run: RunRecord, baseRunId: string): ApiError {
  const message =
    baseRunId === ''
      ? `Baseline not found: no run of the suite was completed before run ${run.runNumber}. Name one in \`baseRunId\`.`
      : 'Baseline not found: `baseRunId` is no completed run of the same suite.';
  const details = { reason: 'BASELINE_NOT_FOUND', ...(baseRunId !== '' && { baseRunId }) };
  return new ApiError('NOT_FOUND', message, { details });
}

function readPreviewChars(text: string | undefined): number {
  if (text === undefined || text === '') return standardPreview;
  const characters = Number(text);
  if (!Number.isFinite(characters)) throw invalid('previewChars: Expected a number');
  return Math.min(Math.max(Math.trunc(characters), 0), longestPreview);
}

function loadRun(store: Store, run: RunRecord): ComparedRun {
  const scores = store.iterations.listScores(run.id);
  const iterations = store.iterations.list(run.id, -1, Number.MAX_SAFE_INTEGER).map((iteration): ComparedIteration => {
    const { id, title, result, error, model, provider, tokensUsed } = iteration;
    return {
      id,
      caseKey: keyOf(iteration),
      title,
      result,
      error,
      model: model === null ? null : `${provider ?? ''}/${model}`,
      tokensUsed,
      scores: scores.get(id) ?? null,
    };
  });
  return { run, iterations, cases: store.plannedCases.list(run.id) };
}

/** Returns the key of an iteration's case. A run of an older version has only the ids of its cases. */
function keyOf({ caseKey, caseId, title }: IterationRecord): string {
  return caseKey ?? caseId ?? title;
}
