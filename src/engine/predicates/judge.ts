import { describeError } from '../../base/errors.ts';
import type { Evidence } from '../evidence.ts';
import { isRecord } from '../../base/json.ts';
import { clipReason, printValue } from '../reasons.ts';
import type { SchemaContext } from '../schema-check.ts';
import { apiJudges } from './api.ts';
import type { Judge, Judgement } from './judgement.ts';
import { toolResultJudges } from './tool-result.ts';

const judges: Record<string, Judge> = { ...apiJudges, ...toolResultJudges };

/**
 * Judges one predicate on the transcript so far. Fails closed: an unknown type, a malformed field, missing evidence
 * and even a fault in here are a failed predicate with a reason, never an exception and never a skip.
 *
 * @throws the reason of the limit's signal alone, once it aborts.
 */
export async function judgePredicate(
  predicate: unknown,
  evidence: Evidence,
  context?: SchemaContext,
): Promise<Judgement> {
  const type = isRecord(predicate) ? predicate['type'] : undefined;
  const judge = typeof type === 'string' && Object.hasOwn(judges, type) ? judges[type] : undefined;
  if (judge === undefined) {
    return { passed: false, reason: `unknown predicate type ${printValue(type)}: nothing can be judged by it.` };
  }
  try {
    const judgement = await judge(predicate, evidence, context);
    return { ...judgement, reason: clipReason(`${String(type)}: ${judgement.reason}`) };
  } catch (error) {
    context?.limit?.signal.throwIfAborted();
    return { passed: false, reason: clipReason(`${String(type)}: malformed predicate: ${describeError(error)}`) };
  }
}
