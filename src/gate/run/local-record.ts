import type { Clock } from '../../base/time.ts';
import { type CaseOutcome, joinSteps } from '../../engine/outcome.ts';
import type { Iteration, Run, StepResult } from '../../model/run.ts';
import type { ModelName } from '../../models/language-model.ts';
import type { ExecutionRecord, PlannedIteration } from '../../runner/runner.ts';

export interface LocalIteration extends PlannedIteration {
  /** Null if the case asks no model. */
  model: ModelName | null;
}

/** Keeps the runs of this process in memory, each as long as the gate reads it. */
export interface LocalRecord extends ExecutionRecord {
  open(runId: string, run: NewRun): LocalRun;
}

interface NewRun {
  suiteId: string;
  /** In the order of `list`. */
  iterations: readonly LocalIteration[];
  /** Called with each outcome that the run keeps. */
  onOutcome: (iteration: PlannedIteration, outcome: CaseOutcome) => void;
}

/** The current state of a run. */
export interface LocalRun {
  describe(): Run;
  countFinished(): number;
  list(): Iteration[];
  /** Empty if the iteration did not finish. */
  listSteps(iterationId: string): StepResult[];
  /** Undefined if the iteration did not finish. */
  readTrace(iterationId: string): unknown;
}

interface KeptIteration {
  planned: LocalIteration;
  status: string;
  startedAtMs: number | null;
  /** The outcome; if the run cut the iteration off, only the usage of its models. */
  outcome: Pick<CaseOutcome, 'usage' | 'judges'> & Partial<Omit<CaseOutcome, 'trace'>>;
  /** Kept as JSON outside of the heap, because most traces are never read. */
  trace: Buffer | null;
}

interface KeptRun {
  run: Run;
  passed: number;
  failed: number;
  iterations: ReadonlyMap<string, KeptIteration>;
  onOutcome: NewRun['onOutcome'];
}

export function createLocalRecord(clock: Clock): LocalRecord {
  const executing = new Map<string, KeptRun>();
  const kept = new WeakMap<PlannedIteration, KeptIteration>();
  return {
    open: (runId, { suiteId, iterations, onOutcome }) => {
      const ofRun = iterations.map((planned): KeptIteration => {
        const nothing = { usage: null, judges: [] };
        return { planned, status: 'pending', startedAtMs: null, outcome: nothing, trace: null };
      });
      for (const each of ofRun) kept.set(each.planned, each);
      const opened: KeptRun = {
        run: {
          id: runId,
          suiteId,
          status: 'running',
          result: null,
          summary: null,
          createdAtMs: clock.now(),
          completedAtMs: null,
          notes: null,
        },
        passed: 0,
        failed: 0,
        iterations: new Map(ofRun.map((each) => [each.planned.id, each])),
        onOutcome,
      };
      executing.set(runId, opened);
      return readRun(opened);
    },
    startIteration: (iteration, nowMs) => {
      const found = kept.get(iteration);
      if (found === undefined || found.status !== 'pending') return;
      found.status = 'running';
      found.startedAtMs = nowMs;
    },
    endIteration: (runId, iteration, { trace, ...outcome }) => {
      const found = kept.get(iteration);
      if (found === undefined) return;
      const run = executing.get(runId);
      if (run === undefined || found.status !== 'running') {
        found.outcome = { usage: outcome.usage, judges: outcome.judges };
        return;
      }
      found.status = outcome.status;
      found.outcome = outcome;
      found.trace = Buffer.from(JSON.stringify(trace));
      if (outcome.result !== null) run[outcome.result] += 1;
      run.onOutcome(iteration, { ...outcome, trace });
    },
    endRun: (runId, { status, failure }) => {
      const found = executing.get(runId);
      if (found === undefined) return;
      executing.delete(runId);
      for (const each of found.iterations.values()) {
        if (each.status === 'pending' || each.status === 'running') each.status = 'cancelled';
      }
      found.run = { ...found.run, status, notes: failure, completedAtMs: clock.now() };
    },
  };
}

function readRun(kept: KeptRun): LocalRun {
  const { iterations } = kept;
  return {
    describe: () => {
      const { passed, failed } = kept;
      return { ...kept.run, summary: { total: iterations.size, passed, failed } };
    },
    countFinished: () => kept.passed + kept.failed,
    list: () => [...iterations.values()].map(describeIteration),
    listSteps: (iterationId) => {
      const { steps, fixtures } = iterations.get(iterationId)?.outcome ?? {};
      return steps === undefined || fixtures === undefined ? [] : joinSteps({ steps, fixtures });
    },
    readTrace: (iterationId): unknown => {
      const { trace = null } = iterations.get(iterationId) ?? {};
      return trace === null ? undefined : JSON.parse(trace.toString());
    },
  };
}

function describeIteration({ planned, status, startedAtMs, outcome }: KeptIteration): Iteration {
  const { usage, judges } = outcome;
  return {
    id: planned.id,
    testCaseId: planned.caseId,
    title: planned.testCase.title,
    iterationNumber: planned.iterationNumber,
    status,
    result: outcome.result ?? null,
    startedAtMs: outcome.startedAtMs ?? startedAtMs,
    durationMs: outcome.durationMs ?? null,
    error: outcome.error ?? null,
    model: planned.model?.name ?? null,
    tokensUsed: usage === null ? null : usage.inputTokens + usage.outputTokens,
    usage,
    judges,
    actualToolCalls: outcome.actualToolCalls ?? [],
    expectedToolCalls: outcome.expectedToolCalls ?? [],
    ...((outcome.differences ?? []).length > 0 && { differences: outcome.differences ?? [] }),
  };
}
