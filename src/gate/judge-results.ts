import type { Comparison } from '../model/comparison.ts';
import type { SuiteResults } from '../model/results.ts';
import type { Verdict } from '../model/verdict.ts';
import type { JudgedSuite } from '../report/build.ts';
import { assessSuite, judgeGate, selectFindings } from '../verdict/judge.ts';
import type { PlannedBaseline } from './plan-baseline.ts';

export interface Judgement {
  suites: JudgedSuite[];
  verdict: Verdict;
  comparison: Comparison | null;
}

/** Judges the suites' results and joins their verdicts, held against the baseline where there is one. */
export async function judgeResults(
  results: readonly SuiteResults[],
  planned: PlannedBaseline | null,
): Promise<Judgement> {
  const { comparison, regressions } = await compareResults(results, planned);
  const suites = results.map((suite) => ({
    results: suite,
    ...assessSuite(suite, { findings: selectFindings(regressions, suite) }),
  }));
  return { suites, verdict: judgeGate(suites.map(({ verdict }) => verdict)), comparison };
}

async function compareResults(results: readonly SuiteResults[], planned: PlannedBaseline | null) {
  if (planned === null) return { comparison: null, regressions: [] };
  const { compareWithBaseline, listRegressions } = await import('../verdict/compare.ts');
  const comparison = compareWithBaseline(planned.baseline, results, planned.maximumRegressions);
  return { comparison, regressions: listRegressions(comparison) };
}
