import { FirstFailureError } from '../../base/errors.ts';
import type { Clock } from '../../base/time.ts';
import type { Logger } from '../../base/logger.ts';
import type { SuiteRequirements } from '../../model/policy.ts';
import type { ConcurrencyReport } from '../../model/concurrency.ts';
import type { ServerWitnesses } from '../../model/process-end.ts';
import type { SuiteOutline, SuiteResults } from '../../model/results.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { isExempt } from '../../verdict/quarantine.ts';
import { disagreesWithService } from '../../verdict/completeness.ts';
import { createTally, type SuiteEnd, type Tally } from '../../verdict/tally.ts';
import type { EvalBackend, RunStart, StartedRun } from './backend.ts';
import type { EvidenceCollector } from './evidence-log.ts';
import { explainInterruption, type RunLifetime, type Teardown } from './run-lifetime.ts';
import type { IterationLog, TraceLog } from './trace-log.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import { openTraceJudge, type TraceJudge } from './local-assertions.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';
import { createPlannedTally, fillMinimum, nothingRun } from './planned-results.ts';
import type { IterationNumbers, PreparedSuite } from './prepared-suite.ts';
import type { ProgressListener } from './progress.ts';
import { createRefusalMarker } from './refusals.ts';
import { createRenumbering, explainFailures, logTraces, readIterations } from './read-results.ts';
import { addSpending, monitorBudgets, startWallTimeBudget } from './budget-monitor.ts';
import { openEarlyStop } from './stop-early.ts';

/** The inputs of the runs of a gate's suites. */
export interface SuiteRunContext {
  backend: EvalBackend;
  /** Empty if a suite of the service runs on the servers saved in the service. */
  servers: readonly RegisteredServer[];
  witnesses: ServerWitnesses;
  lifetime: RunLifetime;
  teardown: Teardown;
  clock: Clock;
  logger: Logger;
  iterationLog: IterationLog;
  /** Null if not requested. */
  traceLog: TraceLog | null;
  evidence: EvidenceCollector;
  onProgress: ProgressListener;
  /** A day in UTC, `YYYY-MM-DD`. */
  today: string;
  /** True if the gate stops at the first failure. */
  bails: boolean;
  /** The number of the gate's minimums that a confidence decides. */
  minimums: number;
  /** Set if the runs are only for a comparison, as in the start of a run. */
  compared?: RunStart['compared'];
  /** A label that the runs of a comparison share. */
  groupId?: string;
  /** Runs the same cases on the other side with every run; absent without another side. */
  otherSide?: OtherSide | undefined;
}

/** Runs the cases of another side next to the runs of a suite. */
export interface OtherSide {
  /** Calls `runOwn` once, with the suite that the service then has, and runs the same cases before or after it. */
  runBoth(
    block: { prepared: PreparedSuite; numbers: IterationNumbers | null },
    runOwn: (prepared: PreparedSuite) => Promise<PreparedSuite>,
  ): Promise<void>;
}

export interface RanSuite {
  results: SuiteResults;
  /** The requirements that they are judged by; they name cases by their ids. */
  requirements: SuiteRequirements;
  /** Has the ids of every case, so that some of them can run again; null if no run was started. */
  prepared: PreparedSuite | null;
}

/**
 * Runs one suite with the backend: prepares it, starts its run, waits for the end, reads every page of iterations. Always returns results:
 * `interruption` says what cut the run short, and everything that was read before is kept.
 */
export async function runSuite(
  planned: PlannedSuite,
  { stopsEarly, ...context }: SuiteRunContext & { stopsEarly: boolean },
): Promise<RanSuite> {
  return await collectResults(planned, context, async (attempt) => {
    const { backend, servers, logger, lifetime } = context;
    const prepared = await backend.prepare(planned, { servers, logger, signal: lifetime.cancelRun });
    await (context.otherSide ?? noOtherSide).runBoth({ prepared, numbers: null }, async (own) => {
      const reading = await runPrepared(attempt, { prepared: own, planned, round: 0, stopsEarly }, context);
      await explainRun(reading, context);
      return attempt.prepared ?? own;
    });
  });
}

