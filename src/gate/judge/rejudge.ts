import type { Comparison } from '../../model/comparison.ts';
import { emptyPolicyLayer, applyPolicyDefaults, type SuiteRequirements } from '../../model/policy.ts';
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
      requirements: { ...applyPolicyDefaults(emptyPolicyLayer), ...members[index]?.policy.requirements },
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
  const suites = members.map(({ results, policy }) => ({ results, effect: policy.requirements.flaky.value }));
  const settled = settleComparison(baseline.baseline, suites);
  return compareWithBaseline(settled.baseline, settled.results, baseline.limits);
}

/**
 * A policy is judged as on the day of the results, so that the same report always comes to the same verdict. Its budgets
 * are left out: a report does not tell what was spent.
 */
function demandAnew(
  { results, policy: { requirements, today }, findings, ...member }: RestoredSuite,
  { minimumPassRate, policy }: Pick<NewDemands, 'minimumPassRate' | 'policy'>,
): RestoredSuite {
  const inFile = policy === null ? [] : listSuiteLayers(policy, { id: results.suiteId, name: results.name });
  const cases = results.cases.map(nameReported);
  // What is ambiguous was refused when the plan was made.
  const joined = joinLayers(inFile.map((layer) => resolveCaseNames(layer, cases, [])));
  const written = minimumPassRate === null ? null : { value: minimumPassRate, source: 'min-pass-rate' };
  const minimum = written ?? joined.minimumPassRate ?? requirements.minimumPassRate;
  const settled = applyPolicyDefaults({ ...joined, minimumPassRate: minimum, budgets: emptyPolicyLayer.budgets });
  if (policy === null) {
    const kept = { ...requirements, minimumPassRate: minimum, ...pickEffects(settled) };
    return { ...member, results, policy: { requirements: kept, today }, findings };
  }
  return {
    ...member,
    results,
    // What the history says about the cases is no part of a policy.
    policy: { requirements: { ...settled, trials: requirements.trials }, today },
    findings: findings.filter(({ reason }) => isProtection(reason)),
  };
}

function pickEffects({ onInconclusive, onNothingRun, reportOnly }: SuiteRequirements) {
  return { onInconclusive, onNothingRun, reportOnly };
}
