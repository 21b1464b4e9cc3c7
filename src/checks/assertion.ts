import { isRecord } from '../base/json.ts';
import type { ExpectedError } from './define-check.ts';
import type { ElementCheck } from './elements.ts';
import {
  type CheckRegistry,
  checkRegistry,
  type GatingCheck,
  type HeuristicCheck,
  type JudgeCheck,
} from './registry.ts';

/** The types of checks that combine several checks. */
export const combinationTypes = ['anyOf', 'allOf'] as const;

type Weighed = Pick<GatingCheck, 'role' | 'severity'>;

export type CombinedCheck = { type: (typeof combinationTypes)[number]; assertions: InnerCheck[] } & Weighed;

type NegatedCheck = { type: 'not'; assertion: NegatableCheck } & Weighed;

/** The checks that `not` can wrap. */
export type NegatableCheck = GatingCheck | CombinedCheck;

/** The checks that `anyOf` and `allOf` can combine. */
export type InnerCheck = NegatableCheck | NegatedCheck;

/** Any assertion with a `type`. */
export type Check = InnerCheck | HeuristicCheck | JudgeCheck;

/** Maps each type to its check. */
export type CheckByType = { [Each in Check as Each['type']]: Each };

export type Assertion = Check | ElementCheck;

export function isCombinationType(type: unknown): type is CombinedCheck['type'] {
  return combinationTypes.some((known) => known === type);
}

export function isCombination(check: Check): check is CombinedCheck {
  return isCombinationType(check.type);
}

/** Lists the names of all assertions. */
export function listNames({ checks, elements }: CheckRegistry = checkRegistry): string[] {
  return [...checks.map(({ type }) => type), 'not', ...combinationTypes, ...elements.map(({ kind }) => kind)];
}

/** Says why one check cannot wrap another; null if it can. */
export function findWrapProblem(
  wrapper: 'not' | CombinedCheck['type'],
  check: unknown,
  { find }: CheckRegistry = checkRegistry,
): string | null {
  if (!isRecord(check) || typeof check['type'] !== 'string') {
    return wrapper === 'not'
      ? '`not` wraps an assertion, which has a `type`'
      : `\`${wrapper}\` wraps assertions, each of which has a \`type\``;
  }
  const { type } = check;
  if (type === 'not' && wrapper === 'not') return '`not` cannot wrap another `not`';
  if (find(type)?.weight === 'heuristic') return `\`${type}\` is a heuristic, which \`${wrapper}\` cannot wrap`;
  if (find(type)?.weight === 'judge') {
    const advice = wrapper === 'not' ? '; write the opposite in its rubric' : '; write what it looks for in one rubric';
    return `\`${wrapper}\` cannot wrap a \`judge\`${advice}`;
  }
  return 'role' in check || 'severity' in check ? `Write \`role\` and \`severity\` next to \`${wrapper}\`` : null;
}

/** Says in a sentence why a check cannot have its `role` or `severity`; null if it can. */
export function findRoleProblem(
  check: unknown,
  { find }: CheckRegistry = checkRegistry,
): { field: 'role' | 'severity'; message: string } | null {
  if (!isRecord(check) || isAdvisory(check)) return null;
  const { type, severity } = check;
  const kind = find(type);
  if (kind?.weight === 'heuristic') {
    return { field: 'role', message: `\`${kind.type}\` is a heuristic and cannot gate; write \`role: advisory\`` };
  }
  return severity === undefined ? null : { field: 'severity', message: '`severity` needs `role: advisory`' };
}

/** True if a check is only reported and never changes a result. A judge is advisory unless it sets `role: gating`. */
export function isAdvisory(check: unknown): boolean {
  if (!isRecord(check)) return false;
  return check['type'] === 'judge' ? check['role'] !== 'gating' : check['role'] === 'advisory';
}

/** Checks if a model judges an assertion. */
export function isJudge(assertion: Assertion): assertion is JudgeCheck {
  return 'type' in assertion && assertion.type === 'judge';
}

/** A check that `not` or a combination wraps, or a check by itself. */
interface CheckPart {
  check: Exclude<Check, CombinedCheck | NegatedCheck>;
  isNegated: boolean;
}

/** Lists the checks that an assertion consists of: those that `not` and combinations wrap, or the check itself. */
export function listParts(assertion: Assertion): CheckPart[] {
  if (!('type' in assertion)) return [];
  if (assertion.type === 'not') {
    return listParts(assertion.assertion).map(({ check, isNegated }) => ({ check, isNegated: !isNegated }));
  }
  return isCombination(assertion)
    ? assertion.assertions.flatMap((part) => listParts(part))
    : [{ check: assertion, isNegated: false }];
}

/** Lists the parts that have to pass. */
function listGatingParts(assertion: Assertion): CheckPart[] {
  return isAdvisory(assertion) ? [] : listParts(assertion).filter(({ check }) => !isAdvisory(check));
}

/** Lists the errors that an assertion, or a part of it, needs in order to pass. Skips advisory assertions, because they need not pass. */
export function listExpectedErrors(assertion: Assertion): ExpectedError[] {
  return listGatingParts(assertion).flatMap(({ check, isNegated }) => {
    const read = checkRegistry.find(check.type)?.read(check);
    return read === undefined || 'problem' in read ? [] : (read.expectError(isNegated) ?? []);
  });
}

/** Checks if an assertion, or a part of it, asks whether the model refused. Skips advisory assertions. */
export function asksForRefusal(assertion: Assertion): boolean {
  return listGatingParts(assertion).some(({ check }) => checkRegistry.find(check.type)?.expectsRefusal === true);
}

/** Checks if an assertion, or a part of it, searches the tools that a model is offered. */
export function searchesTools(assertion: Assertion): boolean {
  return listParts(assertion).some(({ check }) => checkRegistry.find(check.type)?.searchesTools === true);
}

export function expectsToolError(assertion: Assertion): boolean {
  return listExpectedErrors(assertion).some(({ of }) => of === 'tool');
}
