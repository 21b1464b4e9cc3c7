import { randomUUID } from 'node:crypto';
import pMap from 'p-map';
import { Disposer } from '../base/disposal.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Secret } from '../base/redaction.ts';
import { type Clock, formatDuration } from '../base/time.ts';
import type { BrowserPool } from '../browser/pool.ts';
import { type CaseOutcome, withholdResult } from '../engine/outcome.ts';
import type { OpenJudge } from '../engine/model-judge.ts';
import type { OpenModel } from '../engine/prompt-runner.ts';
import type { Snapshots } from '../checks/judgement.ts';
import type { OwnCheck } from '../checks/own-check.ts';
import type { ReachableServer } from '../engine/connect.ts';
import { runCase } from '../engine/run-case.ts';
import { closeSchemaThread } from '../engine/schema-check.ts';
import type { Target } from '../mcp/session.ts';
import type { TestCase } from '../cases/case.ts';
import type { ProcessWitness, ServerWitnesses } from '../model/process-end.ts';
import type { terminalRunStatuses } from '../model/run.ts';
import type { HostPrograms } from '../host-drivers/host-programs.ts';
import type { TextMask } from '../models/language-model.ts';
import { identifyTrace } from '../otlp/ids.ts';
import { attributeLoss, settleRepeated } from './attribute-loss.ts';
import type { Batch } from './schedule.ts';

/** A server of an iteration. */
export interface PlannedTarget {
  serverId: string;
  target: Target;
}

/** How a run ends. Only `completed` has a verdict. */
export type TerminalStatus = (typeof terminalRunStatuses)[number];

/** Stores a run while it executes. */
export interface ExecutionRecord {
  startIteration(iteration: PlannedIteration, nowMs: number): void;
  /** Stores an outcome. If the run has ended by then, it stores only the usage of the models. */
  endIteration(runId: string, iteration: PlannedIteration, outcome: CaseOutcome): void;
  /**
   * Ends a run with all of its iterations. `failure` says why in one sentence; null for a verdict or a cancellation. Only the first end
   * counts.
   */
  endRun(runId: string, end: { status: TerminalStatus; failure: string | null }): void;
}

/** One iteration to execute; the record knows it already. */
export interface PlannedIteration {
  id: string;
  /** Counts from 1 within its case. */
  iterationNumber: number;
  caseId: string;
  testCase: TestCase;
  /** The servers that the case uses. */
  servers: readonly [PlannedTarget, ...PlannedTarget[]];
  /** Null if the case has no prompts, or no model is available. The mask is that of the servers that only this iteration uses. */
  openModel: ((mask: TextMask | null) => ReturnType<OpenModel>) | null;
  /** Null if no model is available. */
  openJudge: ((model: Parameters<OpenJudge>[0], mask: TextMask | null) => ReturnType<OpenJudge>) | null;
  /** Starts the servers for this iteration alone; null if iterations share `servers`. */
  openWorkspace?: (() => Promise<IterationWorkspace>) | null;
  /** Called while the iteration runs; a second time from the start if it runs again alone. */
  onActivity?: (activity: IterationActivity) => void;
}

/** What an iteration begins or ends. */
export type IterationActivity = { kind: 'started' } | { kind: 'called'; toolName: string } | { kind: 'ended' };

/** The servers of one iteration alone, and the workspace that they work in. Disposing it ends them and removes the workspace. */
export interface IterationWorkspace extends AsyncDisposable {
  /** Null if they work in no workspace of their own. */
  readonly path: string | null;
  readonly mask: TextMask | null;
  /** Says why the surroundings of the servers lacked something, so that the iteration has no result; null if they lacked nothing. */
  findLack(): string | null;
  readonly servers: readonly [OwnTarget, ...OwnTarget[]];
}

/** A server that one iteration uses alone. */
export interface OwnTarget extends PlannedTarget {
  witness: ProcessWitness;
}

