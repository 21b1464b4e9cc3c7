import type { Evals } from './eval-tests.ts';

/** Names evals for a test runner, before they are read. */
export function nameEvals(evals: Evals): string {
  return typeof evals === 'object' && 'suite' in evals ? evals.suite : [evals].flat().join(', ');
}
