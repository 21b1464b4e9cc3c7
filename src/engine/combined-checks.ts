import type { CombinedCheck, InnerCheck } from '../checks/assertion.ts';
import { type Judgement, leaveUnmeasured } from './evidence.ts';
import { joinWithin, maxListLength } from '../checks/reasons.ts';

/** The judgement of the opposite, which says as much about the transcript: what was not measured stays that. */
export function negate(judgement: Judgement): Judgement {
  const { state, reason, failsClosed } = judgement;
  if (failsClosed === 'malformed' || state === 'unmeasured') return judgement;
  if (failsClosed === 'unmeasured') return leaveUnmeasured(reason);
  return { state: state === 'passed' ? 'failed' : 'passed', reason };
}

/**
 * Judges several assertions as one, in the logic of three values: `anyOf` passes with the first that passes, and fails if all fail; `allOf`
 * fails with the first that fails, and passes if all pass. Otherwise, the result is not measured. A part that cannot be read decides.
 */
export async function judgeCombination(
  { type, assertions }: CombinedCheck,
  judge: (assertion: InnerCheck) => Promise<Judgement>,
): Promise<Judgement> {
  const judgements: Judgement[] = [];
  for (const assertion of assertions) judgements.push(await judge(assertion));
  const decisive = type === 'anyOf' ? 'passed' : 'failed';
  const found =
    judgements.find(({ failsClosed }) => failsClosed === 'malformed') ??
    // Of two that fail, one that says something about the transcript decides.
    judgements.find(({ state, failsClosed }) => state === decisive && failsClosed === undefined) ??
    judgements.find(({ state }) => state === decisive) ??
    judgements.find(({ state }) => state === 'unmeasured');
  if (found !== undefined) return found;
  const reason = joinWithin(
    judgements.map((each) => each.reason.replace(/\.$/, '')),
    maxListLength,
  );
  if (type === 'allOf') return { state: 'passed', reason: `${reason}.` };
  const failsClosed = judgements.find((each) => each.failsClosed !== undefined)?.failsClosed;
  return { state: 'failed', reason: `none holds: ${reason}.`, ...(failsClosed !== undefined && { failsClosed }) };
}
