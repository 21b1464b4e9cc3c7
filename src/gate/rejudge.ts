import type { Comparison } from '../model/comparison.ts';
import type { Report } from '../model/report.ts';
import type { SuiteResults } from '../model/results.ts';
import { buildReport, type ReportInput } from '../report/build.ts';
import { compareWithBaseline, listRegressions } from '../verdict/compare.ts';
import { judgeGate } from '../verdict/judge.ts';
import { rejudgeSuite, type RestoredSuite, restoreSuites } from '../verdict/restore.ts';
import type { PlannedBaseline } from './plan-baseline.ts';

/** What is demanded in place of what the gate was asked for; null leaves that. */
export interface NewDemands {
  /** Fraction 0..1. */
  minimumPassRate: number | null;
  baseline: PlannedBaseline | null;
  maximumRegressions: number | null;
  /** Fraction 0..1. */
  maximumRateDrop: number | null;
}

/** Judges the results of a report anew, under other demands or the same, without running anything. */
export function rejudgeReport(report: Report, demands: NewDemands): Report {
  const kept = report.comparison;
  const comparison =
    kept === null
      ? null
      : {
          ...kept,
          maximumRegressions: demands.maximumRegressions ?? kept.maximumRegressions,
          maximumRateDrop: demands.maximumRateDrop ?? kept.maximumRateDrop,
        };
  return judgeRestored(restoreSuites(report), { ...report, comparison }, demands);
}

/** Judges restored suites and puts them into a report of which the rest is known. */
export function judgeRestored(
  restored: readonly RestoredSuite[],
  rest: Omit<ReportInput, 'suites' | 'verdict'>,
  { minimumPassRate, baseline }: Pick<NewDemands, 'minimumPassRate' | 'baseline'>,
): Report {
  const members = restored.map((member) => ({ ...member, results: demandMinimum(member.results, minimumPassRate) }));
  const comparison = compare(
    members.map(({ results }) => results),
    { baseline, kept: rest.comparison ?? null },
  );
  const regressions = comparison === null ? [] : listRegressions(comparison);
  const suites = members.map((member) => ({ results: member.results, ...rejudgeSuite(member, regressions) }));
  return buildReport({ ...rest, suites, verdict: judgeGate(suites.map(({ verdict }) => verdict)), comparison });
}

function compare(
  results: readonly SuiteResults[],
  { baseline, kept }: { baseline: PlannedBaseline | null; kept: Comparison | null },
): Comparison | null {
  if (baseline === null || baseline.baseline === null) return kept;
  return compareWithBaseline(baseline.baseline, results, baseline.limits);
}

function demandMinimum(results: SuiteResults, minimumPassRate: number | null): SuiteResults {
  return minimumPassRate === null ? results : { ...results, minimumPassRate, minimumPassRateSource: 'min-pass-rate' };
}
