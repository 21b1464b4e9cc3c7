import type { SuitePolicy } from '../model/policy.ts';
import type { CaseResults, Rounds, SuiteResults } from '../model/results.ts';
import type { RoundsReport, RoundsRequirement } from '../model/rounds.ts';
import { readErrors } from './confidence-family.ts';
import { countScored } from './count.ts';
import { countRoundsBeforeDecision, estimateFurther, followRounds, isReplayed } from './follow-rounds.ts';
import { splitQuarantine } from './quarantine.ts';
import { findRounds, sharesRounds } from './rounds-rule.ts';
import { listModelRules } from './assess-rates.ts';
import type { ErrorRates } from './statistics/errors.ts';
import { countFixedDesign } from './statistics/fixed-design.ts';

/** A requirement on a pass rate, and the cases that count for it. */
export interface RateScope extends Pick<RoundsRequirement, 'scope' | 'subject' | 'minimum'> {
  cases: readonly CaseResults[];
}

/**
 * Lists the requirements that a confidence decides, the suite's first. Leaves out a minimum of 100%, which is counted and needs no further
 * rounds.
 */
export function listRateScopes(results: SuiteResults, { requirements, today }: SuitePolicy): RateScope[] {
  const { counted } = splitQuarantine(results.cases, requirements, today);
  const having = (has: (testCase: CaseResults) => boolean) => counted.filter(has);
  const scopes: RateScope[] = [
    { scope: 'suite', subject: null, minimum: requirements.minimumPassRate.value, cases: counted },
    ...requirements.tags.map(({ name, value }): RateScope => ({
      scope: 'tag',
      subject: name,
      minimum: value,
      cases: having(({ tags }) => tags.includes(name)),
    })),
    ...listModelRules(results.cases, requirements).map(({ name, value }): RateScope => ({
      scope: 'model',
      subject: name,
      minimum: value,
      cases: having(({ model }) => model === name),
    })),
    ...requirements.cases.map(({ name, value }): RateScope => ({
      scope: 'case',
      subject: counted.find(({ id }) => id === name)?.title ?? name,
      minimum: value,
      cases: having(({ id }) => id === name),
    })),
  ];
  return scopes.filter(({ minimum, cases }) => minimum < 1 && cases.length > 0);
}

/** Counts the minimums of these suites that a confidence decides. */
export function countMinimums(
  suites: ReadonlyArray<{ results: SuiteResults } & Pick<SuitePolicy, 'requirements'>>,
  today: string,
): number {
  const scopes = suites
    .filter(({ requirements }) => requirements.confidence !== null)
    .flatMap(({ results, requirements }) => listRateScopes(results, { requirements, today }));
  return scopes.length;
}

/** The next iterations: each of these cases in each of this number of rounds. */
export interface NextRounds {
  caseIds: ReadonlySet<string>;
  rounds: number;
}

/**
 * Plans which cases continue: those of requirements that are open and have rounds left, so that a decided requirement releases its cases.
 * Plans as many rounds as must run before one of the requirements can be decided, or one round if every round has its own process. Null if
 * nothing is left to decide, or to run.
 */
export function planNextRounds(results: SuiteResults, policy: SuitePolicy): NextRounds | null {
  const rounds = findRounds(results, policy.requirements);
  const { confidence } = policy.requirements;
  if (rounds === null || confidence === null) return null;
  const errors = readErrors(policy.requirements);
  const open = listRateScopes(results, policy).flatMap(({ minimum, cases }) => {
    const rule = { minimum, errors, min: rounds.min, isShared: sharesRounds(rounds) };
    const followed = followRounds(cases, rule);
    if (followed.state !== 'open') return [];
    const varying = cases.filter(isVarying);
    const [least, most] = [countLeast(varying), countMost(varying, rounds)];
    if (least >= most) return [];
    const behind = varying.filter(({ byRound = '' }) => byRound.length === least);
    // The round is over only when all of them have the same number of results.
    const isWhole = behind.length === varying.length && rounds.processes !== 'round';
    return [{ behind, rounds: isWhole ? Math.min(most - least, countRoundsBeforeDecision(followed, rule)) : 1 }];
  });
  if (open.length === 0) return null;
  return {
    caseIds: new Set(open.flatMap(({ behind }) => behind.map(({ id }) => id))),
    rounds: Math.min(...open.map((each) => each.rounds)),
  };
}

/**
 * Checks if a case runs again. A deterministic case does so only if its one iteration has no result, and a case with recorded answers would
 * show nothing new.
 */
function isVarying(testCase: CaseResults): boolean {
  const { isDeterministic, byRound = '' } = testCase;
  return isDeterministic === true ? byRound === '' : !isReplayed(testCase);
}

function countLeast(cases: readonly CaseResults[]): number {
  return Math.min(...cases.map(({ byRound = '' }) => byRound.length));
}

function countMost(cases: readonly CaseResults[], { max }: Rounds): number {
  return Math.min(...cases.map(({ maxRuns = max }) => maxRuns));
}

/** Describes for the report how the requirements were decided; undefined if the number of iterations was fixed. `cost` is that of the report. */
export function reportRounds(
  results: SuiteResults,
  policy: SuitePolicy,
  cost: number | null,
): RoundsReport | undefined {
  const rounds = findRounds(results, policy.requirements);
  const { confidence } = policy.requirements;
  if (rounds === null || confidence === null) return undefined;
  const errors = readErrors(policy.requirements);
  const requirements = listRateScopes(results, policy).map(({ scope, subject, minimum, cases }): RoundsRequirement => {
    const isShared = sharesRounds(rounds);
    const followed = followRounds(cases, { minimum, errors, min: rounds.min, isShared });
    const { state, decidedAfter, path } = followed;
    return {
      scope,
      subject,
      minimum,
      confidence: confidence.value,
      state,
      decidedAfter,
      rounds: followed.rounds,
      further: state === 'open' ? estimateFurther(followed, errors) : null,
      path,
    };
  });
  const iterations = countScored(results.cases).scored;
  const { min, max } = rounds;
  const ran = Math.max(0, ...results.cases.map(({ byRound = '' }) => byRound.length));
  const own = requirements.find(({ scope }) => scope === 'suite');
  // A fixed number of dependent iterations has no power to compare with.
  const fixed = sharesRounds(rounds) ? null : compareWithFixed(own, { errors, iterations, cost });
  return { min, max, ran, iterations, requirements, fixed };
}

function compareWithFixed(
  own: RoundsRequirement | undefined,
  { errors, iterations, cost }: { errors: ErrorRates; iterations: number; cost: number | null },
): RoundsReport['fixed'] {
  if (own === undefined || (own.state !== 'passed' && own.state !== 'failed')) return null;
  const fixed = countFixedDesign(own.state, { minimum: own.minimum, errors });
  if (fixed === null) return null;
  const saved = fixed - iterations;
  const savedCost = cost === null || iterations === 0 ? null : (cost / iterations) * saved;
  return { iterations: fixed, saved, savedCost };
}
