import type { ErrorRates } from './errors.ts';
import { computeLogUpperBeta } from './incomplete-beta.ts';

/** The counts of the iterations of whole rounds: in a round, every open case runs once. */
export interface RoundCounts {
  passed: number;
  failed: number;
}

/** The number of rounds with these passes and failures. */
export interface RoundTally extends RoundCounts {
  rounds: number;
}

/** `open`: the iterations so far establish neither. */
export type SequentialDecision = 'passed' | 'failed' | 'open';

/**
 * How the evidence weighs the rates that it tries against the minimum m: by (1−q)ʷ⁻¹ above it and qʷ⁻¹ below, so that 1 gives all the same
 * weight and more puts the weight near the minimum. Any weights keep the error rate; they choose which suites are decided early.
 */
export interface EvidenceWeights {
  above: number;
  below: number;
}

/**
 * The same weight for all rates above, so that a suite without failures is decided in the fewest rounds; more weight near the minimum below
 * it, where a failing suite is far from it anyway. In simulations, this takes a tenth fewer iterations than equal weights on both sides.
 */
export const standardWeights: EvidenceWeights = { above: 1, below: 4 };

/**
 * Decides whether the mean pass rate of the cases is at least `minimum` (0..1), after any number of rounds: the chance that any of the
 * decisions along the way is wrong is at most that of `errors` for each direction. Counts must be those of whole rounds, since the cases
 * that run first may be the good ones, and no iteration may depend on another. A minimum of 0 is met by definition; one failure refutes a
 * minimum of 1, which is never established. The evidence is a mixture of likelihood ratios, a supermartingale at the ends of rounds although
 * the cases differ: by the inequality of the means and Ville's inequality. Sources: J. Ville, "Étude critique de la notion de collectif"
 * (1939); H. Robbins, "Statistical methods related to the law of the iterated logarithm", Ann. Math. Statist. 41 (1970) 1397-1409; I.
 * Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", J. R. Stat. Soc. B 86 (2024) 1-27.
 */
export function decideRate(
  counts: RoundCounts,
  { minimum, errors, weights = standardWeights }: { minimum: number; errors: ErrorRates; weights?: EvidenceWeights },
): SequentialDecision {
  if (minimum <= 0) return 'passed';
  const { passing, failing } = errors;
  if (computeLogEvidenceAbove(counts, minimum, weights.above) >= -Math.log(passing)) return 'passed';
  return computeLogEvidenceBelow(counts, minimum, weights.below) >= -Math.log(failing) ? 'failed' : 'open';
}

/**
 * Computes the logarithm of the evidence that the mean rate exceeds `minimum` (0..1): the mean of (q/m)ˢ ((1−q)/(1−m))ᶠ over q from m to 1,
 * weighted by (1−q)ʷ⁻¹ with `weight` w. Infinite for a minimum of 0 and at least one pass; −Infinity for a minimum of 1.
 */
export function computeLogEvidenceAbove({ passed, failed }: RoundCounts, minimum: number, weight: number): number {
  if (minimum >= 1) return -Infinity;
  if (minimum <= 0) return passed > 0 ? Infinity : 0;
  return (
    computeLogUpperBeta(passed + 1, failed + weight, minimum) -
    computeLogUpperBeta(1, weight, minimum) -
    passed * Math.log(minimum) -
    failed * Math.log1p(-minimum)
  );
}

/** Computes the mirror image: the logarithm of the evidence that the mean rate is below `minimum`. */
export function computeLogEvidenceBelow({ passed, failed }: RoundCounts, minimum: number, weight: number): number {
  return computeLogEvidenceAbove({ passed: failed, failed: passed }, 1 - minimum, weight);
}

/**
 * Decides the same if the iterations of a round may share a state, such as that of a process: then they are not independent, and the mean of
 * each round is one observation. The evidence that the mean rate exceeds m is a mixture over bets λ of Π (1 + λ(x − m)) for the means x of
 * the rounds. Each factor has an expectation of at most 1 if the rate is at most m, provided that rounds are independent of each other.
 * Source: Waudby-Smith and Ramdas 2024.
 */
export function decideRateByRounds(
  rounds: readonly RoundTally[],
  { minimum, errors }: { minimum: number; errors: ErrorRates },
): SequentialDecision {
  if (minimum <= 0) return 'passed';
  const { passing, failing } = errors;
  if (computeLogEvidenceOfRounds(rounds, minimum) >= -Math.log(passing)) return 'passed';
  return computeLogEvidenceOfRounds(rounds.map(turnOver), 1 - minimum) >= -Math.log(failing) ? 'failed' : 'open';
}

/** Swaps passes and failures: a rate below its minimum is the same question about failures. */
export function turnOver({ passed, failed, rounds }: RoundTally): RoundTally {
  return { passed: failed, failed: passed, rounds };
}

