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
import type { UsedAnswer } from '../model/client-abilities.ts';
import type { ServerWitnesses } from '../model/process-end.ts';
import { meetsMinimumPassRate } from '../model/rate.ts';
import { identifyTrace } from '../otlp/ids.ts';
import { attributeLoss, settleRepeated } from './attribute-loss.ts';
import type { ProtocolTable } from './connect.ts';
import type { Batch, RunScheduling } from './schedule.ts';
import type { Store } from './store/open.ts';
import type { TerminalStatus } from './store/runs.ts';

/** A server of an iteration. */
export interface PlannedTarget {
  serverId: string;
  target: Target;
}

/** One iteration to execute; its row is in the store already, as `pending`. */
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

/** Which scripted answers of the client an iteration used that got to its end. */
export interface AnswersOfIteration {
  runId: string;
  caseId: string;
  used: readonly UsedAnswer[];
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

export interface RunnerOptions {
  store: Store;
  /** Hears what the sessions speak. */
  protocols: Pick<ProtocolTable, 'addSpoken'>;
  clock: Clock;
  logger: Logger;
  scheduling: Pick<RunScheduling, 'onBatch'>;
  iterationTimeoutMs: number;
  runTimeoutMs: number;
  /** For all schema checks of an iteration together. */
  schemaTimeMs?: number | undefined;
  /** Whether each call carries its span to the server. */
  propagatesTraces: boolean;
  /** Variables of the job that cases may use. */
  variables: ReadonlyMap<string, Secret>;
  createUuid: () => string;
  /** Shows the apps of servers; null where none can be shown. */
  browser: BrowserPool | null;
  /** Know the processes of the servers; null where none was started here. */
  witnesses: ServerWitnesses | null;
  onAnswers?: ((answers: AnswersOfIteration) => void) | undefined;
  snapshots: Snapshots | null;
}

/** Iterations in a row that may fail to connect; then the server is gone, and each of the others would only wait for it. */
const maxUnreached = 5;

interface ActiveRun {
  abort: AbortController;
  settled: Promise<void>;
  warned: Set<string>;
}

export function createRunner(options: RunnerOptions): Runner {
  const { store, protocols, clock, logger } = options;
  const active = new Map<string, ActiveRun>();

  /** The one way in which runs end: the first caller decides, and nothing is left open. */
  const end = (runId: string, status: TerminalStatus, failure: string | null): void => {
    active.get(runId)?.abort.abort(new Error('The run has ended.'));
    store.transact(() => {
      const run = store.runs.get(runId);
      const isPassed = run !== undefined && meetsMinimumPassRate(run.passed, run.total, run.minimumPassRate / 100);
      const result = status === 'completed' ? (isPassed ? 'passed' : 'failed') : null;
      store.runs.end(runId, { status, result, failure, now: clock.now() });
      store.iterations.cancel(runId);
    });
  };

  const record = (runId: string, { id, caseId }: PlannedIteration, outcome: CaseOutcome) => {
    const { result, steps, usedAnswers: used } = outcome;
    if (result !== null && steps.every(({ status }) => status !== 'skipped')) {
      options.onAnswers?.({ runId, caseId, used });
    }
    store.transact(() => {
      if (store.iterations.end(id, outcome) && result !== null) store.runs.count(runId, result);
    });
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
    { id, iterationNumber, testCase, servers, openModel, openJudge }: PlannedIteration,
    { signal, isAlone }: { signal: AbortSignal; isAlone: boolean },
  ): Promise<CaseOutcome> => {
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
    store.iterations.start(id, clock.now());
    const trace = options.propagatesTraces ? identifyTrace({ runId, iterationId: id }) : null;
    const timeoutMs = options.iterationTimeoutMs;
    const facts = { iteration: iterationNumber, uuid: options.createUuid(), variables: options.variables };
    const onSession = (target: Target, protocolVersion: string) => {
      const server = servers.find((each) => each.target === target);
      if (server !== undefined) protocols.addSpoken(server.serverId, protocolVersion);
    };
    const { target, visit: ownVisit } = main;
    const { snapshots, browser } = options;
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
      record(runId, iteration, outcome);
      if (outcome.runStop !== null) stops.push(outcome.runStop);
      unreached = hasConnected(outcome) ? 0 : unreached + 1;
      if (unreached >= maxUnreached) end(runId, 'failed', describeUnreached(iteration.testCase, outcome));
    };
    for (const { iterations, limit } of batches) {
      if (signal.aborted || stops.length > 0) break;
      options.scheduling.onBatch({ sessions: countSessions(iterations), limit });
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
      options.scheduling.onBatch({ sessions: countSessions(unclear.map(({ iteration }) => iteration)), limit: 1 });
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
      if (outcome !== undefined) record(runId, iteration, outcome);
    }
    if (!signal.aborted) end(runId, 'completed', null);
  };

  return {
    start: (runId, batches) => {
      const abort = new AbortController();
      const settled = Promise.withResolvers<void>();
      active.set(runId, { abort, settled: settled.promise, warned: new Set() });
      void execute(runId, batches, abort.signal)
        // Only a store that cannot be written leads here; the record says so when the store is opened again.
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
