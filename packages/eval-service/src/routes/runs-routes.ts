import { z } from 'zod';
import { runComparisonOperations } from '../../../../src/service/operations/run-comparison.ts';
import { runOperations } from '../../../../src/service/operations/runs.ts';
import type { RunCreator } from '../create-run.ts';
import { ApiError, notFound } from '../envelope.ts';
import { requireRun } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import { listSteps } from '../planned-case.ts';
import { readCursor, readIdempotencyKey, readLimit, renderCursor } from '../request.ts';
import type { ModelSource } from '../../../../src/models/language-model.ts';
import type { Reviews } from '../review/reviews.ts';
import type { Runner } from '../../../../src/runner/runner.ts';
import type { IterationRecord } from '../store/iterations.ts';
import type { Store } from '../store/open-store.ts';
import type { RunRecord } from '../store/run-store.ts';

/** The body names the project on the short path; on the other path, the field is ignored. */
const createEvalRun = {
  ...runOperations.createEvalRun,
  body: runOperations.createEvalRun.body.extend({ projectId: z.string().exactOptional() }),
};

/** Serves runs and their iterations. */
export function serveRuns(
  serve: ServeOperation,
  {
    store,
    runner,
    creator,
    reviews,
    models,
  }: {
    store: Store;
    runner: Pick<Runner, 'cancel'>;
    creator: Pick<RunCreator, 'createRunExactlyOnce'>;
    reviews: Pick<Reviews, 'getInsights' | 'getJudges'>;
    models: ModelSource | null;
  },
): void {
  const findRun = ({ projectId, runId }: { projectId: string; runId: string }): RunRecord =>
    requireRun(store, projectId, runId);

  const findProgress = (ids: { projectId: string; runId: string; iterationId: string }) => {
    const run = findRun(ids);
    const progress = store.iterations.getProgress(run.id, ids.iterationId);
    if (progress === undefined) throw notFound('Iteration');
    return { run, progress };
  };

  serve(createEvalRun, ({ ids, body: { projectId: _projectId, ...body }, request }) =>
    creator.createRunExactlyOnce(ids.projectId, body, readIdempotencyKey(request, body.idempotencyKey)),
  );

  serve(runOperations.getEvalRun, ({ ids }) => {
    const run = findRun(ids);
    // Lists of runs leave these fields out.
    const insights = reviews.getInsights(run, models !== null);
    return { ...renderRun(run), insights, judges: reviews.getJudges(run) };
  });

  serve(runOperations.cancelEvalRun, ({ ids }) => {
    const run = findRun(ids);
    if (run.status === 'running') runner.cancel(run.id);
    else if (run.status !== 'cancelled') {
      throw new ApiError('CONFLICT', `The run has ended already: it is ${run.status}.`);
    }
    return renderRun(findRun(ids));
  });

  serve(runOperations.listEvalRunIterations, ({ ids, request }) => {
    const run = findRun(ids);
    const limit = readLimit(request, { max: 200, standard: 50 });
    const found = store.iterations.list(run.id, readCursor(request, run.id), limit + 1);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      items: page.map(renderIteration),
      ...(found.length > limit && last !== undefined ? { nextCursor: renderCursor(run.id, last.position) } : {}),
    };
  });

  serve(runComparisonOperations.getEvalRunSteps, ({ ids }) => {
    const { run, progress } = findProgress(ids);
    return { items: listSteps(progress, store.plannedCases.get(run.id, progress.caseKey)) };
  });

  serve(runOperations.getEvalIterationTrace, ({ ids }) => {
    const { run } = findProgress(ids);
    const trace = store.iterations.getTrace(run.id, ids.iterationId);
    if (trace === undefined) {
      throw new ApiError('NOT_FOUND', 'The iteration has no trace.', { details: { reason: 'TRACE_NOT_AVAILABLE' } });
    }
    return new Response(trace, { headers: { 'content-type': 'application/json' } });
  });
}

/** Renders a run. `notes` end with the reason why a run has no result, because the API has no other field for it. */
export function renderRun(run: RunRecord) {
  const { id, suiteId, runNumber, status, result, source, environment, createdAt, completedAt } = run;
  const notes = [run.notes, run.failure].filter((note) => note !== null).join('\n');
  return {
    id,
    suiteId,
    runNumber,
    status,
    result,
    // A run that its sender still fills has no summary until the sender closes it.
    summary: source === 'sdk' && status === 'running' ? null : renderSummary(run),
    source,
    notes: notes === '' ? null : notes,
    environment,
    scoreIntegrity: run.scoreIntegrity,
    ...(run.groupId !== null && { runGroupId: run.groupId }),
    createdAt,
    completedAt,
  };
}

/** Renders the counts. `total` is the planned number, so that it shows if a run was cut short. */
export function renderSummary({ total, passed, failed }: RunRecord) {
  return { total, passed, failed, passRate: total === 0 ? 0 : passed / total };
}

/** Renders an iteration for its readers. */
function renderIteration(iteration: IterationRecord) {
  const { id, caseId, title, iterationNumber, status, result, startedAt, durationMs, toolCalls, error } = iteration;
  const { model, provider, tokensUsed, usage, judges } = iteration;
  return {
    id,
    testCaseId: caseId,
    title,
    iterationNumber,
    status,
    result,
    model,
    provider,
    startedAt,
    durationMs,
    tokensUsed,
    usage,
    ...(judges !== null && judges.length > 0 && { judges }),
    actualToolCalls: toolCalls?.actual ?? [],
    expectedToolCalls: toolCalls?.expected ?? [],
    error,
  };
}
