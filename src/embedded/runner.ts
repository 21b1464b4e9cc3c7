import pMap from 'p-map';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Secret } from '../base/redaction.ts';
import { type Clock, formatDuration } from '../base/time.ts';
import { type CaseOutcome, failByLoss, withholdResult } from '../engine/outcome.ts';
import type { OpenJudge } from '../engine/judge-check.ts';
import type { OpenModel } from '../engine/model-talk.ts';
import type { Snapshots } from '../engine/evidence.ts';
import { runCase } from '../engine/run-case.ts';
import { closeSchemaThread } from '../engine/schema-check.ts';
import type { Target } from '../mcp/session.ts';
import type { TestCase } from '../model/case.ts';
import type { UsedAnswer } from '../model/client-abilities.ts';
import { describeProcessEnd, lastLinesHeading, type ProcessEnd, type ServerWitnesses } from '../model/process-end.ts';
import { meetsMinimumPassRate } from '../model/rate.ts';
import { identifyTrace } from '../otlp/ids.ts';
import type { ProtocolTable } from './connect.ts';
import type { Batch, RunScheduling } from './schedule.ts';
import type { Store } from './store/open.ts';
import type { TerminalStatus } from './store/runs.ts';

/** One iteration to execute; its row is in the store already, as `pending`. */
export interface PlannedIteration {
  id: string;
  /** From 1, within its case. */
  iterationNumber: number;
  caseId: string;
  testCase: TestCase;
  serverId: string;
  target: Target;
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
  /** Ends a run as cancelled, at once; what is still executing is aborted and its outcome dropped. */
  cancel(runId: string): void;
  /** Runs that have not settled yet. */
  countActive(): number;
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
  /** Whether each call carries its span to the server. */
  propagatesTraces: boolean;
  /** Variables of the job that cases may use. */
  variables: ReadonlyMap<string, Secret>;
  createUuid: () => string;
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
    { id, iterationNumber, testCase, serverId, target, openModel, openJudge }: PlannedIteration,
    { signal, isAlone }: { signal: AbortSignal; isAlone: boolean },
  ): Promise<CaseOutcome> => {
    const witness = options.witnesses?.find(serverId) ?? null;
    using visit = (await witness?.visit({ isAlone, signal })) ?? null;
    store.iterations.start(id, clock.now());
    const trace = options.propagatesTraces ? identifyTrace({ runId, iterationId: id }) : null;
    const timeoutMs = options.iterationTimeoutMs;
    const facts = { iteration: iterationNumber, uuid: options.createUuid(), variables: options.variables };
    const { snapshots } = options;
    const runCommand = witness?.runCommand ?? null;
    const aids = { trace, visit, openModel, openJudge, facts, snapshots, runCommand };
    const outcome = await runCase(testCase, target, { clock, signal, timeoutMs, ...aids });
    for (const warning of outcome.warnings) warn(runId, `Case ${JSON.stringify(testCase.title)}: ${warning}`);
    if (outcome.protocolVersion !== null) protocols.addSpoken(serverId, outcome.protocolVersion);
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
    const runShared = async (iteration: PlannedIteration): Promise<void> => {
      if (signal.aborted) return;
      const shared = await tryOnce(runId, iteration, { signal, isAlone: false });
      if (shared === null) return;
      const outcome = attributeLoss(shared);
      if (outcome === 'again') {
        unclear.push({ iteration, shared });
        return;
      }
      record(runId, iteration, outcome);
      if (outcome.runStop !== null) end(runId, 'failed', outcome.runStop);
      unreached = hasConnected(outcome) ? 0 : unreached + 1;
      if (unreached >= maxUnreached) end(runId, 'failed', describeUnreached(iteration.testCase, outcome));
    };
    for (const { iterations, limit } of batches) {
      if (signal.aborted) break;
      options.scheduling.onBatch({ size: iterations.length, limit });
      await pMap(iterations, runShared, {
        concurrency: limit,
        // What is under way still writes to the store, so all of it settles before the run counts as over.
        stopOnError: false,
      });
    }
    // One at a time, now that no other iteration is under way.
    if (unclear.length > 0) options.scheduling.onBatch({ size: unclear.length, limit: 1 });
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
    countActive: () => active.size,
    [Symbol.asyncDispose]: async () => {
      const runs = [...active];
      for (const [runId] of runs) end(runId, 'cancelled', 'The service was stopped while the run was executing.');
      await Promise.all(runs.map(([, { settled }]) => settled));
      await closeSchemaThread();
    },
  };
}

function hasConnected({ steps, fixtures, status }: CaseOutcome): boolean {
  return status !== 'failed' || fixtures.length > 0 || steps.some((step) => step.status !== 'skipped');
}

function describeUnreached(testCase: TestCase, { error }: CaseOutcome): string {
  return `${maxUnreached} iterations in a row could not connect to the server, last in case ${JSON.stringify(testCase.title)}: ${error ?? 'no reason was given'}`;
}

/**
 * Says what an iteration counts as whose process may have ended under it; `again` where only running it once more, alone on a
 * fresh process, can tell.
 *
 * The end of a process is evidence against an iteration only where the process served no other one and a request was open. A
 * process that ended before it gave the iteration a session says nothing about the case.
 */
export function attributeLoss(outcome: CaseOutcome): CaseOutcome | 'again' {
  const { loss } = outcome;
  if (loss === null) return outcome;
  if (!loss.isOwn) return 'again';
  return loss.isDuringCall ? failByLoss(outcome) : outcome;
}

/** An iteration that was run twice: among others, when the process ended that they shared, and alone. */
export interface Repeated {
  shared: CaseOutcome;
  alone: CaseOutcome;
}

/**
 * Says what each repeated iteration counts as. One under which the process ends again fails. One that passes alone passes only
 * where the first end is explained: by another iteration that ended the process again, by code 0, which is no crash, or
 * because it had not begun by then. Else something crashed the server that nothing can be blamed for, and the
 * iteration has no result.
 */
export function settleRepeated(repeated: readonly Repeated[]): CaseOutcome[] {
  const explained = new Set<ProcessEnd>();
  for (const { shared, alone } of repeated) {
    if (isCulprit(alone) && shared.loss !== null) explained.add(shared.loss.end);
  }
  return repeated.map(({ shared, alone }) => {
    if (isCulprit(alone)) return failByLoss(alone);
    const { loss } = shared;
    const isInnocent = loss === null || !loss.isDuringCall || loss.end.exitCode === 0 || explained.has(loss.end);
    if (alone.result !== 'passed' || isInnocent) return alone;
    return withholdResult(alone, describeUnexplained(loss.end));
  });
}

function isCulprit({ loss }: CaseOutcome): boolean {
  return loss !== null && loss.isOwn && loss.isDuringCall;
}

function describeUnexplained(end: ProcessEnd): string {
  const sentence = `The server ${describeProcessEnd(end)} under this iteration and did not when the iteration was run again alone, so the crash cannot be attributed to a case.`;
  return end.lastLines.length === 0 ? sentence : [sentence, lastLinesHeading, ...end.lastLines].join('\n');
}
