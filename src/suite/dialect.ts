import { type Assertion, type InnerCheck, isAdvisory } from '../checks/assertion.ts';
import { type CheckRegistry, checkRegistry, type JudgeCheck } from '../checks/registry.ts';

/**
 * The form of a case that a service receives. `embedded` is this project's service, which knows every assertion, advisory assertions and a
 * time limit per iteration. Any other service of this API knows some kinds of checks, fails the unknown ones, and may let an advisory
 * assertion decide. The gate leaves those out and judges them in the job.
 */
export type Dialect = 'embedded' | HostedDialect;

interface HostedDialect {
  knownChecks: ReadonlySet<string>;
}

/** Sorts the kinds of checks by the services that know them. */
export function createDialects({ checks }: CheckRegistry): {
  /** Any service with this API, of any version. */
  contract: HostedDialect;
  /** A service of a known newer version. */
  newerContract: HostedDialect;
  /**
   * Checks that newer versions know and that cannot be judged from the stored trace of an iteration. They have no result on a service that
   * does not know them.
   */
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

/** Checks if a service receives an assertion. Every version of the API knows widget assertions. */
export function isSent(assertion: Assertion, dialect: Dialect): boolean {
  if (dialect === 'embedded') return true;
  return !isAdvisory(assertion) && (!('type' in assertion) || dialect.knownChecks.has(assertion.type));
}

/** Checks if the job judges an assertion that the service does not receive. Advisory assertions are excluded. */
export function isJudgedHere(assertion: Assertion, dialect: Dialect): assertion is InnerCheck | JudgeCheck {
  return !isSent(assertion, dialect) && !isAdvisory(assertion);
}
