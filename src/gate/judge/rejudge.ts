import type { Comparison } from '../../model/comparison.ts';
import { emptyPolicyLayer, settleDemands, type SuiteDemands } from '../../model/policy.ts';
import type { Report } from '../../model/report.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { buildReport, type ReportInput } from '../../report/build.ts';
import { compareWithBaseline, listRegressions, settleComparison } from '../../verdict/compare.ts';
import { decideExit, type ExitDecision } from '../../verdict/exit.ts';
import { assignReasons, judgeGate } from '../../verdict/judge.ts';
import { isProtection } from '../../verdict/reason-rules.ts';
import { joinLayers, listSuiteLayers } from '../../verdict/layers.ts';
import { rejudgeSuite, type RestoredSuite, restoreSuites } from '../../verdict/restore.ts';
import type { PlannedBaseline } from '../plan/plan-baseline.ts';
import type { NewDemands } from '../plan/plan-rejudge.ts';
import { nameReported, resolveCaseNames } from '../plan/resolve-names.ts';

/** A report that was judged anew, and what its verdict means for the job. */
export interface Rejudgement {
  report: Report;
  exit: ExitDecision;
}

/** Judges the results of a report anew, under other demands or the same, without running anything. */
export function rejudgeReport(report: Report, demands: NewDemands): Rejudgement {
  const kept = report.comparison;
  const rules = demands.policy?.gate;
  const comparison =
    kept === null
      ? null
      : {
          ...kept,
          maximumRegressions: rules?.maximumRegressions?.value ?? kept.maximumRegressions,
          maximumRateDrop: rules?.maximumRateDrop?.value ?? kept.maximumRateDrop,
        };
  return judgeRestored(restoreSuites(report), { ...report, comparison }, demands);
}

/** Judges restored suites and puts them into a report of which the rest is known. */
export function judgeRestored(
  restored: readonly RestoredSuite[],
  rest: Omit<ReportInput, 'suites' | 'verdict'>,
  {
    baseline,
    findings = [],
    ...demands
  }: Pick<NewDemands, 'minimumPassRate' | 'baseline' | 'policy'> & { findings?: readonly VerdictReason[] },
): Rejudgement {
  const members = restored.map((member) => demandAnew(member, demands));
  const comparison = compare(members, { baseline, kept: rest.comparison ?? null });
  const own = assignReasons(
    findings,
    members.map(({ results }) => results),
  );
  const regressions = [...own, ...(comparison === null ? [] : listRegressions(comparison))];
  const suites = members.map((member) => ({ results: member.results, ...rejudgeSuite(member, regressions) }));
  const exit = decideExit(
    suites.map(({ results: { name }, verdict }, index) => ({
      name,
      verdict,
      demands: { ...settleDemands(emptyPolicyLayer), ...members[index]?.policy.demands },
    })),
  );
  const report = buildReport({
    ...rest,
    suites,
    verdict: judgeGate(suites.map(({ verdict }) => verdict)),
    comparison,
    notes: [...(rest.notes ?? []), ...exit.notes],
    stopsJob: exit.exitCode !== 0,
  });
  return { report, exit };
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
  { results, policy: { demands, today }, findings, ...member }: RestoredSuite,
  { minimumPassRate, policy }: Pick<NewDemands, 'minimumPassRate' | 'policy'>,
): RestoredSuite {
  const written = policy === null ? [] : listSuiteLayers(policy, { id: results.suiteId, name: results.name });
  const cases = results.cases.map(nameReported);
  // What is ambiguous was refused when the plan was made.
  const joined = joinLayers(written.map((layer) => resolveCaseNames(layer, cases, [])));
  // What the history says about the cases is no part of a policy.
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
      ? { policy: { demands: { ...demands, ...pickEffects(settled) }, today }, findings }
      : {
          policy: { demands: { ...settled, trials: demands.trials }, today },
          findings: findings.filter(({ reason }) => isProtection(reason)),
        }),
  };
}

function pickEffects({ onInconclusive, onNothingRun, reportOnly }: SuiteDemands) {
  return { onInconclusive, onNothingRun, reportOnly };
}
