import type { TestCase } from '../model/case.ts';
import type { Step } from '../model/step.ts';
import type { StepResult } from '../model/run.ts';
import type { PredicateResult, TracePrompt } from '../model/trace.ts';
import type { ToolResult } from './evidence.ts';
import { isRecord } from '../base/json.ts';
import { joinWithin, printValue } from './reasons.ts';
import { describeTurn } from './turns.ts';

/** A report shows 1000 characters of a reason; the count of the rest has to fit in. */
const maxLength = 900;

interface Judged {
  steps: readonly StepResult[];
  predicates: readonly PredicateResult[];
  prompts: readonly TracePrompt[];
  toolResults: readonly ToolResult[];
}

/**
 * Describes everything that failed in an iteration, one reason per line: steps, then checks, then the model's turns. Null where
 * nothing failed.
 */
export function describeFailures({ steps: caseSteps }: TestCase, judged: Judged): string | null {
  const failed = judged.steps.filter(({ status }) => status === 'fail');
  const ofCalls = new Set(failed.flatMap(({ kind, reason }) => (kind === 'toolCall' ? [reason] : [])));
  // A call whose error counts has failed its own step, which gives the error in the same words.
  const areErrorsListed = judged.toolResults.every(({ toolError }) => toolError === null || ofCalls.has(toolError));
  const isRepeated = (type: unknown) => type === 'noToolErrors' && ofCalls.size > 0 && areErrorsListed;
  const reasons = [
    ...failed
      .filter(({ stepIndex }) => !isRepeated(readAssertionType(caseSteps[stepIndex])))
      .map(({ stepId, reason }) => reason ?? `Step ${printValue(stepId)} failed.`),
    ...judged.predicates
      .filter(({ passed, predicate }) => !passed && !isRepeated(isRecord(predicate) ? predicate['type'] : undefined))
      .map(({ reason }) => reason),
    ...judged.prompts.map(describeTurn),
  ].filter((reason) => reason !== null);
  return reasons.length === 0 ? null : joinWithin([...new Set(reasons)], maxLength, '\n');
}

function readAssertionType(step: Step | undefined): string | null {
  return step?.kind === 'assert' && 'type' in step.assertion ? step.assertion.type : null;
}
