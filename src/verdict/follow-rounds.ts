import type { CaseResults } from '../model/results.ts';
import type { RoundPoint, RoundsRequirement } from '../model/rounds.ts';
import { splitConfidence } from './statistics/errors.ts';
import {
  computeLogEvidenceAbove,
  computeLogEvidenceBelow,
  computeRemainingMinimum,
  decideRate,
  type SequentialDecision,
  standardWeights,
} from './statistics/sequential.ts';

export type RoundedCase = Pick<CaseResults, 'byRound' | 'isDeterministic'>;

export interface RoundsRule {
  /** 0..1 */
  minimum: number;
  /** 0..1 */
  confidence: number;
  /** Rounds before which nothing is decided. */
  min: number;
}

/** How far a requirement on the rate of some cases is decided. */
export interface FollowedRounds extends Pick<RoundsRequirement, 'state' | 'decidedAfter' | 'rounds' | 'path'> {
  /** What the cases that are not known have to meet. */
  remaining: number;
  /** How many of the cases are not known. */
  varying: number;
}

/**
 * Follows a requirement through the rounds of its cases: after each round in which all of them have a result it is passed, failed or
 * open, and stays as it was first decided. The chance that a decision is wrong is at most half of 1 − `confidence` (see `decideRate`).
 *
 * Deterministic cases are known after one iteration. Recorded answers are the same every time and show nothing about a rate, so that only
 * live results count; where there are none, the count decides.
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
  const base = { remaining, varying: live.length, decidedAfter: null, path: [] };
  if (live.length === 0) return { ...base, state: isKnown ? 'counted' : 'open', rounds: isKnown ? 1 : 0 };
  const rounds = isKnown ? Math.min(...live.map(({ length }) => length)) : 0;
  const path: RoundPoint[] = [];
  let passed = 0;
  for (let round = 1; round <= rounds; round += 1) {
    passed += live.filter((results) => results.charAt(round - 1) === 'p').length;
    const counts = { passed, failed: round * live.length - passed };
    path.push({ round, ...counts, evidence: measureEvidence(counts, remaining, rule.confidence) });
    const decision = round < rule.min ? 'open' : decideRemaining(counts, remaining, rule.confidence);
    if (decision !== 'open') return { ...base, state: decision, decidedAfter: round, rounds, path };
  }
  return { ...base, state: 'open', rounds, path };
}

/** Of a case that has run, whether recordings answered in all of it. */
export function isReplayed({ byRound = '' }: RoundedCase): boolean {
  return /^[PF]+$/.test(byRound);
}

interface Counts {
  passed: number;
  failed: number;
}

/** What known cases leave may be out of reach already, or met whatever the others do. */
function decideRemaining(counts: Counts, remaining: number, confidence: number): SequentialDecision {
  return remaining > 1 ? 'failed' : decideRate(counts, { minimum: remaining, confidence });
}

/** In −1..1: how far it is to `failed` or to `passed`. */
function measureEvidence(counts: Counts, remaining: number, confidence: number): number {
  if (remaining > 1) return -1;
  if (remaining <= 0) return 1;
  const { passing, failing } = splitConfidence(confidence);
  const above = Math.max(0, computeLogEvidenceAbove(counts, remaining, standardWeights.above) / -Math.log(passing));
  const below = Math.max(0, computeLogEvidenceBelow(counts, remaining, standardWeights.below) / -Math.log(failing));
  const share = Math.max(-1, Math.min(1, above > below ? above : -below));
  // Without the noise of binary fractions.
  return Math.round(share * 1e6) / 1e6 + 0;
}

/** More than any gate runs. */
const mostFurther = 100_000;

/**
 * Counts the iterations that would probably decide an open requirement, if its cases went on at the rate of their last round; null where
 * it takes more than a hundred thousand.
 */
export function estimateFurther({ path, remaining, varying }: FollowedRounds, confidence: number): number | null {
  const { passed, failed } = path.at(-1) ?? { passed: 0, failed: 0 };
  const total = passed + failed;
  if (total === 0) return null;
  return estimateIterations(passed / total, { minimum: remaining, confidence, ran: total, step: varying });
}

/** Counts the iterations beyond `ran` that decide whether `rate` is at least `minimum`, in steps of `step`; null where too many. */
export function estimateIterations(
  rate: number,
  { minimum, confidence, ran, step }: { minimum: number; confidence: number; ran: number; step: number },
): number | null {
  const isDecided = (further: number): boolean => {
    const total = ran + further;
    const passed = rate * total;
    return decideRemaining({ passed, failed: total - passed }, minimum, confidence) !== 'open';
  };
  let high = step;
  while (!isDecided(high)) {
    high *= 2;
    if (high > mostFurther) return null;
  }
  let [low, steps] = [0, Math.ceil(high / step)];
  while (low < steps) {
    const middle = Math.floor((low + steps) / 2);
    if (isDecided(middle * step)) steps = middle;
    else low = middle + 1;
  }
  return low * step;
}

/**
 * Counts the rounds that have to run before the requirement can be decided at all: until then, neither a series of passes nor one of
 * failures would. So that many can run at once without an iteration too many.
 */
export function countRoundsBeforeDecision(followed: FollowedRounds, { confidence, min }: RoundsRule): number {
  const { path, remaining, varying, rounds } = followed;
  const { passed, failed } = path.at(-1) ?? { passed: 0, failed: 0 };
  for (let further = Math.max(1, min - rounds); further < maxRounds; further += 1) {
    const more = further * varying;
    const isDecidable = [
      { passed: passed + more, failed },
      { passed, failed: failed + more },
    ].some((counts) => decideRemaining(counts, remaining, confidence) !== 'open');
    if (isDecidable) return further;
  }
  return maxRounds;
}

/**
 * Counts the rounds after which the requirement is decided if all of its iterations pass, or all fail: fewer can never decide it so. Null
 * where more than a thousand are needed.
 */
export function countLeastRounds(
  { remaining, varying }: FollowedRounds,
  { decision, confidence }: { decision: 'passed' | 'failed'; confidence: number },
): number | null {
  for (let round = 1; round <= 1000; round += 1) {
    const [passed, failed] = decision === 'passed' ? [round * varying, 0] : [0, round * varying];
    if (decideRemaining({ passed, failed }, remaining, confidence) === decision) return round;
  }
  return null;
}

/** As many as a case may have iterations. */
const maxRounds = 100;
