import type { FlakyEffect } from './policy.ts';
import type { VerdictOutcome } from './verdict.ts';

/**
 * How a case counts for the verdict of its suite:
 * - `passed`: every iteration passed, or the case is flaky and counts as passed.
 * - `failed`: iterations failed, and the suite did not pass.
 * - `tolerated`: iterations failed, but the suite passed, because its minimum allows it.
 * - `excluded`: iterations failed or have no result, and the case does not count: it is in quarantine, on probation, or flaky and only
 * reported.
 * - `unscored`: there is no result.
 */
export const dispositions = ['passed', 'failed', 'tolerated', 'excluded', 'unscored'] as const;
export type Disposition = (typeof dispositions)[number];

interface JudgedCase {
  outcome: VerdictOutcome;
  quarantine: object | null;
  probation: object | null;
  flaky: { effect: FlakyEffect } | null;
}

/** Decides how a case counts. The report stores the decision, so that every renderer shows the same one. */
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
