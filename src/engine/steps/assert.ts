import { noBrowserReason, type Assertion } from '../../model/assertion.ts';
import type { Evidence } from '../evidence.ts';
import { judgePredicate } from '../predicates/judge.ts';
import type { SchemaContext } from '../schema-check.ts';
import type { StepOutcome } from './step-outcome.ts';

/**
 * Judges an assert step on the transcript so far. A failed one ends the iteration, and one that could not be judged ends it
 * without a result.
 */
export async function runAssertStep(
  assertion: Assertion,
  evidence: Evidence,
  context: SchemaContext,
): Promise<StepOutcome> {
  if (!('type' in assertion))
    return { status: 'fail', reason: `${assertion.kind}: ${noBrowserReason}`, effect: 'stop' };
  const { passed, reason, isUnscored } = await judgePredicate(assertion, evidence, context);
  if (passed) return { status: 'ok', reason: null, effect: 'continue' };
  return { status: 'fail', reason, effect: isUnscored ? 'give-up' : 'stop' };
}
