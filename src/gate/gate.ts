import type { Clock } from '../base/time.ts';
import { CancelledError, ServerStartError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { redactDeep, type Redactor } from '../base/redaction.ts';
import { generator } from '../base/version.ts';
import { appendAll } from '../base/lists.ts';
import type { Evidence } from '../model/evidence.ts';
import type { Report, ServerReport, Trend } from '../model/report.ts';
import { buildReport } from '../report/build.ts';
import { listRevisionDifferences } from '../verdict/compare-revisions.ts';
import { judgeSuite, type SuiteJudgement } from '../verdict/judge.ts';
import { judgeGate, type MeasuredSuite, type SurfaceResults } from '../verdict/judge-gate.ts';
import { type ConnectedService, connectService } from './run/connect-service.ts';
import { createEvidenceCollector, type EvidenceCollector } from './run/evidence.ts';
import {
  createTeardown,
  explainInterruption,
  type RunLifetime,
  startRunLifetime,
  type Teardown,
} from './run/run-lifetime.ts';
import { noIterationLog, openIterationLog, openTraceLog, type TraceLog } from './run/trace-log.ts';
import { composePolicy } from './judge/compose-policy.ts';
import { createResultKeeper, type KeptResults } from './run/keep-results.ts';
import type { MadeRecording } from './run/open-models.ts';
import { noteSnapshots, type TakenSnapshot } from './run/snapshots.ts';
import type { RemoteResources } from './run/cleanup-journal.ts';
import type { GatePlan } from './plan/plan.ts';
import type { PlannedBaseline } from './plan/plan-past.ts';
import type { ProgressListener } from './run/progress.ts';
import { openBase } from './run/open-base.ts';
import { runPlannedSuite } from './run/run-rounds.ts';
import { describeUnrun } from './run/planned-results.ts';
import type { RanSuite } from './run/run-suite.ts';
import { createServerWitnesses, createTestServers, noteFindings } from './run/test-servers.ts';
import { judgeShards } from './judge/rejudge.ts';
import { buildTrend } from '../history/lookup.ts';
import { openJobSurface } from './run/read-surface.ts';
import { readBaseline } from './run/read-baseline.ts';
import { retrySuites } from './run/retry-failed.ts';

/** What the gate needs of its surroundings. */
export interface GateContext {
  clock: Clock;
  logger: Logger;
  /** Receives every secret before anything could print it. */
  redactor: Redactor;
  /** Aborting stops everything that was started and makes the verdict inconclusive. */
  signal: AbortSignal;
  /** When the job started, whose day in UTC decides which quarantine entries hold; the time of the call unless given. */
  startedAt?: Date;
  /** The job's environment, of which the server under test gets an allow-listed part. */
  environment: Readonly<Record<string, string | undefined>>;
  onProgress?: ProgressListener;
  /** Adds to what is collected of iterations. */
  watchEvidence?: (within: EvidenceCollector, plan: GatePlan) => EvidenceCollector;
  /** Put into the environment of every process that is started, so that processes that outlive the gate can be found by it. */
  processMarker?: string;
  /** Receives what a hosted service holds of this job, with every change, so that another process can clear it. */
  saveRemoteResources?: (resources: RemoteResources | null) => void;
}

export interface GateHooks {
  /** Called before anything starts, once no secret of the plan can be printed. */
  announce?: () => Promise<void>;
}

export interface GateResult {
  report: Report;
  /** What the report's page shows in addition to the report; null where nothing was run. */
  evidence: Evidence | null;
  /** Where the traces are, one request to a collector a line; null if not requested, or if there are none. */
  tracePath: string | null;
  /** What is uploaded in addition to the report; null where nothing is. */
  kept: KeptResults | null;
  /** Answers of providers in this gate, as recordings. */
  recordings: readonly MadeRecording[];
  /** Snapshots that the gate took instead of comparing with them, where they are other than their files. */
  snapshots: readonly TakenSnapshot[];
  /** 0 passed, or what the policy lets pass · 1 failed · 3 inconclusive · 129, 130, 131, 143 stopped by a signal. */
  exitCode: 0 | 1 | 3 | 129 | 130 | 131 | 143;
}

/**
 * Runs the gate: starts the server under test, runs the suites against it, judges, and leaves nothing running. Whatever
 * the surroundings do ends in a report with an inconclusive verdict; only a bug of the gate is thrown.
 */
export async function gate(plan: GatePlan, context: GateContext, { announce }: GateHooks = {}): Promise<GateResult> {
  const { clock, signal } = context;
  const startedAt = (context.startedAt ?? new Date(clock.now())).toISOString();
  const today = startedAt.slice(0, 'YYYY-MM-DD'.length);
  const startedMs = clock.monotonicMs();
  for (const secret of plan.secrets) context.redactor.add(secret);
  await announce?.();
  for (const note of plan.notes) context.logger.warning(note);
  for (const remark of plan.remarks) context.logger.info(remark);
  if (plan.merge !== null) {
    const { report, exit } = judgeShards(plan.merge, plan);
    for (const warning of exit.warnings) context.logger.warning(warning);
    return { report, ...nothingRan, exitCode: exit.exitCode };
  }
  using lifetime = startRunLifetime(clock, { timeoutMs: plan.timeoutMs, signal });

  const ran = await runSuites(plan, { ...context, lifetime, today });
  const { server, otherServers, serverNotes, answerNotes, suites, baseline, evidence, tracePath, kept, recordings } =
    ran;
  const { snapshots, measured } = ran;
  const policy = composePolicy(suites, { plan, baseline, today });
  const { exit, ...judgement } = judgeGate(
    suites.map(({ results }) => results),
    policy,
    measured,
  );
  const differences = listRevisionDifferences(suites.map(({ results }) => results));
  const runNotes = [...serverNotes, ...differences, ...answerNotes, ...noteSnapshots(snapshots)];
  const notes = [...plan.policyNotes, ...runNotes, ...exit.notes];
  const stopsJob = exit.exitCode !== 0 || lifetime.abort.reason instanceof CancelledError;
  const { revision, shard } = plan;
  const trend = readTrend(plan);
  const report = buildReport(
    redactDeep(
      {
        startedAt,
        durationMs: Math.round(clock.monotonicMs() - startedMs),
        generator,
        revision,
        shard,
        server,
        otherServers,
        trend,
        policy,
        ...judgement,
        notes,
        stopsJob,
        ...measured,
      },
      context.redactor,
    ),
  );
  for (const warning of [...listStale(judgement.suites), ...exit.warnings]) context.logger.warning(warning);
  const exitCode = lifetime.abort.reason instanceof CancelledError ? lifetime.abort.reason.exitCode : exit.exitCode;
  return { report, evidence: redactDeep(evidence, context.redactor), tracePath, kept, recordings, snapshots, exitCode };
}

const nothingRan = { evidence: null, tracePath: null, kept: null, recordings: [], snapshots: [] } as const;

/** A part of the cases is no point of a trend of the whole. */
function readTrend({ history, revision, shard }: GatePlan): Trend | null {
  if (history === null || shard !== null) return null;
  return buildTrend(history.records, revision?.branch ?? null);
}

/** What is not as the policy wants it and only warns. */
function listStale(suites: ReadonlyArray<Pick<SuiteJudgement, 'demands'>>): string[] {
  return suites.flatMap(({ demands }) =>
    demands.filter(({ state, isDecisive }) => state === 'not-met' && !isDecisive).map(({ finding }) => finding),
  );
}

/** Opens everything the suites need, in the order of the data flow; all of it is undone on every way out. */
async function runSuites(
  plan: GatePlan,
  { lifetime, today, ...context }: GateContext & { lifetime: RunLifetime; today: string },
): Promise<{
  server: ServerReport | null;
  otherServers: ServerReport[];
  serverNotes: string[];
  answerNotes: string[];
  suites: MeasuredSuite[];
  baseline: PlannedBaseline | null;
  evidence: Evidence;
  tracePath: string | null;
  kept: KeptResults | null;
  recordings: MadeRecording[];
  snapshots: TakenSnapshot[];
  measured: SurfaceResults;
}> {
  const { clock, logger, redactor, environment, processMarker, watchEvidence } = context;
  const onProgress = context.onProgress ?? (() => {});
  const suites: MeasuredSuite[] = [];
  const collector = createEvidenceCollector(redactor, { keepsTraces: plan.isFullReport });
  const keeper = plan.upload === null ? null : createResultKeeper(collector, { redactor });
  const evidence = keeper ?? collector;
  const witnesses = createServerWitnesses(redactor);
  const servers = createTestServers(plan, { witnesses, environment, processMarker });
  let traceLog: TraceLog | null = null;
  let { baseline } = plan;
  let recordings: MadeRecording[] = [];
  let snapshots: TakenSnapshot[] = [];
  const surfaces = await openJobSurface(plan);
  let isOver = false;
  let answerNotes: string[] = [];
  let findings: string[] = [];
  try {
    let scope: { service: ConnectedService; teardown: Teardown } | null = null;
    const job = { plan, lifetime, clock, logger, redactor, environment, processMarker, witnesses };
    await using base = plan.base === null ? null : await openBase(plan.base, { ...job, getScope: () => scope });
    await base?.prepare();
    const reaching = { ...context, signal: lifetime.cancelRun, deadline: lifetime.deadline, witnesses };
    await using service = await connectService(plan, reaching);
    await using _recordings = {
      [Symbol.asyncDispose]: async () => {
        recordings = (await service.models?.collect()) ?? [];
        snapshots = service.snapshots?.listChanged() ?? [];
      },
    };
    await using teardown = createTeardown(logger, () =>
      isOver && !lifetime.cancelRun.aborted ? lifetime.deadline.remainingMs() : 0,
    );
    await using iterationLog = plan.isFullReport ? await openIterationLog(plan.reportDir, context) : noIterationLog;
    await using traces = plan.hasTraceLog ? await openTraceLog(plan, context) : null;
    traceLog = traces;
    scope = { service, teardown };
    const opening = { lifetime, teardown, clock, logger, redactor, onProgress };
    await servers.open(service, opening);
    if (plan.service.hosted !== null && plan.servers.length > 1) {
      // Loaded with the first tunnel.
      const { refuseToolClashes } = await import('./run/tool-clashes.ts');
      await refuseToolClashes(plan.suites, servers.listTargets(), { service, clock, signal: lifetime.cancelRun });
    }
    await surfaces.read(servers.listTargets(), { base, clock, signal: lifetime.cancelRun });
    const shared = { service, ...opening, evidence: surfaces.watch(watchEvidence?.(evidence, plan) ?? evidence) };
    if (baseline !== null && baseline.baseline === null) {
      baseline = {
        ...baseline,
        baseline: await readBaseline(baseline, plan.suites, { service, lifetime, logger }),
      };
    }
    const { stopsEarly, timeoutMs } = plan;
    const ran: RanSuite[] = [];
    const suiteContext = { ...shared, today, serviceOptions: plan.service, iterationLog, traceLog };
    for (const planned of plan.suites) {
      const context = { ...suiteContext, servers: servers.find(planned) };
      const suite =
        base === null || planned.kind === 'stored'
          ? await runPlannedSuite(planned, { ...context, stopsEarly })
          : await base.run(planned, { confirms: baseline === null }, context);
      ran.push(suite);
      suites.push(suite);
    }
    await base?.cache.save();
    await retrySuites({ planned: plan.suites, ran, measured: suites, servers }, { ...suiteContext, timeoutMs });
    answerNotes = service.answers?.listUnused(plan.suites) ?? [];
    if (suites.some(lacksResults)) findings = await servers.diagnose(lifetime.cancelRun);
    // What was cut short may have left something that has to be looked for, for which seconds must do.
    isOver = suites.every(
      ({ results: { interruption, retries } }) =>
        interruption === null && retries.every(({ shortfall }) => shortfall === null),
    );
    const isPassed = ({ results, requirements }: MeasuredSuite) =>
      judgeSuite(results, { policy: { requirements, today } }).outcome === 'passed';
    if (!suites.every(isPassed)) showLastWords(logger, servers.stderrTail());
  } catch (error) {
    const interruption = explainInterruption(error);
    if (error instanceof ServerStartError) {
      showLastWords(logger, error.stderrTail);
      findings = noteFindings(error.findings);
    }
    const unrun = plan.suites.slice(suites.length);
    appendAll(
      suites,
      unrun.map((planned) => describeUnrun(planned, interruption)),
    );
  }
  const tracePath = traceLog?.path() ?? null;
  const kept = keeper?.kept() ?? null;
  const [server = null, ...otherServers] = servers.report();
  const serverNotes = [...servers.listNotes(), ...findings];
  return {
    server,
    otherServers,
    serverNotes,
    answerNotes,
    suites,
    baseline,
    evidence: evidence.collect(),
    tracePath,
    kept,
    recordings,
    snapshots,
    measured: surfaces.report(),
  };
}

/** What ends a run without saying anything about the server. */
const ownLimits: ReadonlySet<string> = new Set(['cancelled', 'deadline', 'budget-exceeded']);

/** Whether the server may be why results are missing. */
function lacksResults({ results: { interruption, cases } }: MeasuredSuite): boolean {
  return interruption === null ? cases.some(({ unscored }) => unscored > 0) : !ownLimits.has(interruption.code);
}

function showLastWords(logger: Logger, lines: readonly string[]): void {
  if (lines.length > 0) logger.group('Last lines of the server’s stderr', lines);
}
