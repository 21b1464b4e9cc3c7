/** What an earlier gate found, as far as this one can be held against it. */
export interface Baseline {
  /** As the user named it: a path, `branch:main` or `commit:…`. */
  source: string;
  /** ISO 8601. */
  startedAt: string;
  commit: string | null;
  branch: string | null;
  cases: BaselineCase[];
}

export interface BaselineCase extends Counts {
  suiteId: string;
  id: string;
  /** Null where only the id was kept. */
  title: string | null;
  definitionHash: string | null;
}

/** Scored iterations, and those of them that passed. */
export interface Counts {
  passed: number;
  total: number;
}

/**
 * How a case changed since the baseline.
 *
 * - `regressed`: all of its iterations passed and now at most half do, or more than half passed and now none does.
 * - `fixed`: the same the other way round.
 * - `unsteady`: some iterations passed and some did not, then or now, and not by as much as that.
 * - `unchanged`: all passed and all do, or none passed and none does.
 * - `changed`: it does something else than it did, so that the two results are of two cases.
 * - `new`, `removed`: only one side has it.
 * - `unscored`: one side has it and no result of it.
 */
export type CaseChange = (typeof caseChanges)[number];

/** In the order in which they matter to a reader. */
export const caseChanges = [
  'regressed',
  'unsteady',
  'changed',
  'unscored',
  'new',
  'removed',
  'fixed',
  'unchanged',
] as const;

export interface CaseComparison {
  suiteId: string;
  id: string;
  title: string;
  change: CaseChange;
  /** Null where that side has no such case. */
  baseline: Counts | null;
  current: Counts | null;
}

/** How much worse than the baseline a gate may be. */
export interface RegressionLimits {
  /** How many cases may regress, over all suites. */
  maximumRegressions: number;
  /** By how much the pass rate of a suite may fall, a fraction 0..1; null where that is left to the cases. */
  maximumRateDrop: number | null;
}

/** The pass rate of a suite then and now, over the cases that do the same on both sides and have results on both. */
export interface RateChange {
  suiteId: string;
  baseline: Counts;
  current: Counts;
  /** Now minus then, and the range that it plausibly has, as `rateConfidence` has it; fractions -1..1. */
  difference: number;
  lower: number;
  upper: number;
  /** Cases of which a smaller share passes now, and of which a larger one does. */
  worse: number;
  better: number;
  /** How probable so uneven a change of cases would be if the server were as good as it was; a fraction 0..1. */
  pValue: number;
}

/** Of the interval of a difference between two pass rates. */
export const rateConfidence = 0.95;

/** A gate held against its baseline, case by case. */
export interface Comparison extends RegressionLimits {
  baseline: Omit<Baseline, 'cases'>;
  counts: Record<CaseChange, number>;
  /** Over the cases that do the same on both sides and have results on both; the others say nothing about a rate. */
  comparable: { baseline: Counts; current: Counts };
  /** The same for each suite that has such cases, with what it shows. */
  rates: RateChange[];
  /** Cases of the baseline that this gate was not asked to run. */
  notRun: number;
  /** Everything but the unchanged ones, in the order of `caseChanges`. */
  cases: CaseComparison[];
}
