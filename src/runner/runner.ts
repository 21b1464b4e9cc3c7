import { randomUUID } from 'node:crypto';
import pMap from 'p-map';
import { Disposer } from '../base/disposal.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Secret } from '../base/redaction.ts';
import { type Clock, formatDuration } from '../base/time.ts';
import type { BrowserPool } from '../browser/pool.ts';
import type { CaseOutcome } from '../engine/outcome.ts';
import type { OpenJudge } from '../engine/judge-check.ts';
import type { OpenModel } from '../engine/model-talk.ts';
import type { Snapshots } from '../engine/evidence.ts';
import type { ReachableServer } from '../engine/connect.ts';
import { runCase } from '../engine/run-case.ts';
import { closeSchemaThread } from '../engine/schema-check.ts';
import type { Target } from '../mcp/session.ts';
import type { TestCase } from '../model/case.ts';
import type { ServerWitnesses } from '../model/process-end.ts';
import type { terminalRunStatuses } from '../model/run.ts';
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

/** Where a run is kept while it executes. */
export interface ExecutionRecord {
  startIteration(iteration: PlannedIteration, nowMs: number): void;
  /** Keeps an outcome. Of an iteration whose run has ended by then, it keeps only what the models used. */
  endIteration(runId: string, iteration: PlannedIteration, outcome: CaseOutcome): void;
  /** Ends a run with all of its iterations, and why, in one sentence; null for a verdict, or where the caller asked. Only the first end of a run counts. */
  endRun(runId: string, end: { status: TerminalStatus; failure: string | null }): void;
}

/** One iteration to execute; the record knows it already. */
export interface PlannedIteration {
  id: string;
  /** From 1, within its case. */
  iterationNumber: number;
  caseId: string;
  testCase: TestCase;
  /** Those that the case uses. */
  servers: readonly [PlannedTarget, ...PlannedTarget[]];
  /** Null where the case has no prompts, or no model can be asked. */
  openModel: OpenModel | null;
  /** Null where no model can be asked. */
  openJudge: OpenJudge | null;
}

export interface Runner extends AsyncDisposable {
  /**
   * Executes a run's iterations in the background: batch after batch, in order, several at a time where the batch allows it. One
   * that ends without a result is recorded as such, and the others go on.
   */
  start(runId: string, batches: ReadonlyArray<Batch<PlannedIteration>>): void;
  /** Ends a run as cancelled, at once; what is still executing is aborted, and only what its models used is kept. */
  cancel(runId: string): void;
  /** Whether a run has not settled yet. */
  isActive(runId: string): boolean;
  /** Resolves once no run, or not this one, executes any more, the teardown of its cases included. */
  waitForRuns(runId?: string): Promise<void>;
}

/** Iterations that are about to start. */
export interface StartingBatch {
  /** How many sessions its iterations open, by the id of the server. */
  sessions: ReadonlyMap<string, number>;
  /** How many iterations run at the same time. */
  limit: number;
}

export interface RunnerOptions {
  record: ExecutionRecord;
  /** Hears which revision a session with a server speaks. */
  onSpoken?: (serverId: string, protocolVersion: string) => void;
  clock: Clock;
  logger: Logger;
  /** Hears of each batch right before it starts, when no iteration of its run is executing. */
  onBatch?: (batch: StartingBatch) => void;
  iterationTimeoutMs: number;
  runTimeoutMs: number;
  /** For all schema checks of an iteration together. */
  schemaTimeMs?: number | undefined;
  /** Whether each call carries its span to the server. Off unless given. */
  propagatesTraces?: boolean;
  /** Variables of the job that cases may use as `{{env.NAME}}`. None unless given. */
  variables?: ReadonlyMap<string, Secret>;
  /** Shows the apps of servers; null where none can be shown. */
  browser: BrowserPool | null;
  /** Know the processes of the servers that were started here. None unless given. */
  witnesses?: ServerWitnesses | null;
  /** What `toMatchFile` compares with. Such checks are not measured unless given. */
  snapshots?: Snapshots | null;
}

/** Iterations in a row that may fail to connect; then the server is gone, and each of the others would only wait for it. */
const maxUnreached = 5;

interface ActiveRun {
  abort: AbortController;
  settled: Promise<void>;
  warned: Set<string>;
}

export function createRunner(options: RunnerOptions): Runner {
  const { record, clock, logger } = options;
  const active = new Map<string, ActiveRun>();

  /** The one way in which runs end: the first caller decides, and nothing is left open. */
  const end = (runId: string, status: TerminalStatus, failure: string | null): void => {
    active.get(runId)?.abort.abort(new Error('The run has ended.'));
    record.endRun(runId, { status, failure });
  };

  /** Once in a run: what goes wrong in one iteration often does in all. */
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
    const { id, iterationNumber, testCase, servers, openModel, openJudge } = iteration;
    const [first, ...more] = servers;
    const witness = options.witnesses?.find(first.serverId) ?? null;
    await using visits = new Disposer();
    const visit = async ({ serverId, target }: PlannedTarget) => {
      const begun = (await options.witnesses?.find(serverId)?.visit({ isAlone, signal })) ?? null;
      return { target, visit: visits.use(begun) };
    };
    const main = await visit(first);
    const others: ReachableServer[] = [];
    for (const server of more) others.push(await visit(server));
    record.startIteration(iteration, clock.now());
    const trace = options.propagatesTraces === true ? identifyTrace({ runId, iterationId: id }) : null;
    const timeoutMs = options.iterationTimeoutMs;
    const { variables = new Map<string, Secret>() } = options;
    const facts = { iteration: iterationNumber, uuid: randomUUID(), variables };
    const onSession = (target: Target, protocolVersion: string) => {
      const server = servers.find((each) => each.target === target);
      if (server !== undefined) options.onSpoken?.(server.serverId, protocolVersion);
    };
    const { target, visit: ownVisit } = main;
    const { snapshots = null, browser } = options;
    const runCommand = witness?.runCommand ?? null;
    const aids = {
      trace,
      visit: ownVisit,
      others,
      openModel,
      openJudge,
      facts,
      snapshots,
      runCommand,
      browser,
      onSession,
    };
    const outcome = await runCase(testCase, target, {
      clock,
      signal,
      timeoutMs,
      schemaTimeMs: options.schemaTimeMs,
      ...aids,
    });
    for (const warning of outcome.warnings) warn(runId, `Case ${JSON.stringify(testCase.title)}: ${warning}`);
    return outcome;
  };

  /** Null where the iteration could not be run at all, which ends the run. */
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
    /** Once there is one, no further iteration starts. Those under way come to their ends, so that it is known what they used. */
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
        // What is under way still writes to the store, so all of it settles before the run counts as over.
        stopOnError: false,
      });
    }
    const [stop] = stops;
    if (stop !== undefined && !signal.aborted) end(runId, 'failed', stop);
    // One at a time, now that no other iteration is under way.
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
        // Only a record that cannot be written leads here.
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

/** By the id of the server. */
function countSessions(iterations: readonly PlannedIteration[]): Map<string, number> {
  const sessions = new Map<string, number>();
  for (const { serverId } of iterations.flatMap(({ servers }) => servers)) {
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
