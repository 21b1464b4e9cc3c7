import { computeWilsonInterval } from './wilson.ts';

/** The number of items with each pair of ratings by two raters. */
export interface RatingTable {
  bothPassed: number;
  /** The first rater passed it, the second failed it. */
  firstPassed: number;
  secondPassed: number;
  bothFailed: number;
}

/** The agreement beyond chance: 1 is complete, 0 is that of chance, and below 0 it is less. */
export interface Agreement {
  /** The share of items with equal ratings, 0 to 1. */
  accuracy: number;
  kappa: number;
  lower: number;
  upper: number;
}

/**
 * Computes Cohen's kappa of two raters and a two-sided interval; null if both gave every item the same rating, since chance alone explains
 * that. Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20 (1960) 37-46, which
 * takes the agreement of chance as given for the sampling error, too. So the interval is the Wilson interval of the observed agreement,
 * moved to the scale of kappa. Unlike the large-sample error of J. L. Fleiss, J. Cohen and B. S. Everitt, Psychological Bulletin 72 (1969)
 * 323-327, it has a length if the raters never differ, and keeps its confidence with 20 items.
 */
export function computeKappa(table: RatingTable, confidence: number): Agreement | null {
  const { bothPassed, firstPassed, secondPassed, bothFailed } = table;
  const total = bothPassed + firstPassed + secondPassed + bothFailed;
  const first = (bothPassed + firstPassed) / total;
  const second = (bothPassed + secondPassed) / total;
  const byChance = first * second + (1 - first) * (1 - second);
  if (total === 0 || byChance === 1) return null;
  const toKappa = (agreement: number) => (agreement - byChance) / (1 - byChance);
  const { rate, lower, upper } = computeWilsonInterval(bothPassed + bothFailed, total, confidence);
  return { accuracy: rate, kappa: toKappa(rate), lower: Math.max(-1, toKappa(lower)), upper: toKappa(upper) };
}
