import { formatCount, formatMoney } from '../base/text.ts';
import { findGreatest } from '../base/lists.ts';
import { formatDuration } from '../base/time.ts';
import { computeCost, listUnmeasured } from '../model/cost.ts';
import type { Budgets, Pricing } from '../model/policy.ts';
import { describeSource, type Sourced } from '../model/source.ts';
import type { SuiteResults } from '../model/results.ts';
import { countTokens } from '../model/usage.ts';
import type { Assessment } from './assessment.ts';
import { sum } from './count.ts';

interface Budget {
  key: string;
  limit: Sourced<number> | null;
  /** Null if nothing was measured. */
  spent: number | null;
  what: string;
  format: (value: number) => string;
  /** The reason why the spending is not known. */
  why?: string;
  /** True if the budget is met although nothing was measured: the gate's own clock enforces it during the run. */
  isHeldElsewhere?: boolean;
}

/**
 * Judges what complete runs of one suite spent against its budgets. Includes quarantined cases, which cost the same. For parallel runs, the
 * longest time counts. The default number of model calls is part of the result only if it was exceeded.
 */
export function assessBudgets(
  runs: readonly SuiteResults[],
  budgets: Budgets,
  { prices, currency }: Pricing,
): Assessment[] {
  const cases = runs.flatMap((results) => results.cases);
  const durationsMs = cases.flatMap((testCase) => testCase.durationsMs);
  const times = runs.map(measureRun).filter((time) => time !== null);
  const judges = cases.flatMap((testCase) => testCase.judges);
  const modelCalls = sum([...cases, ...judges], ({ usage }) => usage?.modelCalls ?? 0);
  const isDefaultKept = budgets.modelCalls?.source === 'default' && modelCalls <= budgets.modelCalls.value;
  const cost = computeCost([...cases, ...judges], prices);
  const tokens = sum(cases, countTokens);
  const unmeasured = listUnmeasured([...cases, ...judges]);
  // The known part of the tokens can exceed the budget already.
  const areTokensKnown = unmeasured.length === 0 || tokens > (budgets.tokens?.value ?? 0);
  const list: Budget[] = [
    {
      key: 'tokens',
      limit: budgets.tokens,
      spent: areTokensKnown ? tokens : null,
      why: `How many tokens the model calls used is not known: ${unmeasured.join('; ')}`,
      what: 'The iterations used',
      format: (value) => formatCount(value, 'token'),
    },
    {
      key: 'modelCalls',
      limit: isDefaultKept ? null : budgets.modelCalls,
      spent: modelCalls,
      what: 'The iterations made',
      format: (value) => formatCount(value, 'model call'),
    },
    {
      key: 'cost',
      limit: budgets.cost,
      spent: cost.amount,
      why: `What the model calls cost is not known: ${cost.gaps.join('; ')}`,
      what: 'The model calls cost',
      format: (value) => formatMoney(value, currency.value),
    },
    {
      key: 'wallTime',
      limit: budgets.wallTimeMs,
      spent: times.length < runs.length ? null : findGreatest(times),
      what: 'The run took',
      format: formatDuration,
      isHeldElsewhere: true,
    },
    {
      key: 'p95IterationTime',
      limit: budgets.p95IterationMs,
      spent: computePercentile(durationsMs, 0.95),
      what: '95% of the iterations took up to',
      format: formatDuration,
    },
    {
      key: 'infrastructureErrors',
      limit: budgets.infrastructureErrors,
      spent: sum(cases, ({ unscored }) => unscored),
      what: 'Without a result ended',
      format: (value) => formatCount(value, 'iteration'),
      // Above this budget there is no verdict at all; the count here includes the cases in quarantine.
      isHeldElsewhere: true,
    },
  ];
  return list.flatMap((budget) => (budget.limit === null ? [] : assessBudget(budget, budget.limit)));
}

function assessBudget({ key, spent, what, why, format, isHeldElsewhere }: Budget, limit: Sourced<number>): Assessment {
  const base = {
    kind: 'budget' as const,
    scope: 'budget' as const,
    subject: key,
    requirement: `at most ${format(limit.value)}`,
    source: limit.source,
    isDecisive: true,
  };
  const allowed = `the budget ${key} is ${format(limit.value)} (${describeSource(limit.source)})`;
  if (spent === null) {
    return isHeldElsewhere === true
      ? { ...base, code: 'budget-exceeded', state: 'met', finding: `Kept by the clock of the gate; ${allowed}` }
      : {
          ...base,
          code: 'requirement-unjudged',
          state: 'unknown',
          finding: `${why ?? 'Nothing was measured for it'}; ${allowed}`,
        };
  }
  const isKept = spent <= limit.value || key === 'infrastructureErrors';
  const finding = `${what} ${format(spent)}, ${allowed}`;
  return { ...base, code: 'budget-exceeded', state: isKept ? 'met' : 'not-met', finding };
}

function measureRun({ run }: SuiteResults): number | null {
  if (run === null || run.createdAtMs === null || run.completedAtMs === null) return null;
  return Math.max(0, run.completedAtMs - run.createdAtMs);
}

/** Computes the smallest value that at least this share of the values does not exceed (nearest rank); null without values. */
export function computePercentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? null;
}
