import type { Comparison } from '../../model/comparison.ts';
import { emptyPolicyLayer, settleDemands } from '../../model/policy.ts';
import type { Report } from '../../model/report.ts';
import { buildReport, type ReportInput } from '../../report/build.ts';
import { compareWithBaseline, listRegressions, settleComparison } from '../../verdict/compare.ts';
import { judgeGate } from '../../verdict/judge.ts';
import { joinLayers, listSuiteLayers } from '../../verdict/layers.ts';
import { rejudgeSuite, type RestoredSuite, restoreSuites } from '../../verdict/restore.ts';
import type { PlannedBaseline } from '../plan/plan-baseline.ts';
import type { NewDemands } from '../plan/plan-rejudge.ts';

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
  { baseline, ...demands }: Pick<NewDemands, 'minimumPassRate' | 'baseline' | 'policy'>,
): Report {
  const members = restored.map((member) => demandAnew(member, demands));
  const comparison = compare(members, { baseline, kept: rest.comparison ?? null });
  const regressions = comparison === null ? [] : listRegressions(comparison);
  const suites = members.map((member) => ({ results: member.results, ...rejudgeSuite(member, regressions) }));
  return buildReport({ ...rest, suites, verdict: judgeGate(suites.map(({ verdict }) => verdict)), comparison });
}

function compare(
  members: readonly RestoredSuite[],
  { baseline, kept }: { baseline: PlannedBaseline | null; kept: Comparison | null },
): Comparison | null {
  if (baseline === null || baseline.baseline === null) return kept;
  const suites = members.map(({ results, policy }) => ({ results, effect: policy.demands.flaky.value }));
  const settled = settleComparison(baseline.baseline, suites);
  return compareWithBaseline(settled.baseline, settled.results, baseline.limits);
}

/**
 * A policy is judged as on the day of the results, so that the same report always comes to the same verdict. Its budgets
 * are left out: a report does not tell what was spent.
 */
function demandAnew(
  { results, policy: { demands, today }, ...member }: RestoredSuite,
  { minimumPassRate, policy }: Pick<NewDemands, 'minimumPassRate' | 'policy'>,
): RestoredSuite {
  const layers = policy === null ? [] : listSuiteLayers(policy, { id: results.suiteId, name: results.name });
  const joined = joinLayers(layers);
  // What the history tells of the cases is no part of a policy.
  const settled = settleDemands({ ...joined, budgets: emptyPolicyLayer.budgets });
  const minimum =
    minimumPassRate === null ? joined.minimumPassRate : { value: minimumPassRate, source: 'min-pass-rate' };
  return {
    ...member,
    results:
      minimum === null
        ? results
        : { ...results, minimumPassRate: minimum.value, minimumPassRateSource: minimum.source },
    ...(policy === null
      ? { policy: { demands, today } }
      : { policy: { demands: { ...settled, trials: demands.trials }, today }, findings: [] }),
  };
}