export interface Runner extends AsyncDisposable {
  /**
   * Executes a run's iterations in the background: batch after batch, in order, several at a time if the batch allows it. If an iteration
   * ends without a result, the runner records that and continues with the others.
   */
  start(runId: string, batches: ReadonlyArray<Batch<PlannedIteration>>): void;
  /** Cancels a run at once. Iterations under way are aborted, and only the usage of their models is stored. */
  cancel(runId: string): void;
  /** True if a run has not settled yet. */
  isActive(runId: string): boolean;
  /** Resolves once this run, or without an id every run, has ended, teardown of its cases included. */
  waitForRuns(runId?: string): Promise<void>;
}

/** A batch of iterations that is about to start. */
export interface StartingBatch {
  /** The number of sessions that its iterations open, by server id. */
  sessions: ReadonlyMap<string, number>;
  /** The number of iterations that run at the same time. */
  limit: number;
}

export interface RunnerOptions {
  record: ExecutionRecord;
  /** Receives the protocol revision that a session with a server speaks. */
  onSpoken?: (serverId: string, protocolVersion: string) => void;
  clock: Clock;
  logger: Logger;
  /** Called right before each batch starts, when no iteration of its run is executing. */
  onBatch?: (batch: StartingBatch) => void;
  iterationTimeoutMs: number;
  runTimeoutMs: number;
  /** The time limit of all schema checks of an iteration together. */
  schemaTimeMs?: number | undefined;
  /** True if each call carries its span to the server. Off by default. */
  propagatesTraces?: boolean;
  /** Variables of the job that cases may use as `{{env.NAME}}`. None by default. */
  variables?: ReadonlyMap<string, Secret>;
  /** Shows the apps of servers; null if no browser is available. */
  browser: BrowserPool | null;
  /** The programs of hosts; null if none can be started. */
  hosts?: Pick<HostPrograms, 'open'> | null;
  /** Tracks the processes of the servers that the gate started. None by default. */
  witnesses?: ServerWitnesses | null;
  /** The snapshots that `toMatchFile` compares with. Without them, such checks are not measured. */
  snapshots?: Snapshots | null;
  /** The checks of one's own that the gate knows, by name. None by default. */
  ownChecks?: ReadonlyMap<string, OwnCheck> | null;
  /** Runs each iteration; `runCase` by default. */
  runCase?: RunCase | undefined;
}

/** Runs an iteration of a case, as `runCase` does. */
export type RunCase = typeof runCase;

/** After this many iterations in a row that failed to connect, the server is considered gone; the others would only wait for it. */
const maxUnreached = 5;

interface ActiveRun {
  abort: AbortController;
  settled: Promise<void>;
  warned: Set<string>;
}

