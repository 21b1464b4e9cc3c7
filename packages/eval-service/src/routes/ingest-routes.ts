import type { Clock } from '../../../../src/base/time.ts';
import { ingestOperations } from '../../../../src/service/operations/ingest.ts';
import { invalid, notFound } from '../envelope.ts';
import { addResults, finalizeRun, type IngestScope, openIngestedRun } from '../store-ingested-run.ts';
import { requireRun } from '../lookup.ts';
import type { ServeOperation } from '../operation-routes.ts';
import type { Store } from '../store/open-store.ts';
import type { RunRecord } from '../store/run-store.ts';
import { renderSummary } from './runs-routes.ts';

/** Serves runs that were executed elsewhere. Every request may be repeated. Only these answers have the field `ok`. */
export function serveIngest(serve: ServeOperation, { store, clock }: { store: Store; clock: Clock }): void {
  const enter = ({ projectId }: { projectId: string }): IngestScope => ({ store, projectId, now: clock.now() });
  const ok = true as const;

  serve(ingestOperations.reportEvalRun, ({ ids, body }) => {
    const scope = enter(ids);
    const ended = store.transact(() => {
      const { run, isReused } = openIngestedRun(body, scope);
      // A run that has ended keeps its verdict.
      if (isReused && run.status !== 'running') return finalizeRun(run, scope);
      const results = body.results.map((result, index) => ({
        ...result,
        externalIterationId: result.externalIterationId ?? `${body.externalRunId}-${index + 1}`,
      }));
      addResults(run, results, scope);
      return finalizeRun(run, scope);
    });
    return { ok, ...renderEnded(ended) };
  });

  serve(ingestOperations.startEvalIngestRun, ({ ids, body }) => {
    const scope = enter(ids);
    const { run, isReused } = store.transact(() => openIngestedRun(body, scope));
    const { id: runId, suiteId, projectId, status } = run;
    if (!isReused) return { ok, suiteId, runId, projectId };
    return {
      ok,
      reused: true,
      ...(status === 'running' ? { suiteId, runId, projectId, status } : renderEnded(run)),
    };
  });

  serve(ingestOperations.ingestEvalRunIterations, ({ ids, body }) => {
    const scope = enter(ids);
    const added = store.transact(() =>
      addResults(requireIngestedRun(store, scope.projectId, body.runId), body.results, scope),
    );
    return { ok, ...added };
  });

  serve(ingestOperations.finalizeEvalIngestRun, ({ ids, body: { runId, externalRunId } }) => {
    const scope = enter(ids);
    const run = requireIngestedRun(store, scope.projectId, runId);
    if (run.externalId !== externalRunId) throw invalid('externalRunId: Not that of the run');
    return { ok, ...renderEnded(store.transact(() => finalizeRun(run, scope))) };
  });
}

function requireIngestedRun(store: Store, projectId: string, runId: string): RunRecord {
  const run = requireRun(store, projectId, runId);
  if (run.source !== 'sdk') throw notFound('Run');
  return run;
}

/** Renders a run that has ended. Ingestion has only two statuses and always a result, so a run without a verdict has failed. */
function renderEnded(run: RunRecord) {
  const { id: runId, suiteId, projectId, status, result } = run;
  return {
    suiteId,
    runId,
    projectId,
    status: status === 'completed' ? 'completed' : 'failed',
    result: result ?? 'failed',
    summary: renderSummary(run),
  };
}
