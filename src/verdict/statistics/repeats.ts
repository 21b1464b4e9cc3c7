/**
 * Estimates pass@k: how likely it is that at least one of `k` iterations of a case passes, when `passed` of `total` did. `k`
 * is from 1 to `total`. Unbiased, unlike 1 - (1 - passed / total)^k. Source: M. Chen et al., "Evaluating large language
 * models trained on code" (2021), formula (1), https://arxiv.org/abs/2107.03374.
 */
export function estimatePassAtK(passed: number, total: number, k: number): number {
  return 1 - computeAllDrawn(total - passed, total, k);
}

/**
 * Estimates pass^k: how likely it is that all of `k` iterations of a case pass, when `passed` of `total` did. `k` is from 1 to
 * `total`. Source: S. Yao et al., "τ-bench: a benchmark for tool-agent-user interaction in real-world domains" (2024),
 * section 3, https://arxiv.org/abs/2406.12045.
 */
export function estimatePassHatK(passed: number, total: number, k: number): number {
  return computeAllDrawn(passed, total, k);
}

/** The chance that all of `k` iterations drawn without putting back are among the `marked` ones: C(marked, k) / C(total, k). */
function computeAllDrawn(marked: number, total: number, k: number): number {
  let chance = 1;
  // As a product of fractions, since the binomials themselves leave the range of exact numbers.
  for (let drawn = 0; drawn < k; drawn += 1) chance *= Math.max(0, marked - drawn) / (total - drawn);
  return chance;
}