/**
 * The bets as shares of the greatest bet, 1/m. Most of them are large, since the mean of many cases varies little; in simulations that takes
 * an eighth fewer rounds without a failure than equal steps.
 */
const roundBets = Array.from({ length: 100 }, (_, index) => 1 - (1 - (index + 0.5) / 100) ** 2);

/**
 * Computes the logarithm of the evidence of `decideRateByRounds` that the mean rate exceeds `minimum`. Infinite for a minimum of 0 and at
 * least one pass; −Infinity for a minimum of 1.
 */
export function computeLogEvidenceOfRounds(rounds: readonly RoundTally[], minimum: number): number {
  if (minimum >= 1) return -Infinity;
  if (minimum <= 0) return rounds.some(({ passed }) => passed > 0) ? Infinity : 0;
  const gains = rounds.map(({ passed, failed, rounds: count }) => ({
    gain: passed / (passed + failed) / minimum - 1,
    count,
  }));
  return averageInLogs(
    roundBets.map((bet) => gains.reduce((total, { gain, count }) => total + count * Math.log1p(bet * gain), 0)),
  );
}

/** Computes the logarithm of the mean of numbers, from their logarithms. */
function averageInLogs(logs: readonly number[]): number {
  const greatest = Math.max(...logs);
  return greatest + Math.log(logs.reduce((total, log) => total + Math.exp(log - greatest), 0) / logs.length);
}

/**
 * Computes the minimum of the cases that still run, if others are known: `known` cases run once, because they are declared deterministic,
 * and `passed` of them passed. The result may lie outside 0..1, which means that nothing is left to decide.
 */
export function computeRemainingMinimum(
  minimum: number,
  { cases, known, passed }: { cases: number; known: number; passed: number },
): number {
  return (minimum * cases - passed) / (cases - known);
}

/** The pairs of iterations of one case, one iteration on each side. */
export interface PairCounts {
  /** Pairs that passed in the base and failed in the head. */
  broken: number;
  /** Pairs that failed in the base and passed in the head. */
  fixed: number;
}

/**
 * Computes the logarithm of the evidence that the head is worse than the base: that of ∫₀¹ (1+λ)ᵇ (1−λ)ᶜ dλ for b broken and c fixed pairs
 * of whole rounds. If head and base are equally good, the chance that it ever exceeds ln(1/α) is at most α.
 */
export function computeLogEvidenceWorse({ broken, fixed }: PairCounts): number {
  return (broken + fixed + 1) * Math.LN2 + computeLogUpperBeta(broken + 1, fixed + 1, 0.5);
}

/** The tests that share one chance of a false alarm: their number, and that chance (0..1) for all of them together. */
export interface TestFamily {
  tests: number;
  error: number;
}

/**
 * Decides whether the head is worse than the base by these pairs, as one test of a family. The chance that any test of the family is ever
 * wrong is at most its `error`, for any dependence between the tests, any time of stopping and any number of looks: each test may be wrong
 * with an equal share (the inequalities of Ville and Bonferroni).
 */
export function isWorse(pairs: PairCounts, family: TestFamily): boolean {
  return suffices(computeLogEvidenceWorse(pairs), family);
}

/** Decides the same for iterations that share a process within a round: only the mean difference of each round, in [−1, 1], is an observation. */
export function isWorseByRounds(differences: readonly number[], family: TestFamily): boolean {
  return suffices(computeLogEvidenceOfMeans(differences), family);
}

function suffices(logEvidence: number, { tests, error }: TestFamily): boolean {
  return logEvidence >= Math.log(tests / error);
}

/** The bets of the mixture below; any grid keeps the error rate. */
const bets = Array.from({ length: 100 }, (_, index) => (index + 0.5) / 100);

/**
 * Computes the logarithm of the evidence that the mean of independent differences "base minus head" exceeds 0: that of the mean over bets λ
 * in (0, 1) of Π (1 + λd). Each factor has an expectation of at most 1 if the head is no worse (Waudby-Smith and Ramdas 2024).
 */
export function computeLogEvidenceOfMeans(differences: readonly number[]): number {
  return averageInLogs(
    bets.map((bet) => differences.reduce((total, difference) => total + Math.log1p(bet * difference), 0)),
  );
}

/**
 * Counts the further pairs that establish that the head is worse if each of them is broken; null if more than `most` are needed, and 0 if
 * the pairs so far suffice.
 */
export function countPairsToWorse({ broken, fixed }: PairCounts, family: TestFamily, most: number): number | null {
  for (let further = 0; further <= most; further += 1) {
    if (isWorse({ broken: broken + further, fixed }, family)) return further;
  }
  return null;
}
