import type { z } from 'zod';
import type { Evidence } from '../evidence.ts';
import type { SchemaContext } from '../schema-check.ts';

export interface Judgement {
  passed: boolean;
  /** One sentence without the predicate's name, such as `get-sum was called 2 times.` */
  reason: string;
  /** Set where nothing was established, which leaves the iteration without a result unless something else fails it. */
  isUnscored?: true;
}

/** Judges one kind of predicate, given in whatever shape it arrived. */
export type Judge = (
  predicate: unknown,
  evidence: Evidence,
  context: SchemaContext | undefined,
) => Judgement | Promise<Judgement>;

/** Makes a judge that reads its fields first, and fails whatever does not have them. Unknown fields are ignored. */
export function defineJudge<Fields>(
  schema: z.ZodType<Fields>,
  judge: (fields: Fields, evidence: Evidence, context: SchemaContext | undefined) => Judgement | Promise<Judgement>,
): Judge {
  return (predicate, evidence, context) => {
    const parsed = schema.safeParse(predicate);
    if (parsed.success) return judge(parsed.data, evidence, context);
    const [issue] = parsed.error.issues;
    const place = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
    return { passed: false, reason: `the predicate is malformed: ${place}${issue?.message ?? 'it is not an object'}.` };
  };
}
