import type { IterationFailure } from '../model/case-report.ts';
import type { OwnJudgement } from '../model/results.ts';
import type { Iteration, StepResult } from '../model/run.ts';

/** The service's evidence about an iteration that did not pass, and the gate's own judgement. */
export interface FailureEvidence {
  steps: readonly StepResult[] | null;
  /** The reason why it did not pass although the service passed it. */
  overruling: Exclude<OwnJudgement, { kind: 'passed' }> | null;
}

/** Keeps what a reader needs to see why an iteration did not pass. */
export function describeFailure(iteration: Iteration, { steps, overruling }: FailureEvidence): IterationFailure {
  // A failed teardown is never the reason.
  const failedStep = steps?.find((step) => step.status === 'fail' && step.phase !== 'teardown') ?? null;
  const said = iteration.result ?? iteration.status;
  const reasons = listReasons(iteration, failedStep);
  if (overruling !== null) reasons.unshift(overruling.reason);
  const step = failedStep === null ? null : identifyStep(failedStep);
  return {
    iterationId: iteration.id,
    iterationNumber: iteration.iterationNumber,
    result: overruling?.kind ?? (isWithoutResult(iteration) ? 'unscored' : said),
    reasons: reasons.length === 0 ? [describeResult(said)] : [...new Set(reasons)],
    step: overruling?.kind === 'failed' ? overruling.step : step,
    durationMs: iteration.durationMs,
    expectedToolCalls: iteration.expectedToolCalls,
    actualToolCalls: iteration.actualToolCalls,
    ...(iteration.differences !== undefined && { differences: [...iteration.differences] }),
  };
}

function identifyStep({ stepId, stepIndex, kind, phase }: StepResult): IterationFailure['step'] {
  return { id: stepId, index: stepIndex, kind: phase === undefined ? kind : `${phase} ${kind}` };
}

/** Checks if an iteration ended by a fault that says nothing about its case: a status of `failed` without a result. */
function isWithoutResult({ status, result }: Iteration): boolean {
  return status === 'failed' && result === null;
}

function listReasons({ error }: Iteration, failedStep: StepResult | null): string[] {
  const reason = failedStep?.reason ?? null;
  const toolErrors = (failedStep?.evidence?.toolCalls ?? [])
    .filter((call) => !call.ok && call.error !== undefined && call.error !== reason)
    .map((call) => `${call.name}: ${call.error}`);
  // The error of an iteration may begin with the reason of the step, and continue with other failures.
  const others = reason !== null && error?.startsWith(`${reason}\n`) ? error.slice(reason.length + 1) : error;
  return [reason, others, ...toolErrors].filter(
    (text): text is string => typeof text === 'string' && text.trim() !== '',
  );
}

function describeResult(result: string): string {
  if (result === 'timed_out') return 'The iteration ran out of time.';
  if (result === 'cancelled') return 'The iteration was cancelled before it had a result.';
  return `The service gave no reason; it says "${result}".`;
}
