import type { Clock } from '../../base/time.ts';
import type { Logger } from '../../base/logger.ts';
import type { SuiteRequirements } from '../../model/policy.ts';
import type { ConcurrencyReport } from '../../model/concurrency.ts';
import type { ServerWitnesses } from '../../model/process-end.ts';
import type { SuiteOutline, SuiteResults } from '../../model/results.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { disagreesWithService } from '../../verdict/completeness.ts';
import { createTally, type SuiteEnd, type Tally } from '../../verdict/tally.ts';
import type { EvalBackend, RunStart, StartedRun } from './backend.ts';
import type { EvidenceCollector } from './evidence.ts';
import { explainInterruption, type RunLifetime, type Teardown } from './run-lifetime.ts';
import type { IterationLog, TraceLog } from './trace-log.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import { openTraceJudge, type TraceJudge } from './local-assertions.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';
import { createPlannedTally, fillMinimum, nothingRun } from './planned-results.ts';
import type { IterationNumbers, PreparedSuite } from './prepared-suite.ts';
import type { ProgressListener } from './progress.ts';
import { createExcuse } from './refusals.ts';
import { createRenumbering, explainFailures, logTraces, readIterations } from './read-results.ts';
import { addSpending, monitorBudgets, startWallTimeBudget } from './budget-monitor.ts';
import { openEarlyStop } from './stop-early.ts';

/** What the suites of a gate are run with. */
export interface SuiteRunContext {
  backend: EvalBackend;
  /** Empty where a suite of the service runs on the servers saved in it. */
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
  /** In UTC, `YYYY-MM-DD`. */
  today: string;
  /** How many minimums of the gate a confidence decides. */
  minimums: number;
  /** Set where the runs are for a comparison alone, as in the start of a run. */
  compared?: RunStart['compared'];
  /** A label that the runs of a comparison share. */
  groupId?: string;
  /** Runs the same cases elsewhere with every run; absent where nothing does. */
  partner?: RunPartner | undefined;
}

/** What runs next to the runs of a suite. */
export interface RunPartner {
  /** Calls `runOwn` once, with the suite as the service then has it, and runs the same cases before or after it. */
  runBeside(
    block: { prepared: PreparedSuite; numbers: IterationNumbers | null },
    runOwn: (prepared: PreparedSuite) => Promise<PreparedSuite>,
  ): Promise<void>;
}

export interface RanSuite {
  results: SuiteResults;
  /** What they are judged by; cases are named by their ids. */
  requirements: SuiteRequirements;
  /** With the ids of every case, so that some of them can be run again; null where no run was started. */
  prepared: PreparedSuite | null;
}

/**
 * Takes one suite through the backend: brings it there, starts its run, waits for the end, reads every page of iterations.
 * Always returns results: what cut the run short stands in `interruption`, and whatever was read before is kept.
 */
export async function runSuite(
  planned: PlannedSuite,
  { stopsEarly, ...context }: SuiteRunContext & { stopsEarly: boolean },
): Promise<RanSuite> {
  return await collectResults(planned, context, async (attempt) => {
    const { backend, servers, logger, lifetime } = context;
    const prepared = await backend.prepare(planned, { servers, logger, signal: lifetime.cancelRun });
    await (context.partner ?? alone).runBeside({ prepared, numbers: null }, async (own) => {
      const reading = await runPrepared(attempt, { prepared: own, planned, round: 0, stopsEarly }, context);
      await explainRun(reading, context);
      return attempt.prepared ?? own;
    });
  });
}

/**
 * Runs cases of a suite further that were prepared for its first run. `numbers` says, by case, which iterations these are of the gate:
 * a run counts its own from 1.
 */
export async function continueSuite(
  planned: PlannedSuite,
  { prepared, numbers }: { prepared: PreparedSuite; numbers: IterationNumbers },
  context: SuiteRunContext,
): Promise<RanSuite> {
  return await collectResults(planned, context, async (attempt) => {
    await (context.partner ?? alone).runBeside({ prepared, numbers }, async (own) => {
      const run = { prepared: own, planned, round: 0, stopsEarly: false, numbers };
      await explainRun(await runPrepared(attempt, run, context), context);
      return attempt.prepared ?? own;
    });
  });
}

const alone: RunPartner = { runBeside: async ({ prepared }, runOwn) => void (await runOwn(prepared)) };

async function explainRun(reading: RunReading, context: SuiteRunContext): Promise<void> {
  const { backend, lifetime, evidence, traceLog, logger } = context;
  const { run, runId } = reading;
  const { maxExplained } = backend.traits;
  await explainFailures(reading, { run, runId, signal: lifetime.abort, evidence, traceLog, maxExplained, logger });
  await logAllTraces(reading, context);
}

/**
 * Runs cases of a suite once more that were prepared for its first run. Failures are not explained: a further round shows whether a case
 * passes, and why it failed stands in the first one.
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

/** What a run has come to so far; it stands when the run is cut short. */
interface Attempt {
  end: SuiteEnd;
  tally: Tally;
  requirements: SuiteRequirements;
  /** Null where no run was started. */
  prepared: PreparedSuite | null;
  isStoppedEarly: boolean;
  concurrency: ConcurrencyReport | null;
}

/** Where the iterations of a finished run were read to. */
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

/** Starts the run of a prepared suite, waits for its end and reads its iterations, noting in the attempt what is known. */
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
  const run = await backend.start(prepared, { ...context, planned, numbers: numbers ?? null, compared, groupId });
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
  const excuse = createExcuse(servers, { run, signal: lifetime.abort });
  const renumber = numbers === undefined ? undefined : createRenumbering(numbers, run.caseIds);
  const reading = { run, runId, signal: lifetime.abort };
  const source = { ...reading, iterationLog, traceLog, evidence, round, excuse, renumber };
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

interface PreparedRun {
  prepared: PreparedSuite;
  planned: PlannedSuite;
  /** 0 for the first run of the suite. */
  round: number;
  stopsEarly: boolean;
  /** Where it is not the first run of these cases in the gate. */
  numbers?: IterationNumbers;
}

async function waitForEnd(
  run: StartedRun,
  { requirements: { budgets } }: PlannedSuite,
  context: Pick<SuiteRunContext, 'backend' | 'lifetime' | 'clock' | 'logger'>,
): Promise<VerdictReason | null> {
  using _time = startWallTimeBudget(budgets.wallTimeMs, context);
  // Calls that are made here keep the budget of tokens themselves, and a run that is cancelled loses what calls under way used.
  const { traits } = context.backend;
  const watched = traits.watchesProcesses ? { ...budgets, tokens: null } : budgets;
  using _spending = monitorBudgets(watched, { ...context, run, pollIntervalMs: traits.pollIntervalMs });
  return await run.waitForEnd();
}

/** Not for a hosted service, where each trace costs a request: its log has the traces of failures, which were read already. */
async function logAllTraces(
  { run, runId }: RunReading,
  { backend, lifetime, traceLog, logger }: SuiteRunContext,
): Promise<void> {
  if (traceLog === null || !backend.traits.hasAllTraces) return;
  await logTraces(traceLog, { run, runId, signal: lifetime.abort, logger });
}
