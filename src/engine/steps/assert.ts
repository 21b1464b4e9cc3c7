import { noBrowserReason, type Assertion } from '../../model/assertion.ts';
import type { Evidence } from '../evidence.ts';
import { judgePredicate } from '../predicates/judge.ts';
import type { StepOutcome } from './step-outcome.ts';

/** Judges an assert step on the transcript so far. A failed one ends the iteration. */
export function runAssertStep(assertion: Assertion, evidence: Evidence): StepOutcome {
  if (!('type' in assertion))
    return { status: 'fail', reason: `${assertion.kind}: ${noBrowserReason}`, effect: 'stop' };
  const { passed, reason } = judgePredicate(assertion, evidence);
  return passed ? { status: 'ok', reason: null, effect: 'continue' } : { status: 'fail', reason, effect: 'stop' };
}
