import { isRecord } from '../base/json.ts';
import type { Evals } from './eval-tests.ts';

/** Names evals for a test runner, before they are read. */
export function nameEvals(evals: Evals): string {
  if (isRecord(evals)) return typeof evals['suite'] === 'string' ? evals['suite'] : 'evals';
  return [evals].flat().join(', ') || 'evals';
}
