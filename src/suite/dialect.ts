import { type ApiType, type Assertion, type InnerCheck, isAdvisory, type JudgeCheck } from '../checks/assertion.ts';

/**
 * What a service makes of a case. `embedded` is our own service, which knows every assertion, advice and a time limit per iteration. Any
 * other service of this API knows some kinds of checks, fails those that it does not know, and may let advice decide: what it does not
 * know is left out of what it gets, and judged in the job.
 */
export type Dialect = 'embedded' | HostedDialect;

interface HostedDialect {
  knownChecks: ReadonlySet<string>;
}

/** What every version of the API knows. */
const contractChecks = [
  'toolCalledWith',
  'toolCalledAtLeastOnce',
  'toolNeverCalled',
  'firstToolWas',
  'responseContains',
  'responseMatches',
  'noToolErrors',
  'finalAssistantMessageNonEmpty',
  'tokenBudgetUnder',
  'turnCountUnder',
  'widgetRendered',
  'widgetRenderLatencyUnder',
  'widgetNoConsoleErrors',
] as const satisfies readonly ApiType[];

/** What newer versions know as well. */
const newerChecks = [
  'toolCalledBefore',
  'toolCallCountUnder',
  'onlyToolsCalled',
  'argumentsMatchToolSchema',
  'noDestructiveToolCalled',
  'toolResultSizeUnder',
  'responseCloseTo',
] as const satisfies ReadonlyArray<Exclude<ApiType, (typeof contractChecks)[number]>>;

/** Of these, what the stored trace of an iteration does not show. Its check has no result where a service does not know it. */
export const untracedChecks: ReadonlySet<string> = new Set<(typeof newerChecks)[number]>([
  'argumentsMatchToolSchema',
  'noDestructiveToolCalled',
  'toolResultSizeUnder',
]);

/** Of any service with this API, in whatever version. */
export const contract: HostedDialect = { knownChecks: new Set(contractChecks) };

/** Of a service whose version is known to be a newer one. */
export const newerContract: HostedDialect = { knownChecks: new Set([...contractChecks, ...newerChecks]) };

/** Whether a service gets an assertion. One on a rendered widget is as old as the API. */
export function isSent(assertion: Assertion, dialect: Dialect): boolean {
  if (dialect === 'embedded') return true;
  return !isAdvisory(assertion) && (!('type' in assertion) || dialect.knownChecks.has(assertion.type));
}

/** Whether an assertion that a service does not get can decide all the same. Advice cannot. */
export function isJudgedHere(assertion: Assertion, dialect: Dialect): assertion is InnerCheck | JudgeCheck {
  return !isSent(assertion, dialect) && !isAdvisory(assertion);
}