/**
 * Runs further iterations of cases that were prepared for the suite's first run. `numbers` has the numbers of these iterations within the gate, by
 * case: a run counts its own iterations from 1.
 */
export async function continueSuite(
  planned: PlannedSuite,
  { prepared, numbers }: { prepared: PreparedSuite; numbers: IterationNumbers },
  context: SuiteRunContext,
): Promise<RanSuite> {
  return await collectResults(planned, context, async (attempt) => {
    await (context.otherSide ?? noOtherSide).runBoth({ prepared, numbers }, async (own) => {
      const run = { prepared: own, planned, round: 0, stopsEarly: false, numbers };
      await explainRun(await runPrepared(attempt, run, context), context);
      return attempt.prepared ?? own;
    });
  });
}

const noOtherSide: OtherSide = { runBoth: async ({ prepared }, runOwn) => void (await runOwn(prepared)) };

async function explainRun(reading: RunReading, context: SuiteRunContext): Promise<void> {
  const { backend, lifetime, evidence, traceLog, logger } = context;
  const { run, runId } = reading;
  const { maxExplained } = backend.traits;
  await explainFailures(reading, { run, runId, signal: lifetime.abort, evidence, traceLog, maxExplained, logger });
  await logAllTraces(reading, context);
}

/**
 * Runs cases again that were prepared for the suite's first run. Does not explain failures: a further round shows whether a case passes,
 * and the first run has the reason of its failure.
 */
export async function rerunSuite(
  planned: PlannedSuite,
  { prepared, round }: { prepared: PreparedSuite; round: number },
  context: SuiteRunContext,
): Promise<RanSuite> {
  return await collectResults(planned, context, async (attempt) => {
    await logAllTraces(await runPrepared(attempt, { prepared, planned, round, stopsEarly: false }, context), context);
  });
}

/** The results of a run so far; they stand if the run is cut short. */
interface Attempt {
  end: SuiteEnd;
  tally: Tally;
  requirements: SuiteRequirements;
  /** Null if no run was started. */
  prepared: PreparedSuite | null;
  isStoppedEarly: boolean;
  concurrency: ConcurrencyReport | null;
}

/** The reading of the iterations of a finished run. */
interface RunReading {
  run: StartedRun;
  runId: string;
  suite: SuiteOutline;
  tally: Tally;
  judge: TraceJudge | null;
}

async function collectResults(
  planned: PlannedSuite,
  { onProgress }: Pick<SuiteRunContext, 'onProgress'>,
  run: (attempt: Attempt) => Promise<void>,
): Promise<RanSuite> {
  const attempt: Attempt = {
    end: { ...nothingRun },
    tally: createPlannedTally(planned),
    requirements: fillMinimum(planned),
    prepared: null,
    isStoppedEarly: false,
    concurrency: null,
  };
  const { end } = attempt;
  try {
    await run(attempt);
  } catch (error) {
    end.interruption ??= explainInterruption(error);
  }
  const { requirements, isStoppedEarly, prepared, concurrency } = attempt;
  const results = { ...addSpending(attempt.tally.finish(end)), isStoppedEarly, concurrency };
  for (const result of results.cases) onProgress({ kind: 'case-read', suite: results.name, result });
  return { results, requirements, prepared };
}

