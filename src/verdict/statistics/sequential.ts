import { computeLogUpperBeta } from './incomplete-beta.ts';

/** What the iterations of whole rounds counted: in a round, every open case runs once. */
export interface RoundCounts {
  passed: number;
  failed: number;
}

/** `open`: the iterations so far establish neither. */
export type SequentialDecision = 'passed' | 'failed' | 'open';

/**
 * How the evidence weighs the rates that it tries against the minimum m: by (1−q)ʷ⁻¹ above it and qʷ⁻¹ below, so that 1 weighs all
 * alike and more puts the weight near the minimum. Any weights keep the error rate; they choose which suites are decided early.
 */
export interface EvidenceWeights {
  above: number;
  below: number;
}

/**
 * Alike above, so that a suite without failures is decided in the fewest rounds; near the minimum below, where a failing suite is
 * far from it anyway. By simulation (`npm run bench -- sequential`) a tenth fewer iterations than alike on both sides.
 */
export const standardWeights: EvidenceWeights = { above: 1, below: 4 };

/**
 * Decides whether the mean pass rate of the cases is at least `minimum` (0..1), after as many rounds as one likes: the chance that any
 * of the decisions along the way is wrong is at most 1 − `confidence` for each direction. Counts must be those of whole rounds, since
 * the cases that run first may be the good ones. A minimum of 0 is met by definition; one of 1 is refuted by one failure and never
 * established. The evidence is a mixture of likelihood ratios, a supermartingale at the ends of rounds although the cases differ: by
 * the inequality of the means and Ville's inequality. Sources: J. Ville, "Étude critique de la notion de collectif" (1939); H. Robbins,
 * "Statistical methods related to the law of the iterated logarithm", Ann. Math. Statist. 41 (1970) 1397-1409; I. Waudby-Smith and
 * A. Ramdas, "Estimating means of bounded random variables by betting", J. R. Stat. Soc. B 86 (2024) 1-27.
 */
export function decideRate(
  counts: RoundCounts,
  {
    minimum,
    confidence,
    weights = standardWeights,
  }: { minimum: number; confidence: number; weights?: EvidenceWeights },
): SequentialDecision {
  if (minimum <= 0) return 'passed';
  const needed = -Math.log1p(-confidence);
  if (computeLogEvidenceAbove(counts, minimum, weights.above) >= needed) return 'passed';
  return computeLogEvidenceBelow(counts, minimum, weights.below) >= needed ? 'failed' : 'open';
}

/**
 * Computes the logarithm of the evidence that the mean rate exceeds `minimum` (0..1): the mean of (q/m)ˢ ((1−q)/(1−m))ᶠ over q from m to
 * 1, weighted by (1−q)ʷ⁻¹ with `weight` w. Infinite for a minimum of 0 and at least one pass; −Infinity for one of 1.
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

/** The mirror image: the logarithm of the evidence that the mean rate is below `minimum`. */
export function computeLogEvidenceBelow({ passed, failed }: RoundCounts, minimum: number, weight: number): number {
  return computeLogEvidenceAbove({ passed: failed, failed: passed }, 1 - minimum, weight);
}

/**
 * Computes what the cases that still run have to meet, where others are known: `known` cases run once, because they are declared
 * deterministic, and `passed` of them did. The result may lie outside 0..1, which says that nothing is left to decide.
 */
export function computeRemainingMinimum(
  minimum: number,
  { cases, known, passed }: { cases: number; known: number; passed: number },
): number {
  return (minimum * cases - passed) / (cases - known);
}

/** Pairs of iterations of one case, one of each side. */
export interface PairCounts {
  /** Pairs that passed in the base and failed in the head. */
  broken: number;
  /** Pairs that failed in the base and passed in the head. */
  fixed: number;
}

/**
 * Computes the logarithm of the evidence that the head is worse than the base: that of ∫₀¹ (1+λ)ᵇ (1−λ)ᶜ dλ for b broken and c fixed
 * pairs of whole rounds. Where head and base are equally good, the chance that it ever exceeds ln(1/α) is at most α.
 */
export function computeLogEvidenceWorse({ broken, fixed }: PairCounts): number {
  return (broken + fixed + 1) * Math.LN2 + computeLogUpperBeta(broken + 1, fixed + 1, 0.5);
}

/** Decides whether the head is worse than the base over all cases, with error rate 1 − `confidence` however often it is asked. */
export function isWorse(pairs: PairCounts, confidence: number): boolean {
  return computeLogEvidenceWorse(pairs) >= -Math.log1p(-confidence);
}

/**
 * Lists the cases in which the head is worse than the base; of those that are listed, the expected share that is not worse is at most
 * 1 − `confidence`, whatever depends on what and whenever one stops. The e-Benjamini-Hochberg rule: with the evidence sorted downwards,
 * the first j where the j-th is at least K/(jα). Source: R. Wang and A. Ramdas, "False discovery rate control with e-values",
 * J. R. Stat. Soc. B 84 (2022) 822-852.
 */
export function listWorse<Case extends PairCounts>(cases: readonly Case[], confidence: number): Case[] {
  const sorted = cases
    .map((item) => ({ item, evidence: computeLogEvidenceWorse(item) }))
    .toSorted((one, two) => two.evidence - one.evidence);
  const needed = -Math.log1p(-confidence);
  const last = sorted.findLastIndex(({ evidence }, index) => evidence >= needed + Math.log(cases.length / (index + 1)));
  return sorted.slice(0, last + 1).map(({ item }) => item);
}
