import type { z } from 'zod';
import { describeError } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import {
  type Check,
  type CheckByType,
  checkSchemas,
  type CombinedCheck,
  findRoleProblem,
} from '../checks/assertion.ts';
import { appJudgements } from './app-checks.ts';
import { widgetJudgements } from './apps/widget-checks.ts';
import { callJudgements } from './call-checks.ts';
import { clientJudgements } from './client-checks.ts';
import { judgeCombination, negate } from './combined-checks.ts';
import { limitToFinal } from './cut-evidence.ts';
import { definitionJudgements } from './definition-checks.ts';
import { type Evidence, type Judgement, type Judgements, type JudgingAids, refuse } from './evidence.ts';
import { judgeByModel } from './judge-check.ts';
import { notificationJudgements } from './notification-checks.ts';
import { clipReason, printValue } from '../checks/reasons.ts';
import { replyJudgements } from './reply-checks.ts';
import { responseJudgements } from './response-checks.ts';
import { toolResultJudgements } from './tool-result-checks.ts';

const judgements: Judgements = {
  ...callJudgements,
  ...clientJudgements,
  ...definitionJudgements,
  ...responseJudgements,
  ...toolResultJudgements,
  ...replyJudgements,
  ...notificationJudgements,
  ...appJudgements,
  ...widgetJudgements,
  judge: async (check, evidence, aids) => await judgeByModel(check, evidence, aids ?? {}),
  not: async ({ assertion }, evidence, aids) => {
    const wait = aids?.waitForNotification;
    // What must not come is waited for too, since most come after the answer; but such a wait usually runs to its end.
    const briefly = wait && { waitForNotification: (isMet: () => boolean) => wait(isMet, absenceWaitMs) };
    return negate(await judgeCheck(assertion, evidence, aids && { ...aids, ...briefly }));
  },
  anyOf: judgeParts,
  allOf: judgeParts,
};

/** How long `not` waits for a notification, in milliseconds. */
const absenceWaitMs = 1000;

const readers: { [Type in Check['type']]: z.ZodType<CheckByType[Type]> } = checkSchemas;

/**
 * Judges one predicate on the transcript so far. Fails closed: an unknown type, a malformed field and even a fault in
 * here are a failed predicate with a reason, never an exception and never a skip. Where the check asks about something that was not
 * captured, or that what follows a cut could change, it is unmeasured.
 *
 * @throws the reason of the limit's signal alone, once it aborts.
 */
export async function judgePredicate(
  predicate: unknown,
  evidence: Evidence,
  aids?: JudgingAids,
): Promise<Pick<Judgement, 'state' | 'reason'>> {
  const { state, reason } = await judgeCheck(predicate, evidence, aids);
  return { state, reason: clipReason(reason) };
}

/** Judges a predicate in the same way, and says why it failed where the transcript does not. */
export async function judgeCheck(
  predicate: unknown,
  evidence: Evidence,
  aids: JudgingAids | undefined,
): Promise<Judgement> {
  const check = isRecord(predicate) ? predicate : {};
  const { type } = check;
  if (!isJudged(type)) return refuse(`unknown predicate type ${printValue(type)}: nothing can be judged by it.`);
  try {
    const judgement = await judgeType(type, check, { evidence, aids });
    return { ...judgement, reason: `${type}: ${judgement.reason}` };
  } catch (error) {
    aids?.limit?.signal.throwIfAborted();
    return refuse(`${type}: malformed predicate: ${describeError(error)}`);
  }
}

function isJudged(type: unknown): type is Check['type'] {
  return typeof type === 'string' && Object.hasOwn(judgements, type);
}

async function judgeParts(check: CombinedCheck, evidence: Evidence, aids: JudgingAids | undefined): Promise<Judgement> {
  return await judgeCombination(check, async (assertion) => await judgeCheck(assertion, evidence, aids));
}

/** Reads the fields first, and fails what does not have them. Unknown fields are ignored. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- ties what one table reads to what the other judges
async function judgeType<Type extends Check['type']>(
  type: Type,
  check: Record<string, unknown>,
  { evidence, aids }: { evidence: Evidence; aids: JudgingAids | undefined },
): Promise<Judgement> {
  const parsed = readers[type].safeParse(check);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
    return refuse(`the predicate is malformed: ${field}${issue?.message ?? 'it is not an object'}.`);
  }
  const problem = findRoleProblem(check);
  if (problem !== null) return refuse(`the predicate is malformed: ${problem.field}: ${problem.message}.`);
  const judgement = await judgements[type](parsed.data, evidence, aids);
  return limitToFinal(judgement, { type, fields: parsed.data, evidence });
}