/** Starts the run of a prepared suite, waits for its end and reads its iterations. Notes the results so far in the attempt. */
async function runPrepared(
  attempt: Attempt,
  { prepared, planned, round, stopsEarly, numbers }: PreparedRun,
  context: SuiteRunContext,
): Promise<RunReading> {
  const { backend, servers, lifetime, clock, logger, iterationLog, traceLog, evidence, today } = context;
  const { end } = attempt;
  const { requirements } = prepared;
  attempt.requirements = requirements;
  attempt.tally = createTally(prepared.outline, prepared);
  const { compared = null, groupId = null } = context;
  const onFailure =
    compared === null && context.bails ? (caseId: string) => stopAtFailure(caseId, prepared, context) : undefined;
  const start = { ...context, planned, numbers: numbers ?? null, compared, groupId, onFailure };
  const run = await backend.start(prepared, start);
  attempt.concurrency = run.concurrency;
  const started = { ...prepared, caseIds: run.caseIds };
  attempt.prepared = started;
  attempt.tally = createTally(prepared.outline, started);
  end.runUrl = run.url;
  end.run = run.current();
  await using early = stopsEarly
    ? openEarlyStop(
        run,
        { prepared: started, policy: { requirements, today } },
        { clock, logger, signal: lifetime.cancelRun },
      )
    : null;
  end.interruption = await waitForEnd(run, planned, { backend, lifetime, clock, logger });
  end.run = run.current();
  end.tunnelBreaks = run.countBreaks();
  attempt.isStoppedEarly = early?.hasAsked() === true && end.run.status === 'cancelled';
  const { judgedHere, caseIds } = started;
  const judge = judgedHere === null ? null : await openTraceJudge(judgedHere.suite, caseIds, judgedHere.dialect);
  const suite = prepared.outline;
  const runId = end.run.id;
  const markRefused = createRefusalMarker(servers, { run, signal: lifetime.abort });
  const renumber = numbers === undefined ? undefined : createRenumbering(numbers, run.caseIds);
  const reading = { run, runId, signal: lifetime.abort };
  const source = { ...reading, iterationLog, traceLog, evidence, round, markRefused, renumber };
  await readIterations({ suite, tally: attempt.tally, judge }, source);
  end.isComplete = true;
  if (end.interruption === null && disagreesWithService(attempt.tally.finish(end))) {
    const second = createTally(prepared.outline, {
      caseIds: run.caseIds,
      earlier: attempt.tally.describeReading(),
    });
    end.run = await run.reread(lifetime.abort);
    await readIterations({ suite, tally: second, judge }, source);
    attempt.tally = second;
  }
  return { run, runId, suite, tally: attempt.tally, judge };
}

/** Cancels the runs of the gate because of the first failure, if the case counts. */
function stopAtFailure(
  caseId: string,
  { outline, requirements }: PreparedSuite,
  { lifetime, today }: Pick<SuiteRunContext, 'lifetime' | 'today'>,
): void {
  if (isExempt(caseId, requirements, today)) return;
  const title = outline.cases.find(({ id }) => id === caseId)?.title ?? caseId;
  const message = `The gate stopped at the first failure, in ${JSON.stringify(title)} (bail); the rest did not run.`;
  lifetime.cancelOn(Promise.resolve(new FirstFailureError(message)));
}

interface PreparedRun {
  prepared: PreparedSuite;
  planned: PlannedSuite;
  /** 0 for the first run of the suite. */
  round: number;
  stopsEarly: boolean;
  /** Set if it is not the first run of these cases in the gate. */
  numbers?: IterationNumbers;
}

async function waitForEnd(
  run: StartedRun,
  { requirements: { budgets } }: PlannedSuite,
  context: Pick<SuiteRunContext, 'backend' | 'lifetime' | 'clock' | 'logger'>,
): Promise<VerdictReason | null> {
  using _time = startWallTimeBudget(budgets.wallTimeMs, context);
  // Calls in this process keep the budget of tokens themselves, and a cancelled run loses the usage of calls in progress.
  const { traits } = context.backend;
  const watched = traits.watchesProcesses ? { ...budgets, tokens: null } : budgets;
  using _spending = monitorBudgets(watched, { ...context, run, pollIntervalMs: traits.pollIntervalMs });
  return await run.waitForEnd();
}

/** Logs all traces, except for a hosted service, where each trace costs a request: its log has the traces of failures, which were read already. */
async function logAllTraces(
  { run, runId }: RunReading,
  { backend, lifetime, traceLog, logger }: SuiteRunContext,
): Promise<void> {
  if (traceLog === null || !backend.traits.hasAllTraces) return;
  await logTraces(traceLog, { run, runId, signal: lifetime.abort, logger });
}
