/**
 * Decides which of several hypotheses are rejected if the chance of rejecting any true one is to be at most `error`. `total` counts all
 * hypotheses; those without a probability in the list have none that is small. Source: S. Holm, "A simple sequentially rejective multiple
 * test procedure", Scandinavian Journal of Statistics 6 (1979) 65-70.
 */
export function rejectByHolm(
  pValues: readonly number[],
  { error, total }: { error: number; total: number },
): boolean[] {
  const order = pValues.map((_, index) => index).toSorted((a, b) => (pValues[a] ?? 1) - (pValues[b] ?? 1));
  const kept = order.findIndex((index, rank) => (pValues[index] ?? 1) > error / (total - rank));
  const rejected = new Set(kept === -1 ? order : order.slice(0, kept));
  return pValues.map((_, index) => rejected.has(index));
}
