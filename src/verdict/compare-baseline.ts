import type {
  Baseline,
  BaselineCase,
  CaseComparison,
  Comparison,
  RateChange,
  RegressionLimits,
} from '../model/comparison.ts';
import { formatCount } from '../base/text.ts';
import { type CaseChange, caseChanges } from '../model/case-change.ts';
import type { Counts } from '../model/quantities.ts';
import type { FlakyEffect } from '../model/policy.ts';
import type { CaseResults, SuiteOutline, SuiteResults } from '../model/results.ts';
import type { VerdictReason } from '../model/verdict.ts';
import { type ComparablePair, compareRates, listRateDrops, sumCounts } from './compare-rates.ts';
import type { Suspect } from './compare-base.ts';
import { sum } from './count.ts';
import { countFlaky } from './flaky.ts';
import { computeSmallestFall, type ExpectedCase } from './smallest-fall.ts';

/**
 * Compares results with a baseline, case by case. Cases are the same if suite and id are equal, and comparable if their definitions are
 * equal, too. A case that the gate was not to run is not missing. `overTasks` are the ids of suites with a policy that requires the rate of
 * tasks.
 */
export function compareWithBaseline(
  baseline: Baseline,
  suites: readonly SuiteResults[],
  { overTasks, ...limits }: RegressionLimits & { overTasks?: ReadonlySet<string> },
): Comparison {
  const { cases: baselineCases, ...about } = baseline;
  const earlier = new Map(baselineCases.map((testCase) => [keyOf(testCase.suiteId, testCase.id), testCase]));
  const current = suites.flatMap((suite) =>
    suite.cases.map((testCase) => compareCase(suite.suiteId, testCase, earlier.get(keyOf(suite.suiteId, testCase.id)))),
  );
  const missing = listMissing(baselineCases, suites);
  const compared = [...current, ...missing.removed.map(describeRemoved)];
  const comparable = compared.flatMap(listComparable);
  return {
    baseline: about,
    ...limits,
    counts: countChanges(compared),
    comparable: {
      baseline: sumCounts(comparable.map((testCase) => testCase.baseline)),
      current: sumCounts(comparable.map((testCase) => testCase.current)),
    },
    rates: addSmallestFalls(compareRates(comparable, overTasks), comparable, limits.maximumRateDrop),
    notRun: missing.notRun,
    mixed: countMixed(baselineCases, suites),
    cases: compared
      .filter(({ change }) => change !== 'unchanged')
      .toSorted((a, b) => caseChanges.indexOf(a.change) - caseChanges.indexOf(b.change)),
  };
}

function addSmallestFalls(
  rates: readonly RateChange[],
  comparable: readonly ComparablePair[],
  maximumRateDrop: number | null,
): RateChange[] {
  return rates.map((rate) => {
    if (maximumRateDrop === null) return rate;
    const cases = comparable
      .filter(({ suiteId }) => suiteId === rate.suiteId)
      .map(({ baseline, current }) => ({ baseline, iterations: current.total }));
    const rule = { maximumRateDrop, isOverTasks: rate.tasks !== undefined };
    return { ...rate, smallestFall: computeSmallestFall(cases, rule) };
  });
}

/** Lists the baseline's results of a planned suite's cases with an unchanged definition, and the planned number of iterations of each. */
export function listExpected({ cases }: Baseline, { id: suiteId, cases: planned }: SuiteOutline): ExpectedCase[] {
  return planned.flatMap(({ id, definitionHash, runs }) => {
    const earlier = cases.find((each) => each.suiteId === suiteId && each.id === id);
    if (earlier === undefined || definitionHash === null || earlier.definitionHash !== definitionHash) return [];
    const { passed, total } = earlier;
    return total === 0 || runs === null ? [] : [{ baseline: { passed, total }, iterations: runs }];
  });
}

/**
 * Applies the effect of flaky cases to both sides of a comparison: a flaky case that counts as passed is compared as passed, and one that
 * does not count is on neither side.
 */
export function applyFlakyEffect(
  baseline: Baseline,
  suites: ReadonlyArray<{ results: SuiteResults; effect: FlakyEffect }>,
): { baseline: Baseline; results: SuiteResults[] } {
  const settled = suites.map(({ results, effect }) => ({ ...results, cases: countFlaky(results.cases, effect) }));
  const isSetAside = ({ suiteId, id }: { suiteId: string; id: string }) =>
    suites.some(
      ({ results }, index) =>
        results.suiteId === suiteId &&
        results.cases.some((testCase) => testCase.id === id) &&
        settled[index]?.cases.every((testCase) => testCase.id !== id) === true,
    );
  return {
    baseline: { ...baseline, cases: baseline.cases.filter((testCase) => !isSetAside(testCase)) },
    results: settled,
  };
}

