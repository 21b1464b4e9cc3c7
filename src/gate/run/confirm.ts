import type { Clock } from '../../base/time.ts';
import { selectAffordable, type Suspect } from '../../verdict/compare-base.ts';
import { noEvidence } from './evidence-log.ts';
import type { SuiteRunContext } from './run-suite.ts';
import { noIterationLog } from './trace-log.ts';

/** Runs further iterations of cases that seem worse than before. */
export interface Confirmation {
  /** Lists the cases that further iterations can settle; those that need the fewest come first. */
  listSuspects: () => readonly Suspect[];
  /** Counts the results of a case so far that help to settle it. */
  countResults: (caseId: string) => number;
  /** Runs `atOnce` further iterations of each of these cases. */
  runFurther: (caseIds: ReadonlySet<string>) => Promise<void>;
  /** Explains why no further iterations of these cases can run; null if they can. */
  findObstacle: (caseIds: ReadonlySet<string>) => string | null;
  /** The most iterations that all cases may use together. */
  mostIterations: number;
  atOnce: number;
  remainingMs: () => number;
  /** The expected time of a round before one has run. */
  expectedMs: number;
}

/**
 * Runs further iterations of cases that seem worse, until they are settled, can no longer be settled, or would need more iterations or time
 * than is left. Returns the obstacle; null if there was none.
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
    // Leaves time to write the reports.
    const obstacle = remainingMs() < 3 * longestMs ? 'There is no time for a further round.' : findObstacle(ids);
    if (obstacle !== null) return obstacle;
    const before = new Map([...ids].map((id) => [id, countResults(id)]));
    const startedMs = clock.monotonicMs();
    await runFurther(ids);
    longestMs = Math.max(longestMs, clock.monotonicMs() - startedMs);
    left -= ids.size * atOnce;
    // After a round without a result, another round would have none, either.
    for (const id of ids) if (countResults(id) === before.get(id)) stuck.add(id);
  }
}

/**
 * Creates the context of runs whose iterations only a comparison reads: they are not in the report, and no answer is recorded.
 * `sharesBudgets` says that they use the budgets of their suite.
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
