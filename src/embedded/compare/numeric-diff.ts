import type { RunComparison } from '../../service/operations/run-comparison.ts';

export type NumericDiff = RunComparison['metrics']['totalTokens'];

/** Compares two numbers; null is unknown. The percentage of a base of 0 is unknown too. */
export function diffNumbers(base: number | null, compare: number | null): NumericDiff {
  const delta = base === null || compare === null ? null : compare - base;
  const percentDelta = delta === null || base === null || base === 0 ? null : (delta / base) * 100;
  return { base, compare, delta, percentDelta };
}
