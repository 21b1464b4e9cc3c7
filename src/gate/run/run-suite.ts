import type { Clock } from '../../base/clock.ts';
import { formatCount } from '../../base/count.ts';
import type { Logger } from '../../base/logger.ts';
import type { SuiteOutline, SuiteResults } from '../../model/results.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { outlineSuite } from '../../suite/manifest.ts';
import { disagreesWithService } from '../../verdict/gaps.ts';
import { createTally, type SuiteEnd, type Tally } from '../../verdict/tally.ts';
import type { ConnectedService } from './connect-service.ts';
import type { EvidenceCollector } from './evidence.ts';
import { explainInterruption } from './interruption.ts';
import type { IterationLog } from './iteration-log.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import { openTraceJudge } from './judge-here.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';
import { prepareFileSuite, type PreparedSuite } from './prepare-suite.ts';
import type { ProgressListener } from './progress.ts';
import { explainFailures, logTraces, readIterations, rereadRun } from './read-results.ts';
import { watchSpending } from './spending.ts';
import { type StartedRun, startRun } from './start-run.ts';
import { openEarlyStop, type EarlyStop } from './stop-early.ts';
import type { Teardown } from './teardown.ts';
import type { TraceLog } from './trace-log.ts';
import { startWallTimeBudget } from './wall-time.ts';
import type { Watch } from './watch.ts';
import { prepareStoredSuite } from './prepare-stored-suite.ts';

export interface SuiteRunContext {
  plan: GatePlan;
  service: ConnectedService;
  /** Null where a suite of the service runs on the servers saved in it. */
  server: RegisteredServer | null;
  watch: Watch;
  teardown: Teardown;
  clock: Clock;
  logger: Logger;
  iterationLog: IterationLog;
  /** Null if not requested. */
  traceLog: TraceLog | null;
  evidence: EvidenceCollector;
  onProgress: ProgressListener;
  /** Where it is not the first run of the suite: what of it is run again, and in which round. */
  retry?: { prepared: PreparedSuite; round: number };
}

export interface RanSuite {
  results: SuiteResults;
  /** With the ids of every case, so that some of them can be run again; null where no run was started. */
  prepared: PreparedSuite | null;
}

/**
 * Takes one suite through the service: brings it there, starts its run, waits for the end, reads every page of iterations.
 * Always returns results: what cut the run short stands in `interruption`, and whatever was read before is kept.
 */
export async function runSuite(planned: PlannedSuite, context: SuiteRunContext): Promise<RanSuite> {
  const end: SuiteEnd = { ...nothingRun };
  let tally = createPlannedTally(planned);
  let started: PreparedSuite | null = null;
  let isStoppedEarly = false;
  try {
    const prepared = context.retry?.prepared ?? (await prepareSuite(planned, context));
    tally = createTally(prepared.outline, prepared);
    if (planned.kind === 'file') {
      const { concurrency } = planned;
      context.service.scheduling?.setSuite(prepared.suiteId, { concurrency, serverId: context.server?.id });
    }
    const run = await startRun(prepared, context);
    started = { ...prepared, caseIds: run.caseIds };
    tally = createTally(prepared.outline, started);
    end.runUrl = run.url;
    end.run = run.current();
    await using early = watchForStop(run, { prepared: started, planned }, context);
    end.interruption = await waitForEnd(run, planned, context);
    end.run = run.current();
    end.tunnelBreaks = run.countBreaks();
    isStoppedEarly = early?.hasAsked() === true && end.run.status === 'cancelled';
    const judge = started.judgedHere === null ? null : await openTraceJudge(started.judgedHere, started.caseIds);
    const suite = prepared.outline;
    await readIterations(end.run.id, { suite, tally, judge }, context);
    end.isComplete = true;
    if (end.interruption === null && disagreesWithService(tally.finish(end))) {
      const second = createTally(prepared.outline, {
        ...prepared,
        caseIds: run.caseIds,
        earlier: tally.describeReading(),
      });
      end.run = await rereadRun(end.run.id, context);
      await readIterations(end.run.id, { suite, tally: second, judge }, context);
      tally = second;
    }
    // A further round shows whether the case passes; why it failed stands in the first one.
    if (context.retry === undefined) await explainFailures(end.run.id, { suite, tally, judge }, context);
    await logTraces(end.run.id, context);
  } catch (error) {
    end.interruption ??= explainInterruption(error);
  }
  const concurrency = context.service.scheduling?.getReport(end.run?.id ?? '') ?? null;
  const results = { ...tellSpent(tally.finish(end)), isStoppedEarly, concurrency };
  for (const result of results.cases) context.onProgress({ kind: 'case-read', suite: results.name, result });
  return { results, prepared: started };
}

/** Null where the run is to go on to its end. */
function watchForStop(
  run: StartedRun,
  suite: { prepared: PreparedSuite; planned: PlannedSuite },
  context: SuiteRunContext,
): EarlyStop | null {
  if (!context.plan.stopsEarly || context.retry !== undefined) return null;
  return openEarlyStop(run, suite, context);
}

async function waitForEnd(
  run: StartedRun,
  { demands: { budgets } }: PlannedSuite,
  context: SuiteRunContext,
): Promise<VerdictReason | null> {
  using _time = startWallTimeBudget(budgets.wallTimeMs, context);
  using _spending = watchSpending(budgets, run.current().id, context);
  return await run.waitForEnd();
}

/** The end of a suite of which nothing was run. */
export const nothingRun: SuiteEnd = {
  run: null,
  runUrl: null,
  isComplete: false,
  tunnelBreaks: 0,
  interruption: null,
};

/** What was spent when a budget ended the run, so far as it could still be read. */
function tellSpent(results: SuiteResults): SuiteResults {
  const { interruption, cases, iterationsRead } = results;
  if (interruption?.code !== 'budget-exceeded') return results;
  const tokens = cases.reduce((sum, { tokensUsed }) => sum + tokensUsed, 0);
  const spent = `Spent by then: ${formatCount(iterationsRead, 'iteration')}, ${formatCount(tokens, 'token')}.`;
  return { ...results, interruption: { ...interruption, message: `${interruption.message} ${spent}` } };
}

/** Counts nothing yet: what stands in the report for a suite of which nothing was run. */
export function createPlannedTally(planned: PlannedSuite): Tally {
  const { minimumPassRate, minimumPassRateSource } =
    planned.kind === 'file'
      ? planned
      : {
          minimumPassRate: planned.minimumPassRate?.value ?? 1,
          minimumPassRateSource: planned.minimumPassRate?.source ?? 'default',
        };
  return createTally(outlinePlanned(planned), { minimumPassRate, minimumPassRateSource, caseIds: new Map() });
}

function outlinePlanned(planned: PlannedSuite): SuiteOutline {
  if (planned.kind === 'file') return outlineSuite(planned.suite, planned.whole);
  return { id: planned.suite, name: planned.suite, file: null, cases: [], leftOut: [] };
}

async function prepareSuite(planned: PlannedSuite, context: SuiteRunContext): Promise<PreparedSuite> {
  const { service, server, plan, logger, watch } = context;
  const signal = watch.callOff;
  if (planned.kind === 'stored') {
    return await prepareStoredSuite(planned, { service, server, plan, logger, signal });
  }
  // The options demand a server wherever evals files are run.
  if (server === null) throw new Error('An evals file was planned without a server to run it against.');
  return await prepareFileSuite(planned, { service, server, logger, signal });
}
