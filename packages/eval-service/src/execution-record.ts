import type { Clock } from '../../../src/base/time.ts';
import { meetsMinimumPassRate } from '../../../src/model/rate.ts';
import type { ExecutionRecord } from '../../../src/runner/runner.ts';
import type { Store } from './store/open-store.ts';

/** Writes the progress of running runs to the store. */
export function createExecutionRecord(store: Store, clock: Clock): ExecutionRecord {
  return {
    startIteration: ({ id }, nowMs) => store.iterations.start(id, nowMs),
    endIteration: (runId, { id }, outcome) => {
      const { result } = outcome;
      store.transact(() => {
        if (store.iterations.end(id, outcome) && result !== null) store.runs.count(runId, result);
      });
    },
    endRun: (runId, { status, failure }) => {
      store.transact(() => {
        const run = store.runs.get(runId);
        const isPassed = run !== undefined && meetsMinimumPassRate(run.passed, run.total, run.minimumPassRate / 100);
        const result = status === 'completed' ? (isPassed ? 'passed' : 'failed') : null;
        store.runs.end(runId, { status, result, failure, now: clock.now() });
        store.iterations.cancel(runId);
      });
    },
  };
}
