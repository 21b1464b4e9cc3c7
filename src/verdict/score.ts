import type { Iteration } from '../model/run.ts';

/** How an iteration counts. `unscored` is neither: it ended without a result, or with one unknown to us. */
export type Standing = 'passed' | 'failed' | 'unscored';

/**
 * Decides how an iteration counts. Only a completed one passes. Running out of its own time is the case's failure;
 * `failed` without a result is what infrastructure looks like, and says nothing about the case.
 */
export function scoreIteration({ status, result }: Pick<Iteration, 'status' | 'result'>): Standing {
  if (status === 'timed_out' || result === 'timed_out') return 'failed';
  if (result === 'failed' && (status === 'completed' || status === 'failed')) return 'failed';
  return result === 'passed' && status === 'completed' ? 'passed' : 'unscored';
}
