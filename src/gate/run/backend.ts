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

/** What the two backends cannot do alike. */
export interface BackendTraits {
  /** Whether a run costs next to nothing, so that each round of a suite is a run of its own, with processes that have served no other. */
  hasCheapRuns: boolean;
  /** Whether this process executes the iterations, and sees how the processes of servers end. */
  watchesProcesses: boolean;
  /** Whether the traces of all iterations are at hand; else those of failures alone are read. */
  hasAllTraces: boolean;
  /** The most failures of a run whose steps and traces are read. */
  maxExplained: number;
  /** The most iterations that a case has in one run. */
  iterationsPerCase: number;
  /** The first wait between two readings of what a run has spent. */
  pollIntervalMs: number;
}

/** Where evals run: in this process, or in a hosted service. */
export interface EvalBackend extends AsyncDisposable {
  readonly traits: BackendTraits;
  /**
   * Makes a server known to what runs the evals, through a tunnel where the plan asks for one. A tunnel that is lost cancels the run.
   *
   * @throws {ConfigurationError} when another server has its name, or no tunnel can carry what the server speaks
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
  /** Brings a suite to where it runs. @throws {ConfigurationError} when it cannot run there */
  prepare(
    planned: PlannedSuite,
    context: { servers: readonly RegisteredServer[]; logger: Logger; signal: AbortSignal },
  ): Promise<PreparedSuite>;
  /** Starts a run of a prepared suite. The teardown cancels it unless it has ended by then. */
  start(prepared: PreparedSuite, context: RunStart): Promise<StartedRun>;
  /** Reads the baseline that a service keeps; null where it has none yet. */
  readBaseline(
    planned: PlannedBaseline,
    suites: readonly PlannedSuite[],
    context: { lifetime: Pick<RunLifetime, 'cancelRun' | 'abort'>; logger: Logger },
  ): Promise<Baseline | null>;
  /** Starts the browser, which otherwise starts with the first app; does nothing if apps are shown elsewhere. If it does not start, the apps say why. */
  startBrowser(): Promise<void>;
  /** Resolves once no run uses a server any more, the teardown of its cases included; at once where runs execute elsewhere. */
  waitForRuns(): Promise<void>;
  /** Says which scripted answers of the client no iteration used, one sentence each. */
  listUnusedAnswers(suites: readonly PlannedSuite[]): string[];
  /** Returns what the runs made in addition to their results. */
  collect(): Promise<{ recordings: MadeRecording[]; modelNotes: string[]; snapshots: TakenSnapshot[] }>;
}

/** What a run is started with, and what follows it to its end. */
export interface RunStart {
  planned: PlannedSuite;
  /** Empty where a suite of the service runs on the servers saved in it. */
  servers: readonly RegisteredServer[];
  /** By case: which iterations of the gate those of this run are; by default they count from 1. */
  numbers: IterationNumbers | null;
  /** Set for a run that is for a comparison alone: nothing of it is recorded, and it has budgets of its own unless it shares those of the suite. */
  compared: { sharesBudgets: boolean } | null;
  /** A label that the runs of a comparison share; null for none. */
  groupId: string | null;
  lifetime: Pick<RunLifetime, 'cancelRun' | 'abort'>;
  teardown: Teardown;
  clock: Clock;
  logger: Logger;
  onProgress: ProgressListener;
}

/** A run, from its start on. */
export interface StartedRun {
  /** From the backend's id of a case to the gate's. */
  readonly caseIds: ReadonlyMap<string, string>;
  /** The page that shows it; null where there is none. */
  readonly url: string | null;
  readonly launch: LaunchTime;
  /** How the iterations were scheduled; null where that is not known. */
  readonly concurrency: ConcurrencyReport | null;
  /** The run as last read. */
  current(): Run;
  /** How often the tunnel to a server has broken off since the run was asked for, and may have cut off a call of it. */
  countBreaks(): number;
  /** Waits until it ends. When the lifetime cancels it first, asks for its end and returns why. */
  waitForEnd(): Promise<VerdictReason | null>;
  /** Asks for its end. */
  cancel(signal: AbortSignal): Promise<void>;
  /** Reads the run once more, a moment after its end. */
  reread(signal: AbortSignal): Promise<Run>;
  /** Lists its iterations as they are now, page by page. */
  listIterations(signal: AbortSignal): AsyncIterable<Iteration[]>;
  listSteps(iterationId: string, signal: AbortSignal): Promise<StepResult[]>;
  /** Undefined where there is none. */
  readTrace(iterationId: string, signal: AbortSignal): Promise<unknown>;
}
