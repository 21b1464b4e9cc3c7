import type { Baseline } from '../../model/comparison.ts';
import type { ConcurrencyReport } from '../../model/concurrency.ts';
import type { Iteration, Run, StepResult } from '../../model/run.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import type { Clock } from '../../base/time.ts';
import type { Logger } from '../../base/logger.ts';
import type { RunningServer } from '../../server/running-server.ts';
import type { PlannedBaseline } from '../plan/plan-past.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';
import type { SurfaceTarget } from '../plan/surface-part.ts';
import type { ServerRegistration, ServerScope } from './server-scope.ts';
import type { RegisteredServer } from './job-tunnel.ts';
import type { MadeRecording } from './open-models.ts';
import type { IterationNumbers, PreparedSuite } from './prepared-suite.ts';
import type { ProgressListener } from './progress.ts';
import type { LaunchTime } from './refusals.ts';
import type { RunLifetime, Teardown } from './run-lifetime.ts';
import type { TakenSnapshot } from './snapshots.ts';

/** The abilities in which the two backends differ. */
export interface BackendTraits {
  /** True if a run costs next to nothing. Each round of a suite is then its own run, with processes that have served no other run. */
  hasCheapRuns: boolean;
  /** True if this process executes the iterations, and sees how the processes of servers end. */
  watchesProcesses: boolean;
  /** True if the traces of all iterations are available; else only those of failures are read. */
  hasAllTraces: boolean;
  /** The most failures of a run for which the gate reads steps and traces. */
  maxExplained: number;
  /** The most iterations that a case has in one run. */
  iterationsPerCase: number;
  /** The wait before the second reading of what a run has spent. */
  pollIntervalMs: number;
}

/** Runs evals in this process, or in a hosted service. */
export interface EvalBackend extends AsyncDisposable {
  readonly traits: BackendTraits;
  /**
   * Registers a server with the backend, through a tunnel if the plan asks for one. A lost tunnel cancels the run.
   *
   * @throws {ConfigurationError} if another server has its name, or if no tunnel can carry the server's protocol
   */
  register(running: RunningServer, server: ServerRegistration, scope: ServerScope): Promise<RegisteredServer>;
  /**
   * Refuses a case that uses two servers which list a tool of the same name, unless each run of the backend refuses it.
   *
   * @throws {ConfigurationError} naming the case, the servers and the tool
   */
  refuseToolClashes(
    suites: readonly PlannedSuite[],
    targets: readonly SurfaceTarget[],
    context: { clock: Clock; signal: AbortSignal },
  ): Promise<void>;
  /** Prepares a suite for its runs. @throws {ConfigurationError} if it cannot run there */
  prepare(
    planned: PlannedSuite,
    context: { servers: readonly RegisteredServer[]; logger: Logger; signal: AbortSignal },
  ): Promise<PreparedSuite>;
  /** Starts a run of a prepared suite. The teardown cancels it unless it has ended by then. */
  start(prepared: PreparedSuite, context: RunStart): Promise<StartedRun>;
  /** Reads the baseline that a service keeps; null if it has none yet. */
  readBaseline(
    planned: PlannedBaseline,
    suites: readonly PlannedSuite[],
    context: { lifetime: Pick<RunLifetime, 'cancelRun' | 'abort'>; logger: Logger },
  ): Promise<Baseline | null>;
  /**
   * Starts the browser, which otherwise starts with the first app; does nothing if this process shows no apps. If it does not start, the
   * results of the apps say why.
   */
  startBrowser(): Promise<void>;
  /** Resolves when no run uses a server any more, including the teardown of its cases; at once if a service executes the runs. */
  waitForRuns(): Promise<void>;
  /** Lists the scripted answers of the client that no iteration used, one sentence each. */
  listUnusedAnswers(suites: readonly PlannedSuite[]): string[];
  /** Returns what the runs produced in addition to their results. */
  collect(): Promise<{ recordings: MadeRecording[]; modelNotes: string[]; snapshots: TakenSnapshot[] }>;
}

/** The inputs of a run, and the listeners that follow it. */
export interface RunStart {
  planned: PlannedSuite;
  /** Empty if a suite of the service runs on the servers saved in the service. */
  servers: readonly RegisteredServer[];
  /** The numbers of this run's iterations within the gate, by case; by default they count from 1. */
  numbers: IterationNumbers | null;
  /** Set for a run that is only for a comparison. The gate records nothing of it, and it has its own budgets unless it shares those of the suite. */
  compared: { sharesBudgets: boolean } | null;
  /** A label that the runs of a comparison share; null for none. */
  groupId: string | null;
  lifetime: Pick<RunLifetime, 'cancelRun' | 'abort'>;
  teardown: Teardown;
  clock: Clock;
  logger: Logger;
  onProgress: ProgressListener;
  /** Called as soon as an iteration of a case has failed, by a backend of this process. */
  onFailure?: ((caseId: string) => void) | undefined;
}

/** A run that has been started. */
export interface StartedRun {
  /** Maps the backend's id of a case to the gate's. */
  readonly caseIds: ReadonlyMap<string, string>;
  /** The page that shows it; null if there is none. */
  readonly url: string | null;
  readonly launch: LaunchTime;
  /** How the iterations were scheduled; null if that is not known. */
  readonly concurrency: ConcurrencyReport | null;
  /** The run as last read. */
  current(): Run;
  /** Counts how often the tunnel to a server has broken off since the run was requested, and may have cut off a call of it. */
  countBreaks(): number;
  /** Waits until the run ends. If the lifetime cancels it first, requests its end and returns the reason. */
  waitForEnd(): Promise<VerdictReason | null>;
  /** Requests its end. */
  cancel(signal: AbortSignal): Promise<void>;
  /** Reads the run once more, a moment after its end. */
  reread(signal: AbortSignal): Promise<Run>;
  /** Lists its iterations as they are now, page by page. */
  listIterations(signal: AbortSignal): AsyncIterable<Iteration[]>;
  listSteps(iterationId: string, signal: AbortSignal): Promise<StepResult[]>;
  /** Undefined if there is none. */
  readTrace(iterationId: string, signal: AbortSignal): Promise<unknown>;
}
