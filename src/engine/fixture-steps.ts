import { type Clock, formatDuration } from '../base/time.ts';
import { endSentence } from '../base/text.ts';
import type { StepResult } from '../model/run.ts';
import type { Step } from '../cases/step.ts';
import { type IterationLimit, startIterationLimit } from './iteration-limit.ts';
import type { Ending } from './outcome.ts';
import { boundConnection } from './process-loss.ts';
import { clipReason } from '../checks/reasons.ts';
import { markEvidence, takeBackEvidence } from './repeat-step.ts';
import type { StepScope } from './run-step.ts';
import type { StepOutcome } from './step-outcome.ts';
import { listExcusedSteps } from './tool-call.ts';

/** How long a teardown may take, and how long it goes on once the caller has asked to stop, in milliseconds. */
const teardownTimeoutMs = 30_000;
const cancelledTimeoutMs = 2000;

/** What stands around the steps of a case. Disposing runs the teardown, whatever has happened. */
export interface Fixtures extends AsyncDisposable {
  /** Runs the setup. Returns how the iteration ends where a step of it failed: the case itself never ran. Else null. */
  setUp(): Promise<Ending | null>;
  /** The results of the steps so far. */
  readonly results: readonly StepResult[];
  /** One sentence for each step of the teardown that failed, which changes no result. */
  readonly warnings: readonly string[];
}

/** Runs a step within a scope. */
export type RunStepIn = (step: Step, stepIndex: number, scope: StepScope) => Promise<StepOutcome>;

interface FixtureOptions {
  scope: StepScope;
  runStep: RunStepIn;
  /** Of the iteration; its time stands still during the setup, which has as much of its own. */
  limit: Pick<IterationLimit, 'hold'>;
  timeoutMs: number;
  /** Aborts when the caller asks to stop. */
  signal: AbortSignal | undefined;
}

/**
 * Prepares the steps that come before and after those of a case. What they do is in the trace, and no assertion of the case counts it.
 */
export function openFixtures(
  { steps, setup = [], teardown = [] }: { steps: readonly Step[]; setup?: readonly Step[]; teardown?: readonly Step[] },
  { scope, runStep, limit, timeoutMs, signal }: FixtureOptions,
): Fixtures {
  const { clock, recording } = scope;
  const { transcript } = recording;
  const results: StepResult[] = [];
  const warnings: string[] = [];

  const runOne = async (
    phase: 'setup' | 'teardown',
    [index, step]: readonly [number, Step],
    own: IterationLimit,
  ): Promise<StepOutcome> => {
    // Spans of the trace are numbered on from those of the case.
    const spanIndex = steps.length + index + (phase === 'setup' ? 0 : setup.length);
    const { errors, missing } = listExcusedSteps(phase === 'setup' ? setup : teardown, []);
    const pick = (indexes: ReadonlySet<number>) => new Set(indexes.has(index) ? [spanIndex] : []);
    const schemas = { ...recording.schemas, limit: own };
    const startMs = transcript.elapsedMs();
    let outcome: StepOutcome;
    try {
      own.signal.throwIfAborted();
      outcome = await runStep(step, spanIndex, {
        ...scope,
        connection: boundConnection(scope.connection, own.signal),
        // Apps are shown for the assertions of the case, which count nothing of this.
        recording: { ...recording, schemas, widgets: null },
        aids: { ...scope.aids, limit: own, widgets: null },
        excused: { errors: pick(errors), missing: pick(missing), prompts: new Map(), refusals: new Set() },
        anyError: false,
      });
    } catch (error) {
      if (own.stoppedBy() === null) throw error;
      const reason = own.stoppedBy() === 'timeout' ? 'The time was up.' : 'It was cancelled.';
      outcome = { status: 'fail', reason, effect: 'stop' };
    }
    const { id, kind } = step;
    if (outcome.status === 'fail') outcome = { ...outcome, reason: describeFailure(phase, step, outcome) };
    const { status, reason, evidence } = outcome;
    transcript.addStepSpan({ id, kind: `${phase} ${kind}` }, spanIndex, { startMs, isOk: status === 'ok' });
    results.push({ stepId: id, stepIndex: index, kind, phase, status, reason, ...(evidence && { evidence }) });
    return outcome;
  };
  return {
    results,
    warnings,
    setUp: async () => {
      if (setup.length === 0) return null;
      using _held = limit.hold();
      using own = startIterationLimit(clock, timeoutMs, signal);
      const mark = markEvidence(transcript);
      for (const entry of setup.entries()) {
        const outcome = await runOne('setup', entry, own);
        if (outcome.status !== 'fail') continue;
        if (own.stoppedBy() === 'caller') return { status: 'cancelled', reason: 'Cancelled in the setup.' };
        const { loss, reason } = outcome;
        // Whatever ended the process, the case had not begun.
        const lost = loss === undefined ? {} : { loss: { ...loss, isDuringCall: false } };
        return { status: 'failed', reason, ...lost };
      }
      takeBackEvidence(transcript, mark);
      return null;
    },
    [Symbol.asyncDispose]: async () => {
      if (teardown.length === 0) return;
      const mark = markEvidence(transcript);
      using own = startTeardownLimit(clock, signal);
      for (const entry of teardown.entries()) {
        const outcome = await runOne('teardown', entry, own.limit);
        if (outcome.status === 'fail' && outcome.reason !== null) warnings.push(outcome.reason);
      }
      takeBackEvidence(transcript, mark);
    },
  };
}

function describeFailure(phase: 'setup' | 'teardown', { id, kind }: Step, { reason }: StepOutcome): string {
  const what = `${phase === 'setup' ? 'Setup' : 'Teardown'} failed in step "${id}" (${kind})`;
  return clipReason(endSentence(`${what}: ${reason ?? 'no reason was given'}`));
}

/** Bounds a teardown, which goes on for a moment once the caller has asked to stop. */
function startTeardownLimit(clock: Clock, caller: AbortSignal | undefined): Disposable & { limit: IterationLimit } {
  const hurried = new AbortController();
  const over = new AbortController();
  const hurry = () => {
    const reason = new Error(`The teardown was not over ${formatDuration(cancelledTimeoutMs)} after it was cancelled.`);
    const wait = clock.sleep(cancelledTimeoutMs, { signal: over.signal });
    void wait.then(
      () => hurried.abort(reason),
      () => {},
    );
  };
  if (caller?.aborted === true) hurry();
  else caller?.addEventListener('abort', hurry, { once: true });
  const limit = startIterationLimit(clock, teardownTimeoutMs, hurried.signal);
  return {
    limit,
    [Symbol.dispose]: () => {
      over.abort('over');
      caller?.removeEventListener('abort', hurry);
      limit[Symbol.dispose]();
    },
  };
}
