import type { Clock } from '../../base/time.ts';
import { selectAffordable, type Suspect } from '../../verdict/compare-base.ts';
import { noEvidence } from './evidence.ts';
import type { SuiteRunContext } from './run-suite.ts';
import { noIterationLog } from './trace-log.ts';

/** Further iterations of cases that seem worse than before. */
export interface Confirmation {
  /** The cases that further iterations can settle, the ones that need the fewest first. */
  listSuspects: () => readonly Suspect[];
  /** Counts the results of a case so far that help to settle it. */
  countResults: (caseId: string) => number;
  /** Runs each of these cases `atOnce` times further. */
  runFurther: (caseIds: ReadonlySet<string>) => Promise<void>;
  /** Says why these cases cannot run further; null where they can. */
  findObstacle: (caseIds: ReadonlySet<string>) => string | null;
  /** Iterations that all cases may take together. */
  mostIterations: number;
  atOnce: number;
  remainingMs: () => number;
  /** How long a round may take, before one has run. */
  expectedMs: number;
}

/**
 * Runs cases that seem worse further, until that is settled, cannot be settled any more, or would take more iterations or time than there are
 * for it. Returns what was in the way; null where nothing was.
 */
export async function confirmSuspects(confirmation: Confirmation, clock: Clock): Promise<string | null> {
  const { listSuspects, countResults, runFurther, findObstacle, remainingMs, atOnce } = confirmation;
  let left = confirmation.mostIterations;
  let longestMs = confirmation.expectedMs;
  const stuck = new Set<string>();
  for (;;) {
    const suspects = listSuspects().filter(({ id }) => !stuck.has(id));
    const ids = selectAffordable(suspects, left);
    if (ids.size === 0) return null;
    // The reports have to be written as well.
    const obstacle = remainingMs() < 3 * longestMs ? 'There is no time for a further round.' : findObstacle(ids);
    if (obstacle !== null) return obstacle;
    const before = new Map([...ids].map((id) => [id, countResults(id)]));
    const startedMs = clock.monotonicMs();
    await runFurther(ids);
    longestMs = Math.max(longestMs, clock.monotonicMs() - startedMs);
    left -= ids.size * atOnce;
    // A round without a result would be followed by another one without.
    for (const id of ids) if (countResults(id) === before.get(id)) stuck.add(id);
  }
}

/**
 * Runs of which only a comparison reads the iterations: nothing of them is in the report, and no answer is recorded. `sharesBudgets` says
 * whether they use the budgets of their suite.
 */
export function muteContext(context: SuiteRunContext, { sharesBudgets = false } = {}): SuiteRunContext {
  return {
    ...context,
    compared: { sharesBudgets },
    iterationLog: noIterationLog,
    traceLog: null,
    evidence: noEvidence,
    onProgress: () => {},
  };
}
