import type { IterationFailure } from '../model/report.ts';
import type { Iteration, StepResult } from '../model/run.ts';

/** Keeps of an iteration that did not pass what a reader needs in order to see why. */
export function describeFailure(iteration: Iteration, steps: readonly StepResult[] | null): IterationFailure {
  const failedStep = steps?.find((step) => step.status === 'fail') ?? null;
  const result = iteration.result ?? iteration.status;
  return {
    iterationId: iteration.id,
    iterationNumber: iteration.iterationNumber,
    result,
    reasons: listReasons(iteration, failedStep, result),
    step: failedStep === null ? null : { id: failedStep.stepId, index: failedStep.stepIndex, kind: failedStep.kind },
    durationMs: iteration.durationMs,
    expectedToolCalls: iteration.expectedToolCalls,
    actualToolCalls: iteration.actualToolCalls,
  };
}

function listReasons(iteration: Iteration, failedStep: StepResult | null, result: string): string[] {
  const toolErrors = (failedStep?.evidence?.toolCalls ?? [])
    .filter((call) => !call.ok && call.error !== undefined)
    .map((call) => `${call.name}: ${call.error}`);
  const given = [failedStep?.reason, iteration.error, ...toolErrors].filter(
    (reason): reason is string => typeof reason === 'string' && reason.trim() !== '',
  );
  return given.length === 0 ? [describeResult(result)] : [...new Set(given)];
}

function describeResult(result: string): string {
  if (result === 'timed_out') return 'The iteration ran out of time.';
  if (result === 'cancelled') return 'The iteration was cancelled before it had a result.';
  return `The service gave no reason; it says "${result}".`;
}
