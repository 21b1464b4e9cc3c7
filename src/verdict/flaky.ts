import type { FlakyEffect, SuiteRequirements } from '../model/policy.ts';
import type { CaseClass } from '../model/case-report.ts';
import type { CaseResults, RetryRound, SuiteResults } from '../model/results.ts';
import { joinJudges, joinUsage } from '../model/usage.ts';
import { splitQuarantine } from './quarantine.ts';

/**
 * Classifies a case over all rounds: `passed` if nothing failed, `flaky` if something failed and a later round passed completely, else
 * `failed`; null if nothing was established.
 */
export function classifyCase({
  planned,
  passed,
  failed,
  unscored,
  retries,
}: Pick<CaseResults, 'planned' | 'passed' | 'failed' | 'unscored' | 'retries'>): CaseClass | null {
  if (failed > 0) return retries.some((round) => round.total > 0 && round.passed === round.total) ? 'flaky' : 'failed';
  return passed > 0 && passed === planned && unscored === 0 ? 'passed' : null;
}

/**
 * Applies the effect of flaky cases: such a case counts with its first results (`fail`), with its last round (`pass`), or not at all
 * (`report`). All other cases stay unchanged.
 */
export function countFlaky(cases: readonly CaseResults[], effect: FlakyEffect): CaseResults[] {
  if (effect === 'fail') return [...cases];
  return cases.flatMap((testCase) => {
    const last = testCase.retries.at(-1);
    if (last === undefined || classifyCase(testCase) !== 'flaky') return [testCase];
    if (effect === 'report') return [];
    return [
      {
        ...testCase,
        planned: last.total,
        passed: last.passed,
        failed: last.total - last.passed,
        unscored: 0,
        // Later rounds do not record which iterations were live; if the first round has recordings, none counts as live.
        replayed: testCase.replayed.total === 0 ? testCase.replayed : last,
      },
    ];
  });
}

/**
 * Lists the cases to run again: those with a failed iteration in every round so far. A case in quarantine on this day, `YYYY-MM-DD`, does
 * not count in either way and does not run again.
 */
export function listStillFailing(
  { cases }: SuiteResults,
  requirements: Pick<SuiteRequirements, 'quarantine' | 'probation'>,
  today: string,
): CaseResults[] {
  return splitQuarantine(cases, requirements, today).counted.filter((testCase) => classifyCase(testCase) === 'failed');
}

/**
 * Adds a further round to the results. `found` are the results of the cases that ran again; if the round was incomplete, only their spending
 * counts.
 */
export function addRetryRound(results: SuiteResults, round: RetryRound, found: readonly CaseResults[]): SuiteResults {
  const byId = new Map(found.map((testCase) => [testCase.id, testCase]));
  return {
    ...results,
    retries: [...results.retries, round],
    cases: results.cases.map((testCase) => {
      const again = byId.get(testCase.id);
      if (again === undefined) return testCase;
      const counts = { passed: again.passed, total: again.passed + again.failed };
      return {
        ...addUse(testCase, again),
        retries: round.shortfall === null ? [...testCase.retries, counts] : testCase.retries,
      };
    }),
  };
}

/** Adds further iterations that only confirm whether cases regressed: their spending counts, and no rate changes. */
export function addConfirming(results: SuiteResults, found: readonly CaseResults[]): SuiteResults {
  const byId = new Map(found.map((testCase) => [testCase.id, testCase]));
  return {
    ...results,
    cases: results.cases.map((testCase) => {
      const again = byId.get(testCase.id);
      if (again === undefined) return testCase;
      const { passed, total } = testCase.confirming ?? { passed: 0, total: 0 };
      const confirming = { passed: passed + again.passed, total: total + again.passed + again.failed };
      return { ...addUse(testCase, again), confirming };
    }),
  };
}

function addUse(testCase: CaseResults, again: CaseResults): CaseResults {
  return {
    ...testCase,
    tokensUsed: testCase.tokensUsed + again.tokensUsed,
    usage: joinUsage([testCase.usage, again.usage]),
    judges: joinJudges([...testCase.judges, ...again.judges]),
  };
}
