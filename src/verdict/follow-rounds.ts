import type { CaseResults } from '../model/results.ts';
import type { RoundPoint, RoundsRequirement } from '../model/rounds.ts';
import { sum } from './count.ts';
import type { ErrorRates } from './statistics/errors.ts';
import {
  computeLogEvidenceAbove,
  computeLogEvidenceBelow,
  computeLogEvidenceOfRounds,
  computeRemainingMinimum,
  decideRate,
  decideRateByRounds,
  type RoundTally,
  type SequentialDecision,
  standardWeights,
  turnOver,
} from './statistics/sequential.ts';

export type RoundedCase = Pick<CaseResults, 'byRound' | 'isDeterministic'>;

export interface RoundsRule {
  /** A fraction from 0 to 1. */
  minimum: number;
  errors: ErrorRates;
  /** The number of rounds before which nothing is decided. */
  min: number;
  /** True if iterations of a round may share a state, so that the mean of a round is one observation. */
  isShared: boolean;
}

/** The progress of a requirement on the rate of some cases. */
export interface FollowedRounds extends Pick<RoundsRequirement, 'state' | 'decidedAfter' | 'rounds' | 'path'> {
  /** The minimum that the unknown cases have to meet. */
  remaining: number;
  /** The number of unknown cases. */
  varying: number;
  isShared: boolean;
  /** The rounds so far, up to the round that decided. */
  tally: readonly RoundTally[];
}

/**
 * Follows a requirement through the rounds of its cases: after each round in which all of them have a result it is passed, failed or open,
 * and the first decision stands. The chance that a decision is wrong is at most that of `errors` (see `decideRate` and, if iterations share
 * a state, `decideRateByRounds`).
 *
 * A deterministic case is known after one iteration. Recorded answers are the same every time and show nothing about a rate, so only live
 * results count; if there are none, the count decides.
 */
export function followRounds(cases: readonly RoundedCase[], rule: RoundsRule): FollowedRounds {
  const known = cases.filter(({ isDeterministic }) => isDeterministic === true);
  const live = cases
    .filter((testCase) => testCase.isDeterministic !== true && !isReplayed(testCase))
    .map(({ byRound = '' }) => byRound.replaceAll(/[PF]/g, ''));
  const knownResults = known.map(({ byRound = '' }) => byRound.at(0)?.toLowerCase());
  const knownPassed = knownResults.filter((result) => result === 'p').length;
  const isKnown = knownResults.every((result) => result !== undefined);
  const remaining = computeRemainingMinimum(rule.minimum, {
    cases: known.length + live.length,
    known: known.length,
    passed: knownPassed,
  });
  const scope = { remaining, isShared: rule.isShared };
  const base = { ...scope, varying: live.length, decidedAfter: null, path: [], tally: [] };
  if (live.length === 0) return { ...base, state: isKnown ? 'counted' : 'open', rounds: isKnown ? 1 : 0 };
  const rounds = isKnown ? Math.min(...live.map(({ length }) => length)) : 0;
  const path: RoundPoint[] = [];
  const roundsByPassed = new Map<number, number>();
  for (let round = 1; round <= rounds; round += 1) {
    const passed = live.filter((results) => results.charAt(round - 1) === 'p').length;
    roundsByPassed.set(passed, (roundsByPassed.get(passed) ?? 0) + 1);
    const tally = listTally(roundsByPassed, live.length);
    path.push({ round, ...sumTally(tally), evidence: measureEvidence(tally, scope, rule.errors) });
    const decision = round < rule.min ? 'open' : decideRemaining(tally, scope, rule.errors);
    if (decision !== 'open') return { ...base, state: decision, decidedAfter: round, rounds, path, tally };
  }
  return { ...base, state: 'open', rounds, path, tally: listTally(roundsByPassed, live.length) };
}

/** Checks if recordings answered in all iterations of a case that has run. */
export function isReplayed({ byRound = '' }: RoundedCase): boolean {
  return /^[PF]+$/.test(byRound);
}

function listTally(roundsByPassed: ReadonlyMap<number, number>, cases: number): RoundTally[] {
  return [...roundsByPassed].map(([passed, rounds]) => ({ passed, failed: cases - passed, rounds }));
}

