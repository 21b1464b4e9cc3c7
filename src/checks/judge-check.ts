import { describeError } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import { endSentence, readFirstLine } from '../base/text.ts';
import { findRoleProblem, isCombinationType } from './assertion.ts';
import { describeMalformed, type FinalStates, type ReadCheck } from './define-check.ts';
import type { Evidence } from './evidence.ts';
import { type CheckAids, type Judgement, leaveUnmeasured, refuse } from './judgement.ts';
import { printValue } from './reasons.ts';
import { type CheckRegistry, checkRegistry } from './registry.ts';
import { createWrapperSchemas, judgeCombination, negate } from './wrappers.ts';

/** How long `not` waits for a notification, in milliseconds. */
const absenceWaitMs = 1000;

/**
 * Judges one check, of any origin, on the transcript so far. Fails closed: an unknown type, a malformed field and even a fault in here
 * are a failed check with a reason, never an exception and never a skip. Where the check asks about something that was not captured, or
 * that what follows a cut could change, it is unmeasured.
 *
 * @throws the reason of the aids' signal alone, once it aborts.
 */
type CheckJudge = (written: unknown, evidence: Evidence, aids: CheckAids) => Promise<Judgement>;

/** Makes the judge of these kinds, and of what wraps them. */
export function createCheckJudge(registry: CheckRegistry): CheckJudge {
  const wrappers = createWrapperSchemas(registry);

  const judge: CheckJudge = async (written, evidence, aids) => {
    const check = isRecord(written) ? written : {};
    const { type } = check;
    if (!isWrapperType(type) && registry.find(type) === null) {
      return refuse(`unknown predicate type ${printValue(type)}: nothing can be judged by it.`);
    }
    try {
      const judgement = await judgeKnown(check, evidence, aids);
      return { ...judgement, reason: `${String(type)}: ${judgement.reason}` };
    } catch (error) {
      aids.signal?.throwIfAborted();
      return refuse(`${String(type)}: malformed predicate: ${describeError(error)}`);
    }
  };

  /** Reads the fields first, and fails what does not have them. Unknown fields are ignored. */
  const judgeKnown = async (check: Record<string, unknown>, evidence: Evidence, aids: CheckAids) => {
    const { type } = check;
    const read = isWrapperType(type) ? readWrapper(type, check) : registry.find(type)?.read(check);
    if (read === undefined || 'problem' in read) {
      return refuse(`the predicate is malformed: ${read?.problem ?? 'it has no type'}.`);
    }
    const problem = findRoleProblem(check, registry);
    if (problem !== null) return refuse(`the predicate is malformed: ${problem.field}: ${problem.message}.`);
    return limitToFinal(await read.judge(evidence, aids), evidence, read.finalStates(evidence));
  };

  /** What checks that wrap others put together is final already. */
  const readWrapper = (type: WrapperType, check: unknown): ReadWrapper | { problem: string } => {
    const parsed = wrappers[type].safeParse(check);
    if (!parsed.success) return { problem: describeMalformed(parsed.error) };
    const { data } = parsed;
    return {
      finalStates: () => 'both',
      judge: async (evidence, aids) => {
        if (data.type !== 'not') return await judgeCombination(data, async (part) => await judge(part, evidence, aids));
        const wait = aids.waitForNotification;
        // What must not come is waited for too, since most come after the answer; but such a wait usually runs to its end.
        const waitForNotification = wait && ((isMet: () => boolean) => wait(isMet, absenceWaitMs));
        return negate(await judge(data.assertion, evidence, { ...aids, waitForNotification }));
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

/** Takes back a judgement of a transcript that was cut, unless it would be the same however the transcript went on. */
function limitToFinal(judgement: Judgement, { cutReason }: Evidence, final: FinalStates): Judgement {
  if (cutReason === null || judgement.failsClosed === 'malformed') return judgement;
  return final === 'both' || judgement.state === final
    ? judgement
    : leaveUnmeasured(`not measured: ${endSentence(readFirstLine(cutReason))}`);
}
