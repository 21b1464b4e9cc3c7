import { basename, join } from 'node:path';
import type { Logger } from '../base/logger.ts';
import type { Redactor } from '../base/redaction.ts';
import { type Clock, systemClock } from '../base/time.ts';
import { loadGitHub } from '../github/load.ts';
import type { Report } from '../model/report.ts';
import { type Annotation, planAnnotations } from '../report/annotations.ts';
import type { FallbackReport } from '../supervisor/supervisor-messages.ts';
import type { Supervision } from '../supervisor/supervised.ts';
import type { GateContext } from './run/context.ts';
import { gate, type GateHooks, type GateResult } from './gate.ts';
import { listenForInterrupts, type SignalSource } from './host-process.ts';
import type { GateOptions } from './options/schema.ts';
import { type GatePlan, planGate } from './plan/plan.ts';
import { hasUpstream } from './plan/suite-workspaces.ts';
import { type ListedJob, listPlan, previewGate } from './preview.ts';
import { announceGate } from './publish/announce-gate.ts';
import { findExistingFiles, publishFiles, type WrittenFiles } from './publish/publish-files.ts';
import { publishSnapshots } from './publish/publish-snapshots.ts';
import { publishOnline } from './publish/publish-online.ts';

/** The surroundings that a job needs. */
interface JobContext {
  /** The directory that paths of options are relative to. */
  cwd: string;
  /** The job's environment. The server under test gets only an allow-listed part of it. */
  environment: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  logger: Logger;
  /** Gets every secret before anything could print it. */
  redactor: Redactor;
  /**
   * Opens the signal that stops the job and makes its verdict inconclusive. Called when the plan is complete: before that there is nothing
   * to stop.
   */
  openSignal: () => AbortSignal;
}

/** The process that runs an entry; passed in, since only the entries may touch it. */
interface HostProcess {
  cwd(): string;
  env: Readonly<Record<string, string | undefined>>;
  exit(code: number): never;
}

/** Builds what a job needs from the process that it runs in. A second signal ends the process at once. */
export function createJobContext(
  host: HostProcess,
  { signals, logger, redactor }: { signals: SignalSource; logger: Logger; redactor: Redactor },
): JobContext {
  return {
    cwd: host.cwd(),
    environment: host.env,
    clock: systemClock,
    logger,
    redactor,
    openSignal: () => listenForInterrupts(signals, (code) => host.exit(code)),
  };
}

/** The outputs to which a gate shows its results, in addition to the files and the services that its plan names. */
export interface ReportSinks {
  /** The path of the job summary; null, the default, for none. */
  summaryPath?: string | null;
  /** Called as soon as there is a verdict. */
  onJudged?: () => void;
  onReport?: (report: Report) => void;
  onAnnotations?: (annotations: readonly Annotation[]) => void;
  /** Called after all files are written, before anything is sent. */
  onFiles?: (report: Report, files: JobFiles) => void;
}

/** The parts that an entry adds to a job: the outputs for its results, and the means by which the job survives its process. */
interface JobSinks
  extends
    ReportSinks,
    Pick<GateContext, 'onProgress' | 'saveRemoteResources' | 'watchEvidence' | 'repeat' | 'inspection' | 'runCase'> {
  /** Called when the plan is complete, before anything starts. */
  onPlanned?: () => void;
  supervision?: Supervision;
  /** Renders what the supervisor writes in addition to the files if the gate does not finish. */
  renderFallback?: (report: Report, files: WrittenFiles, plan: GatePlan) => FallbackReport;
  /** True if answers of models are recorded next to the evals files. */
  isRecording?: boolean;
  /** True if answers of APIs are recorded next to the evals files instead of replayed. */
  recordsUpstream?: boolean;
  /** True if the results become the snapshots that `toMatchFile` compares with. */
  updatesSnapshots?: boolean;
  /** The marker in the environment of every process that is started; the default is the supervisor's. */
  processMarker?: string;
}

/** The files that a job wrote; null for a file that could not be written or was not requested. */
export type JobFiles = WrittenFiles & { tracePath: string | null };

/** The verdict of a job, its evidence, and the files that it wrote. */
export type JobResult = GateResult & {
  files: JobFiles;
  /** True if every case that needs a model for its result has a result. */
  isFullyRecorded: boolean;
  /** True if answers of APIs were to be recorded, and every request of the server is. */
  isUpstreamRecorded: boolean;
};

/**
 * Runs one gate from its options to its last report: plans, runs the evals, judges, writes the files, and reports on GitHub and to other
 * services as the options say.
 *
 * @throws {ConfigurationError} with every problem of every option and file; nothing has started then
 */
export async function runJob(options: GateOptions, context: JobContext, sinks: JobSinks): Promise<JobResult> {
  const { cwd, environment, clock, logger, redactor } = context;
  const { supervision, renderFallback, saveRemoteResources, onProgress, watchEvidence, repeat, inspection, runCase } =
    sinks;
  const startedAt = new Date(clock.now());
  const { updatesSnapshots = false, isRecording = false, recordsUpstream = false } = sinks;
  const nowMs = clock.now();
  const plan = await planGate(options, { cwd, environment, nowMs, updatesSnapshots, isRecording, recordsUpstream });
  const signal = context.openSignal();
  sinks.onPlanned?.();
  await loadChunks(plan);
  const announce = async () => {
    if (supervision === undefined) return;
    await announceGate(plan, supervision, {
      startedAt,
      redactor,
      summaryPath: sinks.summaryPath ?? null,
      ...(renderFallback && { renderMore: (report, files) => renderFallback(report, files, plan) }),
    });
  };
  const processMarker = sinks.processMarker ?? supervision?.marker ?? null;
  const gateContext = {
    clock,
    logger,
    redactor,
    signal,
    startedAt,
    environment,
    ...(processMarker !== null && { processMarker }),
    ...(saveRemoteResources && { saveRemoteResources }),
    ...(onProgress && { onProgress }),
    ...(watchEvidence && { watchEvidence }),
    ...(runCase && { runCase }),
    ...(repeat !== undefined && { repeat }),
    ...(inspection !== undefined && { inspection }),
  };
  const onJudged = () => {
    supervision?.judged();
    sinks.onJudged?.();
  };
  return await publishGate(plan, gateContext, { ...sinks, onJudged, announce });
}

