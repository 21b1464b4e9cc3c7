import type { FlakyEffect } from './policy.ts';
import type { VerdictOutcome } from './verdict.ts';

/**
 * How a case counts for the verdict of its suite:
 * - `passed`: every iteration passed, or the case is flaky and counts as passed.
 * - `failed`: iterations failed, and the suite did not pass.
 * - `tolerated`: iterations failed, and the suite passed all the same, because its minimum allows it.
 * - `excluded`: iterations failed or have no result, and the case does not count: it is in quarantine, on probation, or flaky and
 *   only reported.
 * - `unscored`: nothing was established.
 */
export const dispositions = ['passed', 'failed', 'tolerated', 'excluded', 'unscored'] as const;
export type Disposition = (typeof dispositions)[number];

interface JudgedCase {
  outcome: VerdictOutcome;
  quarantine: object | null;
  probation: object | null;
  flaky: { effect: FlakyEffect } | null;
}

/** Decides once how a case counts; the report stores it, and every renderer reads it there. */
export function decideDisposition(
  { outcome, quarantine, probation, flaky }: JudgedCase,
  suiteOutcome: VerdictOutcome,
): Disposition {
  if (outcome === 'passed') return 'passed';
  if (quarantine !== null || probation !== null || flaky?.effect === 'report') return 'excluded';
  if (flaky?.effect === 'pass') return 'passed';
  if (outcome === 'inconclusive') return 'unscored';
  return suiteOutcome === 'passed' ? 'tolerated' : 'failed';
}
