import { maxFailuresPerCase } from '../model/case-report.ts';
import type { CaseResults, SuiteResults } from '../model/results.ts';
import type { Run } from '../model/run.ts';
import { joinJudges, joinUsage } from '../model/usage.ts';

/**
 * Adds another run of some of its cases to the results of a suite, as if one run had all iterations. A problem of either run is a problem of
 * the sum: an interruption, missing iterations, counts that do not agree.
 */
export function addRounds(results: SuiteResults, further: SuiteResults): SuiteResults {
  const byId = new Map(further.cases.map((testCase) => [testCase.id, testCase]));
  const add = (measure: (each: SuiteResults) => number) => measure(results) + measure(further);
  return {
    ...results,
    run: joinRuns(results.run, further.run),
    cases: results.cases.map((testCase) => joinCase(testCase, byId.get(testCase.id))),
    isComplete: results.isComplete && (further.isComplete || further.run === null),
    iterationsRead: add(({ iterationsRead }) => iterationsRead),
    unknownIterations: add(({ unknownIterations }) => unknownIterations),
    overruled: add(({ overruled }) => overruled),
    contradicted: add(({ contradicted }) => contradicted),
    tunnelBreaks: add(({ tunnelBreaks }) => tunnelBreaks),
    interruption: results.interruption ?? further.interruption,
  };
}

/** Joins two runs under the id of the first. The status is the last one's, since nothing runs after a run that was cut short. */
function joinRuns(first: Run | null, last: Run | null): Run | null {
  if (first === null || last === null) return first ?? last;
  const summaries = first.summary === null || last.summary === null ? null : [first.summary, last.summary];
  const sum = (key: 'total' | 'passed' | 'failed') => (summaries ?? []).reduce((total, each) => total + each[key], 0);
  return {
    ...first,
    status: last.status,
    result: first.result === last.result ? first.result : null,
    summary: summaries === null ? null : { total: sum('total'), passed: sum('passed'), failed: sum('failed') },
    completedAtMs: last.completedAtMs,
    notes: last.notes,
  };
}

function joinCase(earlier: CaseResults, later: CaseResults | undefined): CaseResults {
  if (later === undefined) return earlier;
  const { replayed } = earlier;
  const isUnscored = ({ result }: CaseResults['failures'][number]) => result === 'unscored';
  const failures = [...earlier.failures, ...later.failures];
  return {
    ...earlier,
    planned: earlier.planned + later.planned,
    passed: earlier.passed + later.passed,
    failed: earlier.failed + later.failed,
    unscored: earlier.unscored + later.unscored,
    durationsMs: [...earlier.durationsMs, ...later.durationsMs],
    tokensUsed: earlier.tokensUsed + later.tokensUsed,
    usage: joinUsage([earlier.usage, later.usage]),
    judges: joinJudges([...earlier.judges, ...later.judges]),
    replayed: {
      passed: replayed.passed + later.replayed.passed,
      total: replayed.total + later.replayed.total,
    },
    failures: [...failures.filter((each) => !isUnscored(each)), ...failures.filter(isUnscored)].slice(
      0,
      maxFailuresPerCase,
    ),
  };
}