/**
 * Lists the requirements that results worse than the baseline do not meet: a reason for each regressed case if there are too many, and for
 * every rate that fell.
 */
export function listRegressions(comparison: Comparison): VerdictReason[] {
  return [...listRegressedCases(comparison), ...listRateDrops(comparison)];
}

/** Lists a reason for each regressed case, or none if the maximum allows them all. */
function listRegressedCases({ cases, counts, maximumRegressions, baseline }: Comparison): VerdictReason[] {
  if (counts.regressed <= maximumRegressions) return [];
  return cases
    .filter(({ change }) => change === 'regressed')
    .map((testCase) => ({
      code: 'regressed',
      message: `"${testCase.title}" regressed: ${formatCounts(testCase.baseline)} passed in the baseline (${baseline.source}), ${formatCounts(testCase.current)} now${describeConfirming(testCase)}; ${counts.regressed} regressed, at most ${maximumRegressions} may.${describeUnconfirmed(testCase)}`,
      suiteId: testCase.suiteId,
      caseId: testCase.id,
    }));
}

function describeConfirming({ confirming }: CaseComparison): string {
  return confirming === undefined ? '' : ` and ${formatCounts(confirming)} in further iterations`;
}

function describeUnconfirmed({ unconfirmed }: CaseComparison): string {
  if (unconfirmed === undefined) return '';
  return ` ${formatCount(unconfirmed, 'further iteration')} would confirm it and did not run, so the results so far decide.`;
}

const comparableChanges: ReadonlySet<CaseChange> = new Set(['regressed', 'unsteady', 'fixed', 'unchanged']);

function listComparable({ suiteId, change, baseline, current }: CaseComparison): ComparablePair[] {
  if (!comparableChanges.has(change) || baseline === null || current === null) return [];
  return [{ suiteId, baseline, current }];
}

function compareCase(suiteId: string, testCase: CaseResults, earlier: BaselineCase | undefined): CaseComparison {
  const { id, title, passed, failed, definitionHash, confirming } = testCase;
  const current = { passed, total: passed + failed };
  const baseline = earlier === undefined ? null : { passed: earlier.passed, total: earlier.total };
  const change = (): CaseChange => {
    if (earlier === undefined) return 'new';
    // If one side has no definition, it is unknown whether they are equal.
    if (definitionHash === null || definitionHash !== earlier.definitionHash) return 'changed';
    const found = classifyCounts(earlier, current);
    return found === 'regressed' && isRefuted(testCase) ? 'unsteady' : found;
  };
  const compared: CaseComparison = { suiteId, id, title, change: change(), baseline, current };
  if (confirming !== undefined) compared.confirming = confirming;
  const missing = compared.change === 'regressed' ? countUnconfirmed(testCase) : 0;
  return missing === 0 ? compared : { ...compared, unconfirmed: missing };
}

/** The iterations that confirm a seeming regression: a case that fails by chance passes at least one of them. */
const confirmedIterations = 8;

/** Counts the further iterations that would confirm that a case regressed. A deterministic case repeats once. */
function countUnconfirmed({ passed, failed, confirming, isDeterministic }: CaseResults): number {
  const ran = passed + failed + (confirming?.total ?? 0);
  return Math.max(0, (isDeterministic === true ? 2 : confirmedIterations) - ran);
}

/** Checks if further iterations speak against a regression: one pass if none passed at first, else passes in more than half of all. */
function isRefuted({ passed, confirming = { passed: 0, total: 0 } }: CaseResults): boolean {
  return passed + confirming.passed > (passed === 0 ? 0 : confirmedIterations / 2) && confirming.total > 0;
}

/**
 * Lists the cases of a suite that seem to have regressed, if further iterations decide about them; empty if the policy allows as many
 * regressions, whatever they are.
 */
