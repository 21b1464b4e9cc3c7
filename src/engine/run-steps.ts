import type { ExcessError } from '../mcp/traffic-budget.ts';
import type { StepResult } from '../model/run.ts';
import type { Step } from '../cases/step.ts';
import type { ClientScript } from './client-script.ts';
import { failByExcess } from './connect.ts';
import { completed, type Ending } from './outcome.ts';
import type { Connection } from './process-loss.ts';
import { clipReasonBefore } from '../checks/reasons.ts';
import type { StepOutcome } from './step-outcome.ts';
import type { Transcript } from './transcript.ts';

/**
 * Runs the steps in order until one ends the iteration. Adds a result to `results` for each step that it starts. `interrupt` returns the
 * ending for a step that threw; null if the iteration was not stopped.
 */
export async function runSteps(
  steps: readonly Step[],
  { all }: Pick<Connection, 'all'>,
  {
    runStep,
    interrupt,
    transcript,
    script,
    signal,
    results,
  }: {
    runStep: (step: Step, stepIndex: number) => Promise<StepOutcome>;
    interrupt: (step: Step) => Ending | null;
    transcript: Transcript;
    script: ClientScript;
    /** The signal of the iteration's limit. */
    signal: AbortSignal;
    results: StepResult[];
  },
): Promise<Ending> {
  const findExcess = () => all.map(({ session }) => session.excess).find((excess) => excess !== null) ?? null;
  for (const [stepIndex, step] of steps.entries()) {
    const startMs = transcript.elapsedMs();
    let outcome: StepOutcome;
    let ending: Ending | null = null;
    transcript.currentStep = { step, stepIndex };
    try {
      signal.throwIfAborted();
      const excess = findExcess();
      outcome =
        excess === null
          ? await runScripted(() => runStep(step, stepIndex), {
              script,
              signal,
              findExcess,
              transcript,
              kind: step.kind,
            })
          : { status: 'fail', reason: excess.message, effect: 'stop' };
      if (outcome.effect === 'stop') ending = completed;
      if (outcome.effect === 'give-up' || outcome.effect === 'unmeasured') {
        const { reason, loss, effect } = outcome;
        const more = loss && { loss };
        const isDecided = effect === 'unmeasured' && results.some(({ status }) => status === 'fail');
        ending = isDecided ? { ...completed, ...more } : { status: 'failed', reason, ...more };
        if (isDecided) outcome = { ...outcome, status: 'skipped' };
      }
    } catch (error) {
      ending = interrupt(step);
      if (ending === null) throw error;
      script.settleStep(true);
      if (ending.status === 'timed_out' && script.lack !== null && findExcess() === null)
        ending = { status: 'failed', reason: script.lack };
      const status = ending.status === 'cancelled' ? 'skipped' : 'fail';
      outcome = { status, reason: ending.reason, effect: 'stop' };
    }
    transcript.currentStep = null;
    transcript.addStepSpan(step, stepIndex, { startMs, isOk: outcome.status === 'ok' });
    const { status, reason, evidence } = outcome;
    results.push({ stepId: step.id, stepIndex, kind: step.kind, status, reason, ...(evidence && { evidence }) });
    if (ending !== null) return ending;
  }
  const excess = findExcess();
  return excess === null ? completed : failByExcess(excess);
}

/** The kinds of steps that fail because of a judgement, or because of a result that is in the transcript. */
const judgedKinds: ReadonlySet<Step['kind']> = new Set(['assert', 'toolCall', 'prompt', 'repeat']);

/**
 * Runs a step until it ends, or until a request of the server has no answer. If a call failed because the case does not offer a capability,
 * the failure of its step is unmeasured, unless the server exceeded a limit.
 */
async function runScripted(
  run: () => Promise<StepOutcome>,
  {
    script,
    signal,
    findExcess,
    transcript,
    kind,
  }: {
    script: ClientScript;
    signal: AbortSignal;
    findExcess: () => ExcessError | null;
    transcript: Transcript;
    kind: Step['kind'];
  },
): Promise<StepOutcome> {
  const early = script.takeEnd();
  if (early !== null) return early;
  const [firstResult, firstReply] = [transcript.toolResults.length, transcript.replies.length];
  try {
    const outcome = await run();
    const end = script.takeEnd();
    script.settleStep(
      transcript.toolResults.slice(firstResult).some(({ isError }) => isError) ||
        transcript.replies.slice(firstReply).some(({ error }) => error !== null) ||
        (outcome.status === 'fail' && !judgedKinds.has(kind)),
    );
    if (end !== null) return end;
    const { status, effect, reason } = outcome;
    if (
      script.lack === null ||
      findExcess() !== null ||
      status !== 'fail' ||
      (effect !== 'stop' && effect !== 'continue')
    )
      return outcome;
    return { ...outcome, reason: clipReasonBefore(script.lack, reason ?? ''), effect: 'unmeasured' };
  } catch (error) {
    const end = signal.aborted ? null : script.takeEnd();
    if (end === null) throw error;
    return end;
  }
}
