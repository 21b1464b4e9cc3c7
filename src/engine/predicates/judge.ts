import type { z } from 'zod';
import { describeError } from '../../base/errors.ts';
import { type Check, type CheckByType, checkSchemas } from '../../model/assertion.ts';
import type { Evidence } from '../evidence.ts';
import { isRecord } from '../../base/json.ts';
import { clipReason, printValue } from '../reasons.ts';
import type { SchemaContext } from '../schema-check.ts';
import { apiJudgements } from './api.ts';
import type { Judgement, Judgements } from './judgement.ts';
import { toolResultJudgements } from './tool-result.ts';

const judgements: Judgements = { ...apiJudgements, ...toolResultJudgements };
const schemas: { [Type in Check['type']]: z.ZodType<CheckByType[Type]> } = checkSchemas;

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
  if (!isJudged(type)) {
    return { passed: false, reason: `unknown predicate type ${printValue(type)}: nothing can be judged by it.` };
  }
  try {
    const judgement = await judgeType(type, predicate, { evidence, context });
    return { ...judgement, reason: clipReason(`${type}: ${judgement.reason}`) };
  } catch (error) {
    context?.limit?.signal.throwIfAborted();
    return { passed: false, reason: clipReason(`${type}: malformed predicate: ${describeError(error)}`) };
  }
}

function isJudged(type: unknown): type is Check['type'] {
  return typeof type === 'string' && Object.hasOwn(judgements, type);
}

/** Reads the fields first, and fails what does not have them. Unknown fields are ignored. */
function judgeType<Type extends Check['type']>(
  type: Type,
  predicate: unknown,
  { evidence, context }: { evidence: Evidence; context: SchemaContext | undefined },
): Judgement | Promise<Judgement> {
  const parsed = schemas[type].safeParse(predicate);
  if (parsed.success) return judgements[type](parsed.data, evidence, context);
  const [issue] = parsed.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return { passed: false, reason: `the predicate is malformed: ${place}${issue?.message ?? 'it is not an object'}.` };
}
