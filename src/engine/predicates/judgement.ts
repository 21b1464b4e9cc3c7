import type { Check, CheckByType } from '../../model/assertion.ts';
import type { Evidence } from '../evidence.ts';
import type { SchemaContext } from '../schema-check.ts';

export interface Judgement {
  passed: boolean;
  /** One sentence without the predicate's name, such as `get-sum was called 2 times.` */
  reason: string;
  /** Set where nothing was established, which leaves the iteration without a result unless something else fails it. */
  isUnscored?: true;
}

/** How each type of check is judged. */
export type Judgements<Types extends Check['type'] = Check['type']> = {
  [Type in Types]: (
    check: CheckByType[Type],
    evidence: Evidence,
    context: SchemaContext | undefined,
  ) => Judgement | Promise<Judgement>;
};
