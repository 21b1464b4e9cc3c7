import { formatCount } from '../base/text.ts';
import { formatDuration } from '../base/time.ts';
import { type Budgets, type Demanded, describeSource } from '../model/policy.ts';
import type { SuiteResults } from '../model/results.ts';
import type { Assessment } from './assessment.ts';
import { sum } from './count.ts';

interface Budget {
  key: string;
  limit: Demanded<number> | null;
  /** Null where nothing was measured. */
  spent: number | null;
  what: string;
  format: (value: number) => string;
  /** What is met although nothing was measured: the gate's own clock holds it while the run is going on. */
  isHeldElsewhere?: boolean;
}

/** Judges what a complete run spent against its budgets, quarantined cases included: they cost the same. */
export function assessBudgets(results: SuiteResults, budgets: Budgets): Assessment[] {
  const durationsMs = results.cases.flatMap((member) => member.durationsMs);
  const list: Budget[] = [
    {
      key: 'tokens',
      limit: budgets.tokens,
      spent: sum(results.cases, ({ tokensUsed }) => tokensUsed),
      what: 'The iterations used',
      format: (value) => formatCount(value, 'token'),
    },
    {
      key: 'wallTime',
      limit: budgets.wallTimeMs,
      spent: measureRun(results),
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
      spent: sum(results.cases, ({ unscored }) => unscored),
      what: 'Without a result ended',
      format: (value) => formatCount(value, 'iteration'),
      // Above it there is no verdict at all; here the cases in quarantine are counted, too.
      isHeldElsewhere: true,
    },
  ];
  return list.flatMap((budget) => (budget.limit === null ? [] : assessBudget(budget, budget.limit)));
}

function assessBudget({ key, spent, what, format, isHeldElsewhere }: Budget, limit: Demanded<number>): Assessment {
  const base = {
    kind: 'budget' as const,
    scope: 'budget' as const,
    subject: key,
    demand: `at most ${format(limit.value)}`,
    source: limit.source,
    isDecisive: true,
  };
  const allowed = `the budget ${key} is ${format(limit.value)} (${describeSource(limit.source)})`;
  if (spent === null) {
    return isHeldElsewhere === true
      ? { ...base, code: 'budget-exceeded', state: 'met', finding: `Kept by the clock of the gate; ${allowed}` }
      : { ...base, code: 'demand-unjudged', state: 'unknown', finding: `Nothing was measured for it; ${allowed}` };
  }
  const isKept = spent <= limit.value || key === 'infrastructureErrors';
  const finding = `${what} ${format(spent)}, ${allowed}`;
  return { ...base, code: 'budget-exceeded', state: isKept ? 'met' : 'not-met', finding };
}

function measureRun({ run }: SuiteResults): number | null {
  if (run === null || run.createdAtMs === null || run.completedAtMs === null) return null;
  return Math.max(0, run.completedAtMs - run.createdAtMs);
}

/** The smallest value that at least this share of the values does not exceed (nearest rank); null without values. */
export function computePercentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? null;
}
