import { type Clock, formatDuration } from '../../base/time.ts';
import { BudgetError } from '../../base/errors.ts';
import { type Demanded, describeSource } from '../../model/policy.ts';
import type { RunLifetime } from './run-lifetime.ts';

/**
 * Cancels the run of a suite when it outlasts its budget of wall time. Dispose it when the run is over; without a
 * budget it does nothing.
 */
export function startWallTimeBudget(
  budget: Demanded<number> | null,
  { clock, lifetime }: { clock: Clock; lifetime: RunLifetime },
): Disposable {
  const over = new AbortController();
  if (budget !== null) {
    const message = `The run was cancelled after ${formatDuration(budget.value)}, its budget wallTime (${describeSource(budget.source)}).`;
    const exceeded = clock.sleep(budget.value, { signal: over.signal }).then(
      () => new BudgetError(message),
      // Never settles, so that a run that was quick enough cancels nothing.
      () => new Promise<never>(() => {}),
    );
    lifetime.cancelOn(exceeded);
  }
  return { [Symbol.dispose]: () => over.abort() };
}