export function createRunner(options: RunnerOptions): Runner {
  const { record, clock, logger } = options;
  const active = new Map<string, ActiveRun>();

  /** Ends a run; runs end in no other way. The first caller decides the outcome, and everything still open is closed. */
  const end = (runId: string, status: TerminalStatus, failure: string | null): void => {
    active.get(runId)?.abort.abort(new Error('The run has ended.'));
    record.endRun(runId, { status, failure });
  };

  /** Logs a warning once per run: a problem of one iteration often affects all. */
  const warn = (runId: string, message: string) => {
    const { warned } = active.get(runId) ?? {};
    if (warned?.has(message) === true) return;
    warned?.add(message);
    logger.warning(message);
  };

  const runOnce = async (
    runId: string,
    iteration: PlannedIteration,
    { signal, isAlone }: { signal: AbortSignal; isAlone: boolean },
  ): Promise<CaseOutcome> => {
    const { id, iterationNumber, testCase, openModel, openJudge, onActivity = () => {} } = iteration;
    onActivity({ kind: 'started' });
    using _activity = { [Symbol.dispose]: () => onActivity({ kind: 'ended' }) };
    await using workspace = (await iteration.openWorkspace?.()) ?? null;
    const mask = workspace?.mask ?? null;
    const servers: readonly [ReachedTarget, ...ReachedTarget[]] = workspace?.servers ?? iteration.servers;
    const [first, ...more] = servers;
    const findWitness = ({ serverId, witness }: ReachedTarget) => witness ?? options.witnesses?.find(serverId) ?? null;
    await using visits = new Disposer();
    const visit = async (server: ReachedTarget) => {
      const begun = (await findWitness(server)?.visit({ isAlone, signal })) ?? null;
      return { target: server.target, visit: visits.use(begun) };
    };
    const main = await visit(first);
    const others: ReachableServer[] = [];
    for (const server of more) others.push(await visit(server));
    record.startIteration(iteration, clock.now());
    const trace = options.propagatesTraces === true ? identifyTrace({ runId, iterationId: id }) : null;
    const timeoutMs = options.iterationTimeoutMs;
    const { variables = new Map<string, Secret>() } = options;
    const facts = {
      iteration: iterationNumber,
      uuid: randomUUID(),
      variables,
      workspace: workspace?.path ?? undefined,
    };
    const onSession = (target: Target, protocolVersion: string) => {
      const server = servers.find((each) => each.target === target);
      if (server !== undefined) options.onSpoken?.(server.serverId, protocolVersion);
    };
    const { target, visit: ownVisit } = main;
    const { browser } = options;
    const runCommand = findWitness(first)?.runCommand ?? null;
    const extras = {
      trace,
      visit: ownVisit,
      others,
      openModel: openModel === null ? null : () => openModel(mask),
      openJudge: openJudge === null ? null : (model: Parameters<OpenJudge>[0]) => openJudge(model, mask),
      facts,
      snapshots: maskSnapshots(options.snapshots ?? null, mask),
      ownChecks: options.ownChecks ?? null,
      runCommand,
      browser,
      hosts: options.hosts ?? null,
      onSession,
      onCall: (toolName: string) => onActivity({ kind: 'called', toolName }),
    };
    const seen = await (options.runCase ?? runCase)(testCase, target, {
      clock,
      signal,
      timeoutMs,
      schemaTimeMs: options.schemaTimeMs,
      ...extras,
    });
    const lack = seen.status === 'cancelled' ? null : (workspace?.findLack() ?? null);
    // Whatever the servers did without it says nothing about them, also if they ended.
    const known = lack === null ? seen : { ...withholdResult(seen, lack), loss: null };
    const outcome = mask === null ? known : mask.hide(known);
    for (const warning of outcome.warnings) warn(runId, `Case ${JSON.stringify(testCase.title)}: ${warning}`);
    return outcome;
  };

  /** Null if the iteration could not be run at all, which ends the run. */
  const tryOnce = async (...[runId, iteration, context]: Parameters<typeof runOnce>): Promise<CaseOutcome | null> => {
    try {
      return await runOnce(runId, iteration, context);
    } catch (error) {
      const { title } = iteration.testCase;
      end(runId, 'failed', `No iteration of case ${JSON.stringify(title)} could be run: ${describeError(error)}`);
      return null;
    }
  };

  const execute = async (
    runId: string,
    batches: ReadonlyArray<Batch<PlannedIteration>>,
    signal: AbortSignal,
  ): Promise<void> => {
    void clock.sleep(options.runTimeoutMs, { signal }).then(
      () => end(runId, 'timed_out', `The run took longer than ${formatDuration(options.runTimeoutMs)}.`),
      () => {},
    );
    const unclear: Array<{ iteration: PlannedIteration; shared: CaseOutcome }> = [];
    let unreached = 0;
    /** Once this has an entry, no further iteration starts. Iterations under way finish, so that their usage is known. */
    const stops: string[] = [];
    const runShared = async (iteration: PlannedIteration): Promise<void> => {
      if (signal.aborted || stops.length > 0) return;
      const shared = await tryOnce(runId, iteration, { signal, isAlone: false });
      if (shared === null) return;
      const outcome = attributeLoss(shared);
      if (outcome === 'again') {
        unclear.push({ iteration, shared });
        return;
      }
      record.endIteration(runId, iteration, outcome);
      if (outcome.runStop !== null) stops.push(outcome.runStop);
      unreached = hasConnected(outcome) ? 0 : unreached + 1;
      if (unreached >= maxUnreached) end(runId, 'failed', describeUnreached(iteration.testCase, outcome));
    };
    for (const { iterations, limit } of batches) {
      if (signal.aborted || stops.length > 0) break;
      options.onBatch?.({ sessions: countSessions(iterations), limit });
      await pMap(iterations, runShared, {
        concurrency: limit,
        // Iterations under way still write to the store, so all of them settle before the run counts as over.
        stopOnError: false,
      });
    }
    const [stop] = stops;
    if (stop !== undefined && !signal.aborted) end(runId, 'failed', stop);
    // These run one at a time, now that no other iteration is under way.
    if (unclear.length > 0) {
      options.onBatch?.({ sessions: countSessions(unclear.map(({ iteration }) => iteration)), limit: 1 });
    }
    const repeated: Array<{ iteration: PlannedIteration; shared: CaseOutcome; alone: CaseOutcome }> = [];
    for (const { iteration, shared } of unclear) {
      if (signal.aborted) break;
      logger.info(
        `Case ${JSON.stringify(iteration.testCase.title)} is run again alone: the server's process ended while several iterations used it.`,
      );
      const alone = await tryOnce(runId, iteration, { signal, isAlone: true });
      if (alone !== null) repeated.push({ iteration, shared, alone });
    }
    const settled = settleRepeated(repeated);
    for (const [index, { iteration }] of repeated.entries()) {
      const outcome = settled[index];
      if (outcome !== undefined) record.endIteration(runId, iteration, outcome);
    }
    if (!signal.aborted) end(runId, 'completed', null);
  };

  return {
    start: (runId, batches) => {
      const abort = new AbortController();
      const settled = Promise.withResolvers<void>();
      active.set(runId, { abort, settled: settled.promise, warned: new Set() });
      void execute(runId, batches, abort.signal)
        // Only a record that cannot be written leads to this.
        .catch((error: unknown) => logger.error(`Run ${runId} broke off: ${describeError(error)}`))
        .finally(() => {
          active.delete(runId);
          settled.resolve();
        });
    },
    cancel: (runId) => end(runId, 'cancelled', null),
    isActive: (runId) => active.has(runId),
    waitForRuns: async (runId) => {
      const runs = runId === undefined ? [...active] : [...active].filter(([id]) => id === runId);
      await Promise.all(runs.map(([, { settled }]) => settled));
    },
    [Symbol.asyncDispose]: async () => {
      const runs = [...active];
      for (const [runId] of runs) end(runId, 'cancelled', 'The service was stopped while the run was executing.');
      await Promise.all(runs.map(([, { settled }]) => settled));
      await closeSchemaThread();
    },
  };
}

