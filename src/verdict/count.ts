import type { CaseResults } from '../model/results.ts';

/** Counts the iterations of a case that were read, scored or not. */
export function countRead({ passed, failed, unscored }: CaseResults): number {
  return passed + failed + unscored;
}

/** Counts the iterations of these cases with a result, and those of them that passed. */
export function countScored(cases: readonly CaseResults[]): { passed: number; scored: number } {
  const passed = sum(cases, (testCase) => testCase.passed);
  return { passed, scored: passed + sum(cases, (testCase) => testCase.failed) };
}

export function sum<T>(items: readonly T[], measure: (item: T) => number): number {
  return items.reduce((total, item) => total + measure(item), 0);
}
