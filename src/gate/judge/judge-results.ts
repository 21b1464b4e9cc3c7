import type { Comparison } from '../../model/comparison.ts';
import type { SuiteRequirements } from '../../model/policy.ts';
import type { SuiteResults } from '../../model/results.ts';
import type { Verdict, VerdictReason } from '../../model/verdict.ts';
import { assessSuite, assignReasons, judgeGate, selectFindings, type SuiteJudgement } from '../../verdict/judge.ts';
import type { PlannedBaseline } from '../plan/plan-baseline.ts';
import { compareWithBaseline, listRegressions, settleComparison } from '../../verdict/compare.ts';

/** What was measured of a suite, and what it is judged by. */
export interface MeasuredSuite {
  results: SuiteResults;
  requirements: SuiteRequirements;
}

export interface Judgement {
  suites: Array<SuiteJudgement & MeasuredSuite>;
  verdict: Verdict;
  comparison: Comparison | null;
}

/**
 * Judges the suites and joins their verdicts, held against the baseline where there is one, and with `findings` against the
 * suites that stand whatever the results are. `today` is a day in UTC, `YYYY-MM-DD`.
 */
export function judgeResults(
  measured: readonly MeasuredSuite[],
  {
    baseline,
    today,
    findings = [],
  }: { baseline: PlannedBaseline | null; today: string; findings?: readonly VerdictReason[] },
): Judgement {
  const comparison = compareResults(measured, baseline);
  const regressions = comparison === null ? [] : listRegressions(comparison);
  const all = measured.map(({ results }) => results);
  const reasons = [...assignReasons(findings, all), ...regressions];
  const suites = measured.map(({ results, requirements }) => ({
    results,
    requirements,
    ...assessSuite(results, { policy: { requirements, today }, findings: selectFindings(reasons, results) }),
  }));
  return { suites, verdict: judgeGate(suites.map(({ verdict }) => verdict)), comparison };
}

function compareResults(measured: readonly MeasuredSuite[], planned: PlannedBaseline | null): Comparison | null {
  if (planned === null || planned.baseline === null) return null;
  const asRun = measured.map(({ results, requirements }) => ({ results, effect: requirements.flaky.value }));
  const settled = settleComparison(planned.baseline, asRun);
  return compareWithBaseline(settled.baseline, settled.results, planned.limits);
}