/** A planned server, or one that only this iteration uses. */
type ReachedTarget = PlannedTarget & { witness?: ProcessWitness };

/** Snapshots hold no path of a workspace. */
function maskSnapshots(snapshots: Snapshots | null, mask: TextMask | null): Snapshots | null {
  if (snapshots === null || mask === null) return snapshots;
  return { ...snapshots, redact: (value) => snapshots.redact(mask.hide(value)) };
}

/** Counts the sessions with servers that iterations share, by server id. */
function countSessions(iterations: readonly PlannedIteration[]): Map<string, number> {
  const sessions = new Map<string, number>();
  const shared = iterations.filter(({ openWorkspace = null }) => openWorkspace === null);
  for (const { serverId } of shared.flatMap(({ servers }) => servers)) {
    sessions.set(serverId, (sessions.get(serverId) ?? 0) + 1);
  }
  return sessions;
}

function hasConnected({ steps, fixtures, status }: CaseOutcome): boolean {
  return status !== 'failed' || fixtures.length > 0 || steps.some((step) => step.status !== 'skipped');
}

function describeUnreached(testCase: TestCase, { error }: CaseOutcome): string {
  return `${maxUnreached} iterations in a row could not connect to the server, last in case ${JSON.stringify(testCase.title)}: ${error ?? 'no reason was given'}`;
}
