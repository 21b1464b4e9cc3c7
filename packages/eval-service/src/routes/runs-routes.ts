import { type Context, Hono } from 'hono';
import type { ApiEnv } from '../callers.ts';
import type { BodySchemas } from '../bodies/stored-suite.ts';
import type { RunCreator } from '../create-run.ts';
import { ApiError, notFound } from '../envelope.ts';
import { listSteps } from '../planned-case.ts';
import { type BodyReader, readCursor, readIdempotencyKey, readLimit, renderCursor } from '../request.ts';
import { requireMeantProject, requireMemberRun, requireProject, requireRun } from '../lookup.ts';
import type { Runner } from '../../../../src/runner/runner.ts';
import type { IterationRecord } from '../store/iterations.ts';
import type { Store } from '../store/open-store.ts';
import type { RunRecord } from '../store/run-store.ts';

/**
 * Creates the routes for runs and their iterations. They are mounted below a project, and at the top. At the top, the body may name the
 * project, the default is the only project, and a run is found by its id.
 */
export function createRunRoutes(
  {
    store,
    runner,
    bodies,
    readBody,
    describeRun,
  }: {
    store: Store;
    runner: Pick<Runner, 'cancel'>;
    bodies: BodySchemas;
    readBody: BodyReader;
    /** Adds fields to the answer for a single run, but not to lists. */
    describeRun: (run: RunRecord) => object;
  },
  creator: RunCreator,
): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  // Below a project, the caller is already known to be a member.
  const findRun = (c: Context<ApiEnv>): RunRecord => {
    const { projectId, runId = '' } = c.req.param();
    return projectId === undefined ? requireMemberRun(store, runId, c.var.caller) : requireRun(store, projectId, runId);
  };

  routes.post('/', async (c) => {
    const projectId = c.req.param('projectId');
    // The project is checked before the body, so that a wrong project is reported first, as in all routes.
    const named = projectId === undefined ? undefined : requireProject(store, projectId);
    const body = await readBody(c, bodies.run);
    const project = named ?? requireMeantProject(store, body.projectId, c.var.caller);
    const key = readIdempotencyKey(c.req, body.idempotencyKey);
    return c.json(await creator.createRunExactlyOnce(project.id, body, key), 202);
  });

  routes.get('/:runId', (c) => {
    const run = findRun(c);
    return c.json({ ...renderRun(run), ...describeRun(run) });
  });

  routes.post('/:runId/cancel', (c) => {
    const run = findRun(c);
    if (run.status === 'running') runner.cancel(run.id);
    else if (run.status !== 'cancelled') {
      throw new ApiError('CONFLICT', `The run has ended already: it is ${run.status}.`);
    }
    return c.json(renderRun(findRun(c)));
  });

  routes.get('/:runId/iterations', (c) => {
    const run = findRun(c);
    const limit = readLimit(c.req, { max: 200, standard: 50 });
    const found = store.iterations.list(run.id, readCursor(c.req, run.id), limit + 1);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return c.json({
      items: page.map(renderIteration),
      ...(found.length > limit && last !== undefined ? { nextCursor: renderCursor(run.id, last.position) } : {}),
    });
  });

  routes.get('/:runId/iterations/:iterationId/steps', (c) => {
    const run = findRun(c);
    const progress = store.iterations.getProgress(run.id, c.req.param('iterationId'));
    if (progress === undefined) throw notFound('Iteration');
    return c.json({ items: listSteps(progress, store.plannedCases.get(run.id, progress.caseKey)) });
  });

  routes.get('/:runId/iterations/:iterationId/trace', (c) => {
    const run = findRun(c);
    const iterationId = c.req.param('iterationId');
    if (store.iterations.getProgress(run.id, iterationId) === undefined) throw notFound('Iteration');
    const trace = store.iterations.getTrace(run.id, iterationId);
    if (trace === undefined) {
      throw new ApiError('NOT_FOUND', 'The iteration has no trace.', { details: { reason: 'TRACE_NOT_AVAILABLE' } });
    }
    return c.body(trace, 200, { 'content-type': 'application/json' });
  });
  return routes;
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