function sumTally(tally: readonly RoundTally[]): { passed: number; failed: number } {
  return {
    passed: sum(tally, ({ passed, rounds }) => passed * rounds),
    failed: sum(tally, ({ failed, rounds }) => failed * rounds),
  };
}

type Scope = Pick<FollowedRounds, 'remaining' | 'isShared'>;

/** Decides about the unknown cases. Their minimum may be out of reach already, or met whatever their results are. */
function decideRemaining(
  tally: readonly RoundTally[],
  { remaining: minimum, isShared }: Scope,
  errors: ErrorRates,
): SequentialDecision {
  if (minimum > 1) return 'failed';
  const rule = { minimum, errors };
  return isShared ? decideRateByRounds(tally, rule) : decideRate(sumTally(tally), rule);
}

/** Measures the evidence from −1 (`failed`) to 1 (`passed`). */
function measureEvidence(tally: readonly RoundTally[], { remaining, isShared }: Scope, errors: ErrorRates): number {
  if (remaining > 1) return -1;
  if (remaining <= 0) return 1;
  const counts = sumTally(tally);
  const [logAbove, logBelow] = isShared
    ? [computeLogEvidenceOfRounds(tally, remaining), computeLogEvidenceOfRounds(tally.map(turnOver), 1 - remaining)]
    : [
        computeLogEvidenceAbove(counts, remaining, standardWeights.above),
        computeLogEvidenceBelow(counts, remaining, standardWeights.below),
      ];
  const above = Math.max(0, logAbove / -Math.log(errors.passing));
  const below = Math.max(0, logBelow / -Math.log(errors.failing));
  const share = Math.max(-1, Math.min(1, above > below ? above : -below));
  // Removes the noise of binary fractions.
  return Math.round(share * 1e6) / 1e6 + 0;
}

/** More iterations than any gate runs. */
const mostFurther = 100_000;

/**
 * Counts the iterations that would probably decide an open requirement, if its cases continued at the rate of their rounds so far; null if
 * it needs more than a hundred thousand.
 */
export function estimateFurther(followed: FollowedRounds, errors: ErrorRates): number | null {
  const { passed, failed } = sumTally(followed.tally);
  if (passed + failed === 0) return null;
  const rounds = estimateRounds(followed, { rate: passed / (passed + failed), errors });
  return rounds === null ? null : rounds * followed.varying;
}

/** Counts the further rounds after which the requirement is decided if each of them has this rate; null if too many. */
export function estimateRounds(
  { tally, varying, ...scope }: FollowedRounds,
  { rate, errors }: { rate: number; errors: ErrorRates },
): number | null {
  const passed = rate * varying;
  const isDecided = (rounds: number): boolean =>
    decideRemaining([...tally, { passed, failed: varying - passed, rounds }], scope, errors) !== 'open';
  let high = 1;
  while (!isDecided(high)) {
    high *= 2;
    if (high * varying > mostFurther) return null;
  }
  let low = 0;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isDecided(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Counts the rounds that have to run before the requirement can be decided at all: until then, neither a series of passes nor one of
 * failures would decide it. This number of rounds can run at once without an unnecessary iteration.
 */
export function countRoundsBeforeDecision(followed: FollowedRounds, { errors, min }: RoundsRule): number {
  const { tally, varying, rounds } = followed;
  for (let further = Math.max(1, min - rounds); further < maxRounds; further += 1) {
    const isDecidable = [
      { passed: varying, failed: 0, rounds: further },
      { passed: 0, failed: varying, rounds: further },
    ].some((series) => decideRemaining([...tally, series], followed, errors) !== 'open');
    if (isDecidable) return further;
  }
  return maxRounds;
}

/**
 * Counts the rounds after which the requirement is decided if all of its iterations pass, or all fail: fewer rounds can never decide it so.
 * Null if more than a thousand are needed.
 */
export function countLeastRounds(
  { varying, ...scope }: FollowedRounds,
  { decision, errors }: { decision: 'passed' | 'failed'; errors: ErrorRates },
): number | null {
  const [passed, failed] = decision === 'passed' ? [varying, 0] : [0, varying];
  for (let rounds = 1; rounds <= 1000; rounds += 1) {
    if (decideRemaining([{ passed, failed, rounds }], scope, errors) === decision) return rounds;
  }
  return null;
}

/** The most iterations that a case may have. */
const maxRounds = 100;
