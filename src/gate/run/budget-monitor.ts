import { BudgetError, describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { formatCount } from '../../base/text.ts';
import { type Clock, formatDuration } from '../../base/time.ts';
import type { Budgets } from '../../model/policy.ts';
import { describeSource, type Sourced } from '../../model/source.ts';
import type { SuiteResults } from '../../model/results.ts';
import type { Iteration } from '../../model/run.ts';
import { countTokens } from '../../model/usage.ts';
import { scoreIteration } from '../../verdict/tally.ts';
import type { StartedRun } from './backend.ts';
import type { RunLifetime } from './run-lifetime.ts';

/** The wait between polls grows by this factor, because each costs a request for every 200 iterations. */
const pollBackoff = 1.5;
const longestWaitMs = 60_000;

/** The sums over the iterations of a run that have ended. */
interface Spending {
  tokens: number;
  withoutResult: number;
}

type SpendingBudgets = Pick<Budgets, 'tokens' | 'infrastructureErrors'>;

interface SpendingSource {
  run: Pick<StartedRun, 'listIterations'>;
  /** The first wait. */
  pollIntervalMs: number;
  clock: Clock;
  logger: Logger;
}

/**
 * Polls what a running run has spent, and cancels the run if that is more than a budget allows. Dispose it when the run is over. Without a
 * budget it reads nothing. Ignores a poll that fails: only the verdict needs every page.
 */
export function monitorBudgets(
  budgets: SpendingBudgets,
  { lifetime, ...source }: SpendingSource & { lifetime: Pick<RunLifetime, 'cancelOn'> },
): Disposable {
  const over = new AbortController();
  if (budgets.tokens !== null || budgets.infrastructureErrors !== null) {
    const exceeded = waitForExcess(budgets, { ...source, signal: over.signal });
    // Never settles, so that a run within its budgets cancels nothing.
    lifetime.cancelOn(exceeded.catch(() => new Promise<never>(() => {})));
  }
  return { [Symbol.dispose]: () => over.abort() };
}

async function waitForExcess(
  budgets: SpendingBudgets,
  source: SpendingSource & { signal: AbortSignal },
): Promise<BudgetError> {
  const { clock, logger, signal } = source;
  let waitMs = source.pollIntervalMs;
  for (;;) {
    await clock.sleep(waitMs, { signal });
    waitMs = Math.min(waitMs * pollBackoff, longestWaitMs);
    try {
      const excess = findExcess(await readSpending(source), budgets);
      if (excess !== null) return new BudgetError(excess);
    } catch (error) {
      signal.throwIfAborted();
      logger.debug(`What the run has spent could not be read: ${describeError(error)}`);
    }
  }
}

async function readSpending({ run, signal }: Pick<SpendingSource, 'run'> & { signal: AbortSignal }): Promise<Spending> {
  const spending = { tokens: 0, withoutResult: 0 };
  for await (const page of run.listIterations(signal)) {
    for (const iteration of page) {
      spending.tokens += countTokens(iteration);
      if (isWithoutResult(iteration)) spending.withoutResult += 1;
    }
  }
  return spending;
}

/** Checks if an iteration has ended without a result. An iteration that is still running does not count. */
function isWithoutResult(iteration: Iteration): boolean {
  const isOpen = iteration.status === 'pending' || iteration.status === 'running';
  return !isOpen && scoreIteration(iteration) === 'unscored';
}

function findExcess({ tokens, withoutResult }: Spending, budgets: SpendingBudgets): string | null {
  const exceeds = (spent: number, budget: Sourced<number> | null) => budget !== null && spent > budget.value;
  if (exceeds(tokens, budgets.tokens)) {
    return `The run was cancelled when its iterations had used ${formatCount(tokens, 'token')}, ${describeBudget('tokens', budgets.tokens)}.`;
  }
  if (exceeds(withoutResult, budgets.infrastructureErrors)) {
    return `The run was cancelled when ${formatCount(withoutResult, 'iteration')} had ended without a result, ${describeBudget('infrastructureErrors', budgets.infrastructureErrors)}.`;
  }
  return null;
}

function describeBudget(name: string, budget: Sourced<number> | null): string {
  return budget === null ? name : `the budget ${name} is ${budget.value} (${describeSource(budget.source)})`;
}

/** Cancels the run of a suite if it exceeds its budget of wall time. Dispose it when the run is over; without a budget it does nothing. */
export function startWallTimeBudget(
  budget: Sourced<number> | null,
  { clock, lifetime }: { clock: Clock; lifetime: RunLifetime },
): Disposable {
  const over = new AbortController();
  if (budget !== null) {
    const message = `The run was cancelled after ${formatDuration(budget.value)}, its budget wallTime (${describeSource(budget.source)}).`;
    const exceeded = clock.sleep(budget.value, { signal: over.signal }).then(
      () => new BudgetError(message),
      // Never settles, so that a run that was fast enough cancels nothing.
      () => new Promise<never>(() => {}),
    );
    lifetime.cancelOn(exceeded);
  }
  return { [Symbol.dispose]: () => over.abort() };
}

/** Adds what was spent when a budget ended the run, as far as it could still be read. */
export function addSpending(results: SuiteResults): SuiteResults {
  const { interruption, cases, iterationsRead } = results;
  if (interruption?.code !== 'budget-exceeded') return results;
  const tokens = cases.reduce((sum, testCase) => sum + countTokens(testCase), 0);
  const spent = `Spent by then: ${formatCount(iterationsRead, 'iteration')}, ${formatCount(tokens, 'token')}.`;
  return { ...results, interruption: { ...interruption, message: `${interruption.message} ${spent}` } };
}
