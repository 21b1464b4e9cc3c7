import type { SuitePolicy } from '../model/policy.ts';
import type { CaseResults, SuiteResults } from '../model/results.ts';
import type { ReasonCode } from '../model/verdict.ts';
import type { Assessment } from './assessment.ts';
import { countScored } from './count.ts';
import { boundRules } from './assess-rates.ts';
import { countFlaky } from './flaky.ts';
import { contradictsPlan, listRunGaps } from './completeness.ts';
import { splitQuarantine } from './quarantine.ts';
import { areFailuresSound } from './reason-rules.ts';

/** Counts the iterations without a result. */
export function countOutstanding({ planned, passed, failed }: CaseResults): number {
  return Math.max(0, planned - passed - failed);
}

/** Completes the cases as if all outstanding iterations pass, or as if all of them fail. */
export function completeCases(cases: readonly CaseResults[], isPassing: boolean): CaseResults[] {
  return cases.map((testCase) => {
    const outstanding = countOutstanding(testCase);
    return {
      ...testCase,
      unscored: 0,
      passed: testCase.passed + (isPassing ? outstanding : 0),
      failed: testCase.failed + (isPassing ? 0 : outstanding),
    };
  });
}

/** Checks if failures decide the verdict on runs of a suite although the results are incomplete for these reasons. */
export function canBeDecided(runs: readonly SuiteResults[], gaps: ReadonlyArray<{ code: ReasonCode }>): boolean {
  // The number of iterations of a suite of the service is known only when all of it was read.
  const isPlanKnown = gaps.every(({ code }) => code === 'results-unknown' || code === 'no-iterations');
  const withFailures = runs.filter(({ cases }) => cases.some(({ failed }) => failed > 0));
  // Missing results of one run do not put a failure of another run in doubt.
  const areSound = withFailures.every(
    (results) =>
      results.run !== null &&
      (results.file !== null || isPlanKnown) &&
      !contradictsPlan(results) &&
      areFailuresSound(listRunGaps(results)),
  );
  return withFailures.length > 0 && areSound && runs.every(({ tunnelBreaks }) => tunnelBreaks === 0);
}

/**
 * Judges the requirements of results in which iterations are missing or have no result: `not-met` if no outcome of those iterations meets
 * the requirement, else `unknown`. In the order of `assessRules`.
 *
 * A requirement that counts passes is met by more of them and never by fewer, so the completion in which everything outstanding passes is
 * the best for all of them. `boundRate` bounds requirements with a confidence, which can move either way.
 */
export function assessDecided(results: SuiteResults, { requirements, today }: SuitePolicy): Assessment[] {
  const cases = completeCases(results.cases, true);
  const count = (list: readonly CaseResults[]) =>
    countFlaky(splitQuarantine(list, requirements, today).counted, requirements.flaky.value);
  const counted = count(cases);
  const byId = new Map(counted.map((testCase) => [testCase.id, testCase]));
  const best = { ...results, cases: cases.map((testCase) => byId.get(testCase.id) ?? testCase) };
  const isScored = countScored(counted).scored > 0;
  return boundRules(best, { best: counted, asRead: count(results.cases) }, requirements).map((assessment) =>
    isScored && assessment.state === 'not-met' ? assessment : { ...assessment, state: 'unknown' },
  );
}
