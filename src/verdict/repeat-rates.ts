import type { RepeatRates } from '../model/case-report.ts';
import type { SuiteRepeats } from '../model/report.ts';
import type { CaseResults } from '../model/results.ts';
import { sum } from './count.ts';

/** Every `k` up to this one is reported; for a case with more iterations, round numbers and the last one. */
const everyK = 10;
const roundKs = [1, 2, 5, 10, 20, 50];

/**
 * Lists pass@k and pass^k of one case by `k`, up to its number of scored iterations and including the `k` that is reported for its suite;
 * empty if there are fewer than two iterations.
 */
export function listRepeatRates(
  { passed, failed }: Pick<CaseResults, 'passed' | 'failed'>,
  suiteK: number | null,
): RepeatRates[] {
  const total = passed + failed;
  if (total < 2) return [];
  const ks =
    total <= everyK
      ? Array.from({ length: total }, (_, index) => index + 1)
      : [...new Set([...roundKs, ...(suiteK === null ? [] : [suiteK]), total])].filter((k) => k <= total);
  return ks.toSorted((a, b) => a - b).map((k) => computeRates(passed, total, k));
}

/**
 * Computes pass@k and pass^k of a suite: the means over its cases with several scored iterations, for the smallest number of iterations that
 * any of them has, so that no case is left out. Null if no case has several, or if none passed only sometimes: then all rates are 0 or 1,
 * and say no more than the counts.
 */
export function computeSuiteRepeats(cases: ReadonlyArray<Pick<CaseResults, 'passed' | 'failed'>>): SuiteRepeats | null {
  const repeated = cases.filter(({ passed, failed }) => passed + failed >= 2);
  if (!repeated.some(({ passed, failed }) => passed > 0 && failed > 0)) return null;
  const k = repeated.reduce((least, { passed, failed }) => Math.min(least, passed + failed), Infinity);
  const rates = repeated.map(({ passed, failed }) => computeRates(passed, passed + failed, k));
  return {
    k,
    cases: repeated.length,
    passAtK: sum(rates, ({ passAtK }) => passAtK) / rates.length,
    passHatK: sum(rates, ({ passHatK }) => passHatK) / rates.length,
  };
}

function computeRates(passed: number, total: number, k: number): RepeatRates {
  return { k, passAtK: round(estimatePassAtK(passed, total, k)), passHatK: round(estimatePassHatK(passed, total, k)) };
}

/** Rounds to nine decimals, which removes the noise of binary fractions. */
function round(rate: number): number {
  return Math.round(rate * 1e9) / 1e9;
}

/**
 * Estimates pass@k: the probability that at least one of `k` iterations of a case passes, if `passed` of `total` did. `k` is from 1 to
 * `total`. Unbiased, unlike 1 - (1 - passed / total)^k. Source: M. Chen et al., "Evaluating large language models trained on code" (2021),
 * formula (1), https://arxiv.org/abs/2107.03374.
 */
export function estimatePassAtK(passed: number, total: number, k: number): number {
  return 1 - computeAllDrawn(total - passed, total, k);
}

/**
 * Estimates pass^k: the probability that all of `k` iterations of a case pass, if `passed` of `total` did. `k` is from 1 to `total`. Source:
 * S. Yao et al., "τ-bench: a benchmark for tool-agent-user interaction in real-world domains" (2024), section 3,
 * https://arxiv.org/abs/2406.12045.
 */
export function estimatePassHatK(passed: number, total: number, k: number): number {
  return computeAllDrawn(passed, total, k);
}

/** Computes the chance that all of `k` iterations drawn without replacement are among the `marked` ones: C(marked, k) / C(total, k). */
function computeAllDrawn(marked: number, total: number, k: number): number {
  let chance = 1;
  // Computes a product of fractions, since the binomials themselves exceed the range of exact numbers.
  for (let drawn = 0; drawn < k; drawn += 1) chance *= Math.max(0, marked - drawn) / (total - drawn);
  return chance;
}
