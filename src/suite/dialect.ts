import { type Assertion, type InnerCheck, isAdvisory } from '../checks/assertion.ts';
import { type CheckRegistry, checkRegistry, type JudgeCheck } from '../checks/registry.ts';

/**
 * What a service makes of a case. `embedded` is our own service, which knows every assertion, advice and a time limit per iteration. Any
 * other service of this API knows some kinds of checks, fails those that it does not know, and may let advice decide: what it does not
 * know is left out of what it gets, and judged in the job.
 */
export type Dialect = 'embedded' | HostedDialect;

interface HostedDialect {
  knownChecks: ReadonlySet<string>;
}

/** Which of the kinds of checks services know. */
export function createDialects({ checks }: CheckRegistry): {
  /** Of any service with this API, in whatever version. */
  contract: HostedDialect;
  /** Of a service whose version is known to be a newer one. */
  newerContract: HostedDialect;
  /** What newer versions know and the stored trace of an iteration does not show. Such a check has no result where a service does not know it. */
  untracedChecks: ReadonlySet<string>;
} {
  const list = (wanted: CheckRegistry['checks']) => new Set(wanted.map(({ type }) => type));
  return {
    contract: { knownChecks: list(checks.filter(({ service }) => service === 'contract')) },
    newerContract: { knownChecks: list(checks.filter(({ service }) => service !== undefined)) },
    untracedChecks: list(checks.filter(({ service, isInTrace }) => service === 'newer' && !isInTrace)),
  };
}

export const { contract, newerContract, untracedChecks } = createDialects(checkRegistry);

/** Whether a service gets an assertion. One on a rendered widget is as old as the API. */
export function isSent(assertion: Assertion, dialect: Dialect): boolean {
  if (dialect === 'embedded') return true;
  return !isAdvisory(assertion) && (!('type' in assertion) || dialect.knownChecks.has(assertion.type));
}

/** Whether an assertion that a service does not get can decide all the same. Advice cannot. */
export function isJudgedHere(assertion: Assertion, dialect: Dialect): assertion is InnerCheck | JudgeCheck {
  return !isSent(assertion, dialect) && !isAdvisory(assertion);
}