export function listUnconfirmed(
  { cases, counts }: Pick<Comparison, 'cases' | 'counts'>,
  { suiteId, maximumRegressions }: { suiteId: string; maximumRegressions: number },
): Suspect[] {
  if (counts.regressed <= maximumRegressions) return [];
  return cases
    .filter((testCase) => testCase.suiteId === suiteId)
    .flatMap(({ id, unconfirmed }) => (unconfirmed === undefined ? [] : [{ id, rounds: unconfirmed }]))
    .toSorted((one, two) => one.rounds - two.rounds);
}

/**
 * Limits the iterations of a suite that run only to confirm regressions: twice as many as in the plan, and at least enough for one case more
 * than the policy allows to regress.
 */
export function limitConfirmingIterations({ cases }: SuiteResults, maximumRegressions: number): number {
  return Math.max(2 * sum(cases, ({ planned }) => planned), (confirmedIterations - 1) * (maximumRegressions + 1));
}

/** Classifies the change of a case with an unchanged definition, from how many of its iterations passed. */
export function classifyCounts(baseline: Counts, current: Counts): CaseChange {
  if (baseline.total === 0 || current.total === 0) return 'unscored';
  if (hasFallen(baseline, current)) return 'regressed';
  if (hasFallen(current, baseline)) return 'fixed';
  return (passedAll(baseline) && passedAll(current)) || (baseline.passed === 0 && current.passed === 0)
    ? 'unchanged'
    : 'unsteady';
}

/** Checks if the counts fell. With one iteration per side, which is common, this means: it passed, and now it fails. */
function hasFallen(from: Counts, to: Counts): boolean {
  const passedAtMostHalf = to.passed * 2 <= to.total;
  const passedMost = from.passed * 2 > from.total;
  return (passedAll(from) && passedAtMostHalf) || (passedMost && to.passed === 0);
}

function passedAll({ passed, total }: Counts): boolean {
  return passed === total;
}

/** Lists the cases of the baseline that these results do not have: removed from their suite, or not to be run. */
function listMissing(
  baselineCases: readonly BaselineCase[],
  suites: readonly SuiteResults[],
): { removed: BaselineCase[]; notRun: number } {
  const suiteIds = new Set(suites.map(({ suiteId }) => suiteId));
  const run = new Set(suites.flatMap(({ suiteId, cases }) => cases.map(({ id }) => keyOf(suiteId, id))));
  const leftOut = new Set(suites.flatMap(({ suiteId, leftOut }) => leftOut.map((id) => keyOf(suiteId, id))));
  const absent = baselineCases.filter(({ suiteId, id }) => !run.has(keyOf(suiteId, id)));
  const removed = absent.filter(({ suiteId, id }) => suiteIds.has(suiteId) && !leftOut.has(keyOf(suiteId, id)));
  return { removed, notRun: absent.length - removed.length };
}

/**
 * Counts cases that have recorded answers on only one side. Both sides ran the server, so they are compared in any case; but a recording
 * repeats an earlier answer of the model, and says nothing about its answer now.
 */
function countMixed(baselineCases: readonly BaselineCase[], suites: readonly SuiteResults[]): number {
  const earlier = new Map(baselineCases.map((testCase) => [keyOf(testCase.suiteId, testCase.id), testCase]));
  return suites
    .flatMap(({ suiteId, cases }) =>
      cases.map((testCase) => ({ was: earlier.get(keyOf(suiteId, testCase.id)), testCase })),
    )
    .filter(({ was, testCase: { passed, failed, replayed, definitionHash } }) => {
      if (was === undefined || was.total === 0 || passed + failed === 0) return false;
      if (definitionHash === null || definitionHash !== was.definitionHash) return false;
      return was.replayed > 0 !== replayed.total > 0;
    }).length;
}

function describeRemoved({ suiteId, id, title, passed, total }: BaselineCase): CaseComparison {
  return { suiteId, id, title: title ?? id, change: 'removed', baseline: { passed, total }, current: null };
}

function countChanges(compared: readonly CaseComparison[]): Comparison['counts'] {
  const counts = { regressed: 0, unsteady: 0, changed: 0, unscored: 0, new: 0, removed: 0, fixed: 0, unchanged: 0 };
  for (const { change } of compared) counts[change] += 1;
  return counts;
}

function formatCounts(counts: Counts | null): string {
  return counts === null ? 'none' : `${counts.passed} of ${counts.total}`;
}

/** Builds a key. Ids contain no slash. */
function keyOf(suiteId: string, caseId: string): string {
  return `${suiteId}/${caseId}`;
}
