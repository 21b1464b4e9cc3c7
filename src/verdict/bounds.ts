import type { SuitePolicy } from '../model/policy.ts';
import type { CaseResults, SuiteResults } from '../model/results.ts';
import type { ReasonCode } from '../model/verdict.ts';
import type { Assessment } from './assessment.ts';
import { countScored } from './count.ts';
import { boundRules } from './rules.ts';
import { countFlaky } from './flaky.ts';
import { contradictsPlan, listRunGaps } from './completeness.ts';
import { splitQuarantine } from './quarantine.ts';
import { areFailuresSound } from './reason-rules.ts';

/** Iterations that have no result. */
export function countOutstanding({ planned, passed, failed }: CaseResults): number {
  return Math.max(0, planned - passed - failed);
}

/** The cases as they are when everything outstanding passes, or when all of it fails. */
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

/** Whether failures decide about runs of a suite whose results are incomplete for these reasons. */
export function canBeDecided(runs: readonly SuiteResults[], gaps: ReadonlyArray<{ code: ReasonCode }>): boolean {
  // How often a suite of the service runs each case is known only once all of it was read.
  const isPlanKnown = gaps.every(({ code }) => code === 'results-unknown' || code === 'no-iterations');
  const withFailures = runs.filter(({ cases }) => cases.some(({ failed }) => failed > 0));
  // What is missing from one run puts no failure of another one in doubt.
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
 * Judges the requirements of results in which iterations are missing or have no result: `not-met` where no way in which
 * those can turn out meets the requirement, else `unknown`. In the order of `assessRules`.
 *
 * A requirement that counts passes is met by more of them and never by fewer, so the completion in which everything
 * outstanding passes is the best for all of them. `boundRate` bounds those with a confidence, which can move either way.
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
