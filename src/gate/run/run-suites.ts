import { appendAll } from '../../base/lists.ts';
import { ServerStartError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { race } from '../../base/time.ts';
import type { Evidence } from '../../model/evidence.ts';
import type { ServerReport } from '../../model/report.ts';
import { namesWidgets } from '../../engine/find-checks.ts';
import { judgeSuite } from '../../verdict/judge.ts';
import type { MeasuredSuite, SurfaceResults } from '../../verdict/judge-gate.ts';
import { countMinimums } from '../../verdict/plan-rounds.ts';
import type { GateContext } from './context.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { PlannedBaseline } from '../plan/plan-past.ts';
import { confirmRegressions } from './confirm-regressions.ts';
import type { EvalBackend } from './backend.ts';
import { openBackend } from './open-backend.ts';
import { createEvidenceCollector } from './evidence-log.ts';
import { createResultKeeper, type KeptResults } from './keep-results.ts';
import { openBase } from './open-base.ts';
import type { MadeRecording } from './open-models.ts';
import { openSides } from './open-sides.ts';
import { describeUnrun } from './planned-results.ts';
import { openJobBehaviour } from './job-behaviour.ts';
import { openJobSurface } from './read-surface.ts';
import { retrySuites } from './retry-failed.ts';
import { createTeardown, explainInterruption, type RunLifetime, type Teardown } from './run-lifetime.ts';
import { runPlannedSuite } from './run-rounds.ts';
import type { RanSuite } from './run-suite.ts';
import type { SharedFiles } from './shared-files.ts';
import type { TakenSnapshot } from './snapshots.ts';
import type { MadeUpstream } from './job-upstream.ts';
import { hasUpstream } from '../plan/suite-workspaces.ts';
import { openPlaces } from './open-places.ts';
import { createServerWitnesses, createTestServers, noteFindings } from './test-servers.ts';
import { noIterationLog, openIterationLog, openTraceLog, type TraceLog } from './trace-log.ts';

/** The results of a gate's suites, before they are judged. */
export interface SuiteRuns {
  server: ServerReport | null;
  otherServers: ServerReport[];
  serverNotes: string[];
  answerNotes: string[];
  modelNotes: string[];
  suites: MeasuredSuite[];
  baseline: PlannedBaseline | null;
  evidence: Evidence;
  tracePath: string | null;
  kept: KeptResults | null;
  recordings: MadeRecording[];
  snapshots: TakenSnapshot[];
  /** The recordings of APIs that were made. */
  upstream: MadeUpstream[];
  measured: SurfaceResults;
}

/** Opens everything that the suites need, in the order of the data flow, and undoes all of it in every case. */
export async function runSuites(
  plan: GatePlan,
  { lifetime, today, ...context }: GateContext & { lifetime: RunLifetime; today: string },
): Promise<SuiteRuns> {
  const { clock, logger, redactor, environment, processMarker, watchEvidence } = context;
  const onProgress = context.onProgress ?? (() => {});
  const suites: MeasuredSuite[] = [];
  // Of a service, each trace would be a request more.
  const showsTimes = plan.reportFormats.includes('html') && plan.service.hosted === null;
  const collector = createEvidenceCollector(redactor, {
    traces: plan.isFullReport ? 'whole' : showsTimes ? 'times' : 'none',
    cases: plan.suites.flatMap((planned) => (planned.kind === 'file' ? planned.suite.cases : [])),
  });
  const keeper = plan.upload === null ? null : createResultKeeper(collector, { redactor });
  const evidence = keeper ?? collector;
  const witnesses = createServerWitnesses(redactor);
  const { openJobUpstream } = plan.suites.some(hasUpstream) ? await import('./job-upstream.ts') : {};
  await using upstream = openJobUpstream?.(plan, { environment, clock, redactor }) ?? null;
  await using sides =
    plan.base === null ? null : await openSides({ ...plan, base: plan.base }, { environment, logger });
  const side = sides?.change ?? null;
  using places = openPlaces(plan, side);
  const servers = createTestServers(plan, { witnesses, environment, processMarker, side, places, upstream });
  let traceLog: TraceLog | null = null;
  let { baseline } = plan;
  let recordings: MadeRecording[] = [];
  let snapshots: TakenSnapshot[] = [];
  const surfaces = await openJobSurface(plan);
  const behaviour = await openJobBehaviour(plan.behaviour);
  // Loaded before a server could overwrite it.
  const { findSharedFiles } = (sides?.shared.length ?? 0) > 0 ? await import('./shared-files.ts') : {};
  let sharedFiles: SharedFiles | undefined;
  let isOver = false;
  let answerNotes: string[] = [];
  let modelNotes: string[] = [];
  let findings: string[] = [];
  try {
    let scope: { backend: EvalBackend; teardown: Teardown } | null = null;
    const job = {
      plan,
      lifetime,
      clock,
      logger,
      redactor,
      environment,
      processMarker,
      witnesses,
      side: sides?.base ?? null,
      upstream,
    };
    await using base = plan.base === null ? null : await openBase(plan.base, { ...job, getScope: () => scope });
    await base?.prepare({ needsSetup: plan.behaviour !== null });
    // Compared before the server of the job starts, so that nothing else runs while calls are timed.
    await behaviour.compare(base, { ...context, cwd: plan.cwd, signal: lifetime.cancelRun });
    const reaching = { ...context, signal: lifetime.cancelRun, deadline: lifetime.deadline, witnesses, upstream };
    const { openCheckModules } = plan.checkModules === null ? {} : await import('./open-check-modules.ts');
    await using opened =
      plan.checkModules === null
        ? null
        : ((await openCheckModules?.(plan.checkModules, plan.ownChecks, { ...reaching, cwd: plan.cwd })) ?? null);
    const ownChecks = opened?.checks ?? plan.ownChecks;
    const { openTranscriptLog } = plan.reportFormats.includes('transcripts') ? await import('./transcript-log.ts') : {};
    await using transcripts = (await openTranscriptLog?.(plan, context)) ?? null;
    const running = transcripts === null ? reaching : { ...reaching, runCase: transcripts.runCase };
    await using backend = await openBackend({ ...plan, ownChecks }, { ...running, cwd: plan.cwd });
    await using _recordings = {
      [Symbol.asyncDispose]: async () => {
        ({ recordings, modelNotes, snapshots } = await backend.collect());
      },
    };
    await using teardown = createTeardown({ clock, logger }, () =>
      isOver && !lifetime.cancelRun.aborted ? lifetime.deadline.remainingMs() : 0,
    );
    await using iterationLog = plan.isFullReport ? await openIterationLog(plan.reportDir, context) : noIterationLog;
    await using traces = plan.hasTraceLog ? await openTraceLog(plan, context) : null;
    traceLog = traces;
    // Starts the browser before the server, which could replace the browser's program if no sandbox isolates the server.
    const showsApps = plan.suites.some((planned) => planned.kind === 'file' && namesWidgets(planned.suite));
    if (showsApps) await race(backend.startBrowser(), { signals: [lifetime.cancelRun] });
    scope = { backend, teardown };
    const opening = { lifetime, teardown, clock, logger, redactor, onProgress };
    // The comparison of the behaviour starts servers of its own.
    const isIdle = plan.suites.length === 0 && [plan.surface, plan.hosts, plan.coverage].every((part) => part === null);
    if (!isIdle) await servers.open(backend, opening);
    await surfaces.read(servers.listTargets(), { base, clock, signal: lifetime.cancelRun });
    const reading = { targets: servers.listTargets(), clock, signal: lifetime.cancelRun };
    sharedFiles = await findSharedFiles?.(plan.suites, { shared: sides?.shared ?? [], ...reading });
    if (sharedFiles?.warning != null) logger.warning(sharedFiles.warning);
    const shared = { backend, ...opening, evidence: surfaces.watch(watchEvidence?.(evidence, plan) ?? evidence) };
    if (baseline !== null && baseline.baseline === null) {
      baseline = {
        ...baseline,
        baseline: await backend.readBaseline(baseline, plan.suites, { lifetime, logger }),
      };
    }
    const { stopsEarly, timeoutMs } = plan;
    const ran: RanSuite[] = [];
    const minimums = countMinimums(
      plan.suites.map((planned) => describeUnrun(planned, null)),
      today,
    );
    const suiteContext = {
      ...shared,
      witnesses,
      today,
      bails: plan.bails,
      minimums,
      iterationLog,
      traceLog,
    };
    for (const planned of plan.suites) {
      const context = { ...suiteContext, servers: servers.find(planned) };
      const suite =
        base === null || planned.kind === 'stored'
          ? await runPlannedSuite(planned, { ...context, stopsEarly })
          : await base.run(
              planned,
              { confirmsAbove: baseline === null ? plan.limits.maximumRegressions.value : null },
              context,
            );
      ran.push(suite);
      suites.push(suite);
    }
    await base?.cache.save();
    await retrySuites({ planned: plan.suites, ran, measured: suites, servers }, { ...suiteContext, timeoutMs });
    const isConfirmed = await confirmRegressions(
      { planned: plan.suites, ran, measured: suites, servers, witnesses },
      {
        baseline: baseline?.baseline ?? null,
        // A shard sees only a part of the cases, and more of the others may have regressed than is allowed.
        maximumRegressions: plan.shard === null ? plan.limits.maximumRegressions : { value: 0, source: 'default' },
        prices: plan.limits.prices,
      },
      suiteContext,
    );
    answerNotes = backend.listUnusedAnswers(plan.suites);
    if (suites.some(lacksResults)) findings = await servers.diagnose(lifetime.cancelRun);
    // A cut-short run may have left resources that need a search, which gets only seconds.
    isOver =
      isConfirmed &&
      suites.every(
        ({ results: { interruption, retries } }) =>
          interruption === null && retries.every(({ shortfall }) => shortfall === null),
      );
    const isPassed = ({ results, requirements }: MeasuredSuite) =>
      judgeSuite(results, { policy: { requirements, today } }).outcome === 'passed';
    if (!suites.every(isPassed)) showLastWords(logger, servers.stderrTail());
  } catch (error) {
    const interruption = explainInterruption(error);
    behaviour.end(interruption.message);
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
  const fileNotes = [sharedFiles?.warning ?? [], ...(sharedFiles?.explain(suites.map(({ results }) => results)) ?? [])];
  const serverNotes = [...servers.listNotes(), ...findings, ...fileNotes.flat()];
  return {
    server,
    otherServers,
    serverNotes,
    answerNotes,
    modelNotes,
    suites,
    baseline,
    evidence: evidence.collect(),
    tracePath,
    kept,
    recordings,
    snapshots,
    upstream: upstream?.collect() ?? [],
    measured: { ...surfaces.report(), behaviour: behaviour.report() },
  };
}

/** The interruptions that say nothing about the server. */
const ownLimits: ReadonlySet<string> = new Set(['cancelled', 'deadline', 'budget-exceeded', 'first-failure']);

/** Checks if the server may be the cause of missing results. */
function lacksResults({ results: { interruption, cases } }: MeasuredSuite): boolean {
  return interruption === null ? cases.some(({ unscored }) => unscored > 0) : !ownLimits.has(interruption.code);
}

function showLastWords(logger: Logger, lines: readonly string[]): void {
  if (lines.length > 0) logger.group('Last lines of the server’s stderr', lines);
}
