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
import { findExpectedErrors } from './tool-call.ts';

/** Time limits in milliseconds: of a teardown, and of the rest of a teardown after the caller cancels. */
const teardownTimeoutMs = 30_000;
const cancelledTimeoutMs = 2000;

/** Runs the setup and teardown of a case. Disposing runs the teardown, whatever happened before. */
export interface Fixtures extends AsyncDisposable {
  /** Runs the setup. Returns null on success. If a step fails, returns the ending of the iteration; the case does not run. */
  setUp(): Promise<Ending | null>;
  /** The results of the steps so far. */
  readonly results: readonly StepResult[];
  /** One sentence per failed teardown step. Warnings change no result. */
  readonly warnings: readonly string[];
}

/** Runs a step within a scope. */
export type RunStepIn = (step: Step, stepIndex: number, scope: StepScope) => Promise<StepOutcome>;

interface FixtureOptions {
  scope: StepScope;
  runStep: RunStepIn;
  /** The limit of the iteration. It is on hold during the setup, which has its own limit of the same length. */
  limit: Pick<IterationLimit, 'hold'>;
  timeoutMs: number;
  /** Aborts when the caller cancels. */
  signal: AbortSignal | undefined;
}

/** Prepares the setup and teardown of a case. The trace contains their calls, but assertions of the case ignore them. */
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
    // Numbers the spans of setup and teardown after those of the case.
    const spanIndex = steps.length + index + (phase === 'setup' ? 0 : setup.length);
    const { errors, missing } = findExpectedErrors(phase === 'setup' ? setup : teardown, []);
    const pick = (indexes: ReadonlySet<number>) => new Set(indexes.has(index) ? [spanIndex] : []);
    const schemas = { ...recording.schemas, limit: own };
    const startMs = transcript.elapsedMs();
    let outcome: StepOutcome;
    try {
      own.signal.throwIfAborted();
      outcome = await runStep(step, spanIndex, {
        ...scope,
        connection: boundConnection(scope.connection, own.signal),
        // Shows no apps: assertions on apps ignore the setup and teardown.
        recording: { ...recording, schemas, widgets: null },
        context: { ...scope.context, limit: own, widgets: null },
        expectedErrors: { errors: pick(errors), missing: pick(missing), prompts: new Map(), refusals: new Set() },
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
        // The case had not started, so the process did not end during one of its calls.
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

/** Limits a teardown. After the caller cancels, the teardown may continue for a short time. */
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
