import pMap from 'p-map';
import type { Clock } from '../base/clock.ts';
import { formatDuration } from '../base/deadline.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { CaseOutcome } from '../engine/outcome.ts';
import { runCase } from '../engine/run-case.ts';
import type { Target } from '../engine/target.ts';
import type { TestCase } from '../model/case.ts';
import { meetsMinimumPassRate } from '../model/rate.ts';
import { identifyTrace } from '../report/otlp/trace-ids.ts';
import type { ProtocolTable } from './protocols.ts';
import type { Store } from './store/open.ts';
import type { TerminalStatus } from './store/runs.ts';

/** One iteration to execute; its row is in the store already, as `pending`. */
export interface PlannedIteration {
  id: string;
  testCase: TestCase;
  serverId: string;
  target: Target;
}

export interface Runner extends AsyncDisposable {
  /** Executes a run's iterations in the background, in order, several at a time. */
  start(runId: string, iterations: readonly PlannedIteration[]): void;
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
  /** Iterations of one run that execute at the same time. */
  concurrency: number;
  iterationTimeoutMs: number;
  runTimeoutMs: number;
  /** Whether the server is told which span each of its calls is. */
  propagatesTraces: boolean;
}

interface ActiveRun {
  abort: AbortController;
  settled: Promise<void>;
}

export function createRunner(options: RunnerOptions): Runner {
  const { store, protocols, clock, logger } = options;
  const active = new Map<string, ActiveRun>();

  /** The one way in which runs end: whoever comes first decides, and nothing is left open. */
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

  const runIteration = async (runId: string, iteration: PlannedIteration, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return;
    const { id, testCase, serverId, target } = iteration;
    try {
      store.iterations.start(id, clock.now());
      const trace = options.propagatesTraces ? identifyTrace({ runId, iterationId: id }) : null;
      const outcome = await runCase(testCase, target, { clock, signal, timeoutMs: options.iterationTimeoutMs, trace });
      if (outcome.protocolVersion !== null) protocols.addSpoken(serverId, outcome.protocolVersion);
      store.transact(() => {
        if (store.iterations.end(id, outcome) && outcome.result !== null) store.runs.count(runId, outcome.result);
      });
      if (!signal.aborted && outcome.result === null) end(runId, 'failed', describeInfrastructure(testCase, outcome));
    } catch (error) {
      end(runId, 'failed', `The service failed at case ${JSON.stringify(testCase.title)}: ${describeError(error)}`);
    }
  };

  const execute = async (
    runId: string,
    iterations: readonly PlannedIteration[],
    signal: AbortSignal,
  ): Promise<void> => {
    void clock.sleep(options.runTimeoutMs, { signal }).then(
      () => end(runId, 'timed_out', `The run took longer than ${formatDuration(options.runTimeoutMs)}.`),
      () => {},
    );
    await pMap(iterations, (iteration) => runIteration(runId, iteration, signal), {
      concurrency: options.concurrency,
      // What is under way still writes to the store, so all of it settles before the run counts as over.
      stopOnError: false,
    });
    if (!signal.aborted) end(runId, 'completed', null);
  };

  return {
    start: (runId, iterations) => {
      const abort = new AbortController();
      const settled = Promise.withResolvers<void>();
      active.set(runId, { abort, settled: settled.promise });
      void execute(runId, iterations, abort.signal)
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
    },
  };
}

function describeInfrastructure(testCase: TestCase, { error }: CaseOutcome): string {
  return `Nothing could be established about case ${JSON.stringify(testCase.title)}: ${error ?? 'no reason was given'}`;
}
