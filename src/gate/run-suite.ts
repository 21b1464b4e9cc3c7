import { ServiceError } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { OwnJudgement, SuiteOutline, SuiteResults } from '../model/results.ts';
import type { Iteration, Run } from '../model/run.ts';
import type { VerdictReason } from '../model/verdict.ts';
import { getTrace, listIterations, listSteps } from '../service/iterations.ts';
import { getRun } from '../service/runs.ts';
import { outlineSuite } from '../suite/outline.ts';
import { disagreesWithService } from '../verdict/judge.ts';
import { createTally, type Tally } from '../verdict/tally.ts';
import type { ConnectedService } from './connect-service.ts';
import { explainInterruption } from './interruption.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import { openTraceJudge, type TraceJudge } from './judge-here.ts';
import type { GatePlan } from './plan.ts';
import type { PlannedSuite } from './plan-suites.ts';
import { prepareStoredSuite } from './prepare-stored-suite.ts';
import { prepareFileSuite, type PreparedSuite } from './prepare-suite.ts';
import type { ProgressListener } from './progress.ts';
import { startRun } from './start-run.ts';
import type { Teardown } from './teardown.ts';
import type { Watch } from './watch.ts';

export interface SuiteRunContext {
  plan: GatePlan;
  service: ConnectedService;
  /** Null where a suite of the service runs on the servers saved in it. */
  server: RegisteredServer | null;
  watch: Watch;
  teardown: Teardown;
  clock: Clock;
  logger: Logger;
  onProgress: ProgressListener;
}

/**
 * Takes one suite through the service: brings it there, starts its run, waits for the end, reads every page of iterations.
 * Always returns results: what cut the run short stands in `interruption`, and whatever was read before is kept.
 */
export async function runSuite(planned: PlannedSuite, context: SuiteRunContext): Promise<SuiteResults> {
  const end: { run: Run | null; runUrl: string | null; isComplete: boolean; interruption: VerdictReason | null } = {
    run: null,
    runUrl: null,
    isComplete: false,
    interruption: null,
  };
  let tally = createPlannedTally(planned);
  try {
    const prepared = await prepareSuite(planned, context);
    tally = createTally(prepared.outline, prepared);
    const run = await startRun(prepared, context);
    tally = createTally(prepared.outline, { ...prepared, caseIds: run.caseIds });
    end.runUrl = run.url;
    end.run = run.current();
    end.interruption = await run.waitForEnd();
    end.run = run.current();
    const judge = prepared.judgedHere === null ? null : await openTraceJudge(prepared.judgedHere, run.caseIds);
    await readIterations(end.run.id, { tally, judge }, context);
    end.isComplete = true;
    if (end.interruption === null && disagreesWithService(tally.finish(end))) {
      const second = createTally(prepared.outline, { ...prepared, caseIds: run.caseIds });
      end.run = await rereadRun(end.run.id, context);
      await readIterations(end.run.id, { tally: second, judge }, context);
      tally = second;
    }
  } catch (error) {
    end.interruption ??= explainInterruption(error);
  }
  const results = tally.finish(end);
  for (const result of results.cases) context.onProgress({ kind: 'case-read', suite: results.name, result });
  return results;
}

/** Services count in one place and list in another, of which one may lag behind; a moment later they often agree. */
async function rereadRun(runId: string, { service, watch, clock, logger }: SuiteRunContext): Promise<Run> {
  const { client, projectId } = service;
  logger.info('The iterations do not add up to what the service counts; reading them once more.');
  await clock.sleep(lagMs, { signal: watch.stop });
  return await getRun(client, { projectId, runId, signal: watch.stop });
}

const lagMs = 2000;

/** Counts nothing yet: what stands in the report for a suite of which nothing was run. */
export function createPlannedTally(planned: PlannedSuite): Tally {
  const { minimumPassRate, minimumPassRateSource } =
    planned.kind === 'file'
      ? planned
      : { minimumPassRate: planned.minimumPassRate ?? 1, minimumPassRateSource: 'min-pass-rate' };
  return createTally(outlinePlanned(planned), { minimumPassRate, minimumPassRateSource, caseIds: new Map() });
}

function outlinePlanned(planned: PlannedSuite): SuiteOutline {
  if (planned.kind === 'file') return outlineSuite(planned.suite);
  return { id: planned.suite, name: planned.suite, file: null, cases: [] };
}

async function prepareSuite(planned: PlannedSuite, context: SuiteRunContext): Promise<PreparedSuite> {
  const { service, server, plan, logger, watch } = context;
  const signal = watch.callOff;
  if (planned.kind === 'stored') return await prepareStoredSuite(planned, { service, server, plan, logger, signal });
  // The options demand a server wherever evals files are run.
  if (server === null) throw new Error('An evals file was planned without a server to run it against.');
  return await prepareFileSuite(planned, { service, server, logger, signal });
}

/** Streams every page into the tally; steps are read only of iterations whose failure will be shown. */
async function readIterations(
  runId: string,
  { tally, judge }: { tally: Tally; judge: TraceJudge | null },
  context: SuiteRunContext,
): Promise<void> {
  const { service, watch } = context;
  const { client, projectId } = service;
  for await (const page of listIterations(client, { projectId, runId, signal: watch.stop })) {
    for (const iteration of page) {
      const place = { projectId, runId, iterationId: iteration.id, signal: watch.stop };
      const read = tally.wantsSteps(iteration) ? await listSteps(client, place) : null;
      const steps = read === null || judge === null ? read : judge.placeSteps(iteration, read);
      const own = judge === null ? undefined : await judgeHere(iteration, judge, () => readTrace(context, place));
      tally.addIteration(iteration, steps, own);
    }
  }
}

/** Judges what the service could not, of an iteration that it passed. */
async function judgeHere(
  iteration: Iteration,
  judge: TraceJudge,
  loadTrace: () => Promise<unknown>,
): Promise<OwnJudgement | undefined> {
  if (iteration.result !== 'passed' || !judge.hasAssertions(iteration)) return undefined;
  return judge.judge(iteration, await loadTrace());
}

/** Undefined where the service keeps none. */
async function readTrace(
  { service: { client } }: SuiteRunContext,
  place: { projectId: string; runId: string; iterationId: string; signal: AbortSignal },
): Promise<unknown> {
  try {
    return await getTrace(client, place);
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}
