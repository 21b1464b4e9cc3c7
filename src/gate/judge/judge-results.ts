import type { Comparison } from '../../model/comparison.ts';
import type { SuiteDemands } from '../../model/policy.ts';
import type { SuiteResults } from '../../model/results.ts';
import type { Verdict, VerdictReason } from '../../model/verdict.ts';
import { assessSuite, assignReasons, judgeGate, selectFindings, type SuiteJudgement } from '../../verdict/judge.ts';
import type { PlannedBaseline } from '../plan/plan-baseline.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';
import { compareWithBaseline, listRegressions, settleComparison } from '../../verdict/compare.ts';

export interface Judgement {
  suites: Array<SuiteJudgement & { results: SuiteResults; policy: SuiteDemands }>;
  verdict: Verdict;
  comparison: Comparison | null;
}

/**
 * Judges the suites' results, which are in the order of the plan, and joins their verdicts, held against the baseline where
 * there is one, and with `findings` against the suites that stand whatever the results are. `today` is a day in UTC, `YYYY-MM-DD`.
 */
export function judgeResults(
  results: readonly SuiteResults[],
  plan: {
    suites: readonly PlannedSuite[];
    baseline: PlannedBaseline | null;
    today: string;
    findings?: readonly VerdictReason[];
  },
): Judgement {
  const { comparison, regressions } = compareResults(results, plan);
  const reasons = [...assignReasons(plan.findings ?? [], results), ...regressions];
  const suites = plan.suites.flatMap(({ demands }, index) => {
    const suite = results[index];
    if (suite === undefined) return [];
    const policy = { demands, today: plan.today };
    return [
      {
        results: suite,
        policy: demands,
        ...assessSuite(suite, { policy, findings: selectFindings(reasons, suite) }),
      },
    ];
  });
  return { suites, verdict: judgeGate(suites.map(({ verdict }) => verdict)), comparison };
}

function compareResults(
  results: readonly SuiteResults[],
  { baseline: planned, suites }: { baseline: PlannedBaseline | null; suites: readonly PlannedSuite[] },
) {
  if (planned === null || planned.baseline === null) return { comparison: null, regressions: [] };
  const asRun = results.map((results, index) => ({ results, effect: suites[index]?.demands.flaky.value ?? 'fail' }));
  const settled = settleComparison(planned.baseline, asRun);
  const comparison = compareWithBaseline(settled.baseline, settled.results, planned.limits);
  return { comparison, regressions: listRegressions(comparison) };
}
