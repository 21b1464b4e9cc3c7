import type { FlakyEffect, SuiteRequirements } from '../model/policy.ts';
import type { CaseClass } from '../model/case-report.ts';
import type { CaseResults, RetryRound, SuiteResults } from '../model/results.ts';
import { joinJudges, joinUsage } from '../model/usage.ts';
import { splitQuarantine } from './quarantine.ts';

/**
 * Says the outcome of a case over all rounds: `passed` where nothing failed, `flaky` where something did and a later round passed
 * in full, else `failed`; null where nothing was established.
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
 * Takes the cases as they count: a flaky one as it was at first (`fail`), as its last round was (`pass`), or not at all
 * (`report`). All others as they are.
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
        // Of later rounds it is not kept which iterations were live; with recordings in the first, none counts as live.
        replayed: testCase.replayed.total === 0 ? testCase.replayed : last,
      },
    ];
  });
}

/**
 * Lists the cases that are to be run again: those of which an iteration failed, in every round so far. What is in quarantine
 * on this day, `YYYY-MM-DD`, does not count either way and is not run again.
 */
export function listStillFailing(
  { cases }: SuiteResults,
  requirements: Pick<SuiteRequirements, 'quarantine' | 'probation'>,
  today: string,
): CaseResults[] {
  return splitQuarantine(cases, requirements, today).counted.filter((testCase) => classifyCase(testCase) === 'failed');
}

/**
 * Adds a further round to the results. `found` are the results of the cases that were run again; of a round that fell short
 * they count for nothing, but for what was spent.
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

/** Adds further iterations that only confirm whether cases regressed: what was spent counts, and no rate does. */
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
