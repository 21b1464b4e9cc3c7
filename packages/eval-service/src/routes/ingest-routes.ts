import { type Context, Hono } from 'hono';
import type { ApiEnv } from '../callers.ts';
import type { Clock } from '../../../../src/base/time.ts';
import { invalid, notFound } from '../envelope.ts';
import {
  ingestFinalizeSchema,
  ingestIterationsSchema,
  ingestReportSchema,
  ingestStartSchema,
} from '../../../../src/service/bodies/ingest-body.ts';
import { addResults, finalizeRun, type IngestScope, openIngestedRun } from '../store-ingested-run.ts';
import { requireIngestProject, requireRun } from '../lookup.ts';
import type { BodyReader } from '../request.ts';
import type { Store } from '../store/open-store.ts';
import type { RunRecord } from '../store/run-store.ts';
import { renderSummary } from './runs-routes.ts';

const base = '/projects/:projectId/eval-ingest';

/** Creates the routes for runs that were executed elsewhere. Every request may be repeated. Only these answers have the field `ok`. */
export function createIngestRoutes({
  store,
  clock,
  readBody,
}: {
  store: Store;
  clock: Clock;
  readBody: BodyReader;
}): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const enter = (c: Context<ApiEnv, `${typeof base}/:rest{.+}`>): IngestScope => {
    const project = requireIngestProject(store, c.req.param('projectId'), c.var.caller);
    return { store, projectId: project.id, now: clock.now() };
  };

  routes.post(`${base}/report`, async (c) => {
    const scope = enter(c);
    const body = await readBody(c, ingestReportSchema);
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
    return c.json({ ok: true, ...renderEnded(ended) });
  });

  routes.post(`${base}/runs/start`, async (c) => {
    const scope = enter(c);
    const body = await readBody(c, ingestStartSchema);
    const { run, isReused } = store.transact(() => openIngestedRun(body, scope));
    const { id: runId, suiteId, projectId, status } = run;
    if (!isReused) return c.json({ ok: true, suiteId, runId, projectId });
    return c.json({
      ok: true,
      reused: true,
      ...(status === 'running' ? { suiteId, runId, projectId, status } : renderEnded(run)),
    });
  });

  routes.post(`${base}/runs/iterations`, async (c) => {
    const scope = enter(c);
    const body = await readBody(c, ingestIterationsSchema);
    const added = store.transact(() =>
      addResults(requireIngestedRun(store, scope.projectId, body.runId), body.results, scope),
    );
    return c.json({ ok: true, ...added });
  });

  routes.post(`${base}/runs/finalize`, async (c) => {
    const scope = enter(c);
    const { runId, externalRunId } = await readBody(c, ingestFinalizeSchema);
    const run = requireIngestedRun(store, scope.projectId, runId);
    if (run.externalId !== externalRunId) throw invalid('externalRunId: Not that of the run');
    return c.json({ ok: true, ...renderEnded(store.transact(() => finalizeRun(run, scope))) });
  });
  return routes;
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