/**
 * Runs a planned gate, writes its files, and reports to the services that the plan names. Every failure of the server and the services ends
 * in a report. A report that cannot be written or sent causes a warning and leaves the verdict unchanged.
 *
 * @throws {ConfigurationError} if a hosted service lacks a suite or a case that the plan names
 */
export async function runPlan(plan: GatePlan, context: GateContext, sinks: ReportSinks = {}): Promise<JobResult> {
  return await publishGate(plan, context, sinks);
}

async function publishGate(
  plan: GatePlan,
  context: GateContext,
  sinks: ReportSinks & GateHooks & Pick<JobSinks, 'recordsUpstream'>,
): Promise<JobResult> {
  const { clock, logger, redactor, signal } = context;
  const { summaryPath = null } = sinks;
  const result = await gate(plan, context, sinks);
  sinks.onJudged?.();
  const { report, evidence, tracePath } = result;
  sinks.onReport?.(report);
  const written = await publishFiles(report, plan, { logger, redactor, summaryPath, evidence });
  let isComplete = true;
  if (plan.models !== null) {
    const { isFullyRecorded, publishRecordings } = await import('./publish/publish-recordings.ts');
    const { isInPlace } = plan.models;
    await publishRecordings(result.recordings, plan, { isInPlace, logger, redactor });
    isComplete = isFullyRecorded(report, plan.models);
  }
  let isUpstreamRecorded = false;
  if (sinks.recordsUpstream === true) {
    const { publishUpstream } = await import('./publish/publish-upstream.ts');
    isUpstreamRecorded = await publishUpstream(result.upstream, { cwd: plan.cwd, logger, redactor });
  }
  await publishSnapshots(result.snapshots, plan, { logger, redactor });
  if (plan.annotations && sinks.onAnnotations !== undefined) {
    const changes = report.surface?.configurations.flatMap((each) => each.changes) ?? [];
    const sources = report.cases.flatMap(({ failures }) => failures.map(({ source }) => source ?? null));
    const locations = [...[...report.cases, ...changes].map(({ location }) => location), ...sources];
    const existing = await findExistingFiles(locations, plan.cwd);
    sinks.onAnnotations(planAnnotations(report, { fileExists: (file) => existing.has(file) }));
  }
  const traces = tracePath === null ? null : join(plan.reportDir.label, basename(tracePath));
  const files = { ...written, tracePath: traces };
  sinks.onFiles?.(report, files);
  await publishOnline(result, plan, { clock, logger, redactor, signal });
  return { ...result, files, isFullyRecorded: isComplete, isUpstreamRecorded };
}

/**
 * Plans a gate and says what it would do, one line each; starts nothing.
 *
 * @throws {ConfigurationError} as `runJob`
 */
export async function previewJob(options: GateOptions, context: JobContext): Promise<string[]> {
  const { cwd, environment, clock, logger, redactor } = context;
  const plan = await planGate(options, { cwd, environment, nowMs: clock.now() });
  return [...(await previewGate(plan, { clock, logger, redactor, signal: context.openSignal() }))];
}

/**
 * Plans a gate and lists the cases that it would run, in their order; starts nothing and asks no service.
 *
 * @throws {ConfigurationError} as `runJob`
 */
export async function listJob(options: GateOptions, context: JobContext): Promise<ListedJob> {
  const { cwd, environment, clock } = context;
  return listPlan(await planGate(options, { cwd, environment, nowMs: clock.now() }));
}

/**
 * Loads every part that a gate loads lazily, so that the server under test cannot overwrite a file that is still to be loaded. The
 * post step and a dry run need none of them.
 */
async function loadChunks({ suites, models, github, upload }: GatePlan): Promise<void> {
  if (models !== null) {
    const [{ loadProviders }] = await Promise.all([
      import('./run/open-models.ts'),
      import('./publish/publish-recordings.ts'),
    ]);
    await loadProviders(models);
  }
  await Promise.all([
    import('./run/local-backend.ts'),
    import('./run/hosted-backend.ts'),
    import('./run/local-relay.ts'),
    import('../engine/judge-trace.ts'),
    import('./run/job-tunnel.ts'),
    import('./run/tool-clashes.ts'),
    import('../report/html/page.ts'),
    import('../server/open-server.ts'),
    // If the client does not load, `publishToGitHub` warns.
    ...(github === null ? [] : [import('./publish/publish-github.ts'), loadGitHub(github).catch(() => {})]),
    ...(upload === null ? [] : [import('./publish/upload-results.ts')]),
    ...(suites.some(hasUpstream) ? [import('./run/job-upstream.ts'), import('./publish/publish-upstream.ts')] : []),
  ]);
}
