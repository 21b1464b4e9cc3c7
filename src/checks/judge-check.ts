import { describeError } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import { findRoleProblem, isCombinationType } from './assertion.ts';
import { nameCheck } from './custom.ts';
import { describeMalformed, limitToFinal, type ReadCheck } from './define-check.ts';
import type { Evidence } from './evidence.ts';
import { type CheckContext, type Judgement, refuse } from './judgement.ts';
import { printValue } from './reasons.ts';
import { type CheckRegistry, checkRegistry } from './registry.ts';
import { createWrapperSchemas, judgeCombination, negate } from './wrappers.ts';

/** The time that `not` waits for a notification, in milliseconds. */
const absenceWaitMs = 1000;

/**
 * Judges one check from any source on the transcript so far. Fails closed: an unknown type, a malformed field or an internal error is a
 * failed check with a reason, never an exception or a skip. The check is unmeasured if its evidence was not captured, or if the part after
 * a cut could change its state.
 *
 * @throws the reason of the context' signal, once it aborts. Nothing else.
 */
type CheckJudge = (written: unknown, evidence: Evidence, context: CheckContext) => Promise<Judgement>;

/** Creates the judge of these kinds and of the checks that wrap them. */
export function createCheckJudge(registry: CheckRegistry): CheckJudge {
  const wrappers = createWrapperSchemas(registry);

  const judge: CheckJudge = async (written, evidence, context) => {
    const check = isRecord(written) ? written : {};
    const { type } = check;
    if (!isWrapperType(type) && registry.find(type) === null) {
      return refuse(`unknown predicate type ${printValue(type)}: nothing can be judged by it.`);
    }
    try {
      const judgement = await judgeKnown(check, evidence, context);
      return { ...judgement, reason: `${nameCheck(check)}: ${judgement.reason}` };
    } catch (error) {
      context.signal?.throwIfAborted();
      return refuse(`${nameCheck(check)}: malformed predicate: ${describeError(error)}`);
    }
  };

  /** Reads the fields before judging, and fails a malformed check. Ignores unknown fields. */
  const judgeKnown = async (check: Record<string, unknown>, evidence: Evidence, context: CheckContext) => {
    const { type } = check;
    const read = isWrapperType(type) ? readWrapper(type, check) : registry.find(type)?.read(check);
    if (read === undefined || 'problem' in read) {
      return refuse(`the predicate is malformed: ${read?.problem ?? 'it has no type'}.`);
    }
    const problem = findRoleProblem(check, registry);
    if (problem !== null) return refuse(`the predicate is malformed: ${problem.field}: ${problem.message}.`);
    return limitToFinal(await read.judge(evidence, context), evidence, read.finalStates(evidence));
  };

  /** The inner checks of a wrapper are limited to final states already. */
  const readWrapper = (type: WrapperType, check: unknown): ReadWrapper | { problem: string } => {
    const parsed = wrappers[type].safeParse(check);
    if (!parsed.success) return { problem: describeMalformed(parsed.error) };
    const { data } = parsed;
    return {
      finalStates: () => 'both',
      judge: async (evidence, context) => {
        if (data.type !== 'not')
          return await judgeCombination(data, async (part) => await judge(part, evidence, context));
        const wait = context.waitForNotification;
        // `not` waits too, because most notifications arrive after the answer. This wait is short, because it usually runs to its end.
        const waitForNotification = wait && ((isMet: () => boolean) => wait(isMet, absenceWaitMs));
        return negate(await judge(data.assertion, evidence, { ...context, waitForNotification }));
      },
    };
  };
  return judge;
}

export const judgeCheck = createCheckJudge(checkRegistry);

type WrapperType = 'not' | 'anyOf' | 'allOf';
type ReadWrapper = Pick<ReadCheck, 'judge' | 'finalStates'>;

function isWrapperType(type: unknown): type is WrapperType {
  return type === 'not' || isCombinationType(type);
}
