import { formatCount } from '../base/text.ts';
import {
  type BehaviourDifference,
  type BehaviourKind,
  behaviourKinds,
  type BehaviourReport,
} from '../model/behaviour.ts';
import type { BehaviourPolicy } from '../model/behaviour-policy.ts';
import { describeSource } from '../model/source.ts';
import type { VerdictReason } from '../model/verdict.ts';

/** The meaning of the behaviour, compared with that of the base, for the verdict. */
export interface BehaviourJudgement {
  /** The reasons why the verdict is not `passed`. */
  reasons: VerdictReason[];
  /** What the comparison showed, if there is no such reason. */
  kept: VerdictReason | null;
  /** The findings that only warn, one sentence each. */
  warnings: string[];
}

/** The most differences that a reason names; the report lists all. */
const maxNamed = 5;

const words: Readonly<Record<BehaviourKind, [one: string, several: string]>> = {
  broken: ['call that worked is broken', 'calls that worked are broken'],
  lost: ['answer lost the effect of an earlier call', 'answers lost the effects of earlier calls'],
  changed: ['answer has changed', 'answers have changed'],
  slower: ['tool is slower', 'tools are slower'],
  fixed: ['call that failed works', 'calls that failed work'],
};

/** Judges the behaviour of the server by the policy. Pure: the same input always gives the same result. */
export function judgeBehaviour(
  { base, problem, compared, unusedAccepts }: BehaviourReport,
  { behaviour: policy, acceptingLabel }: BehaviourPolicy,
): BehaviourJudgement {
  if (problem !== null || compared === null) {
    const message = `The behaviour is not compared with the base (${base.label}): ${problem ?? 'the gate ended before that.'}`;
    return { reasons: [{ code: 'behaviour-unread', message }], kept: null, warnings: [] };
  }
  const { differences, sessions, tools, isCutByTime } = compared;
  const reasons: VerdictReason[] = [];
  const warnings: string[] = [];
  for (const kind of behaviourKinds) {
    const { value, source } = policy[kind];
    const found = differences.filter((each) => each.kind === kind && each.disposition === value);
    if (found.length === 0 || value === 'ignore') continue;
    const [one, several] = words[kind];
    const message = `${found.length} ${found.length === 1 ? one : several}, compared with the base (${base.label}): ${nameSome(found)} (behaviour.${kind}: ${value}, ${describeSource(source)})${value === 'fail' ? '; if this is meant, accept the ids in the policy, as the report shows' : ''}.`;
    if (value === 'fail') reasons.push({ code: 'behaviour-changed', message });
    else warnings.push(message);
  }
  if (unusedAccepts.length > 0) {
    warnings.push(
      `The policy accepts ${formatCount(unusedAccepts.length, 'difference')} of behaviour that no longer ${unusedAccepts.length === 1 ? 'occurs' : 'occur'}: ${unusedAccepts.join(', ')}. Remove ${unusedAccepts.length === 1 ? 'it' : 'them'} from \`behaviour.accept\`.`,
    );
  }
  const accepted = differences.filter(({ disposition }) => disposition === 'accepted').length;
  if (acceptingLabel !== null && accepted > 0) {
    warnings.push(`The label ${acceptingLabel} accepts ${formatCount(accepted, 'difference')} of behaviour.`);
  }
  if (reasons.length > 0) return { reasons, kept: null, warnings };
  if (sessions.compared === 0) {
    const message = `The behaviour is not compared with the base (${base.label}): no call of it could be repeated. The report says why.`;
    return { reasons: [{ code: 'behaviour-unread', message }], kept: null, warnings };
  }
  const shown = differences.filter(({ disposition }) => disposition === 'review').length;
  const rest = shown === 0 ? '' : `; ${formatCount(shown, 'difference')} to review`;
  const message = `${formatCount(sessions.compared, 'session')} of the base (${base.label}) gave no worse answers; calls of ${tools.reached} of ${formatCount(tools.of, 'tool')} were compared${rest}${isCutByTime ? '; the time limit cut the exploration, so another run may find more' : ''}.`;
  return { reasons, kept: { code: 'behaviour-kept', message }, warnings };
}

function nameSome(differences: readonly BehaviourDifference[]): string {
  const names = [...new Set(differences.map(({ tool, id }) => `${tool ?? 'the server'} (${id})`))];
  const rest = names.length - maxNamed;
  return `${names.slice(0, maxNamed).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
