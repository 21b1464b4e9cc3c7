import { formatCount } from '../base/text.ts';
import {
  type BaseCaseComparison,
  type BaseComparison,
  type BaseResults,
  type PairedCase,
  processScopes,
} from '../model/base-comparison.ts';
import { rateConfidence } from '../model/case-change.ts';
import type { RegressionLimits } from '../model/comparison.ts';
import type { GatePolicy, SuiteRequirements } from '../model/policy.ts';
import { formatMinimumPassRate, formatPassRate } from '../model/rate.ts';
import type { SuiteResults } from '../model/results.ts';
import type { VerdictReason } from '../model/verdict.ts';
import { compareRates, exceedsDrop } from './compare-rates.ts';
import { sum } from './count.ts';
import { splitQuarantine } from './quarantine.ts';
import {
  countPairsToWorse,
  isWorse,
  isWorseByRounds,
  type PairCounts,
  type TestFamily,
} from './statistics/sequential.ts';

/** The results of a suite, and the requirements that they are judged by. */
interface Measured {
  results: SuiteResults;
  requirements: SuiteRequirements;
}

/**
 * Compares the change with its base, which ran in the same job. Compares a case over the rounds in which it has a result on both sides, and
 * the rate of a suite over the rounds of the plan in which each of its cases has one: rounds that ran because of earlier results would bias
 * a rate. In at most 1 − `confidence` of the gates of an unchanged server, anything is called worse: half of that chance is for the cases,
 * the other half for the suites and for all cases together. Returns null if the options name no base. Leaves out cases in quarantine or on
 * probation. If the base has a problem in one suite, leaves out the whole comparison.
 */
export function compareWithBase(
  measured: readonly Measured[],
  policy: Pick<GatePolicy, 'maximumRegressions' | 'maximumRateDrop' | 'baseline' | 'today'>,
): BaseComparison | null {
  const sides = measured.flatMap(({ results, requirements }) =>
    results.base === undefined ? [] : [{ results, requirements, base: results.base }],
  );
  const [first] = sides;
  if (first === undefined) return null;
  const problem = sides.find(({ base }) => base.problem !== null)?.base.problem ?? null;
  const { label, commit, seed } = first.base;
  const processes =
    processScopes.findLast((scope) => sides.some(({ base }) => base.processes === scope)) ?? 'iteration';
  const confidence = Math.max(...sides.map(({ requirements }) => requirements.confidence?.value ?? rateConfidence));
  const all = problem === null ? sides.flatMap((side) => listPairs(side, policy.today)) : [];
  const compared = all.filter(({ head }) => head.total > 0);
  const ofCases = familyOfCases(all.length, confidence);
  const cases = compared.map(
    ({ isDeterministic, whole: _whole, hasModel: _hasModel, hasResults: _hasResults, ...item }) => ({
      ...item,
      isWorse: isDeterministic ? isConfirmed(item) : isWorse(item, ofCases),
    }),
  );
  const ofSuites = { tests: sides.length + 1, error: (1 - confidence) / 2 };
  const whole = compared.map(({ suiteId, whole }) => ({ suiteId, ...whole }));
  const areWorse = (cases: typeof whole) =>
    processes === 'iteration'
      ? isWorse(joinPairs(cases), ofSuites)
      : isWorseByRounds(listRoundDifferences(cases), ofSuites);
  const limits: RegressionLimits = {
    maximumRegressions: policy.maximumRegressions.value,
    maximumRateDrop: policy.maximumRateDrop?.value ?? null,
  };
  return {
    label,
    commit,
    seed,
    problem,
    processes,
    isDecisive: policy.baseline === null,
    confidence,
    ...limits,
    isWorse: areWorse(whole),
    newCases: sum(sides, ({ base }) => base.newCases.length),
    cached: sum(sides, ({ base }) => sum(base.cases, ({ cached }) => cached)),
    unpaired: all.length - compared.length,
    // A recording may fit only one side, which is no fault of the base.
    uncompared: all
      .filter(({ head, hasModel, hasResults }) => head.total === 0 && !hasModel && hasResults)
      .map(({ suiteId, id, title }) => ({ suiteId, id, title })),
    rates: compareRates(
      whole
        .filter(({ base }) => base.total > 0)
        .map(({ suiteId, base, head }) => ({ suiteId, baseline: base, current: head })),
    ).map((rate) => ({
      ...rate,
      isWorse: areWorse(whole.filter(({ suiteId }) => suiteId === rate.suiteId)),
    })),
    cases: cases.toSorted((one, two) => rank(two) - rank(one)),
  };
}

/**
 * Lists what the policy does not allow in a comparison that decides: each case if too many are worse, and each suite whose rate fell too
 * far. Also lists what could not be compared, which leaves the verdict open.
 */
export function listBaseRegressions(comparison: BaseComparison): VerdictReason[] {
  const { cases, rates, label, problem, uncompared, maximumRegressions, maximumRateDrop, isDecisive } = comparison;
  if (!isDecisive) return [];
  if (problem !== null) {
    const message = `The change was not compared with the base (${label}), which the gate was asked to do: ${problem} Fix that, or leave \`base\` out.`;
    return [{ code: 'base-not-compared', message }];
  }
  const open = uncompared.map(({ suiteId, id, title }) => ({
    code: 'base-not-compared' as const,
    message: `"${title}" has no result on the base (${label}), and was not compared: its setup or its connection failed there. Look at the base's log, or put the case into quarantine.`,
    suiteId,
    caseId: id,
  }));
  const worse = cases.filter((item) => item.isWorse);
  const ofCases = worse.map((item) => ({
    code: 'regressed' as const,
    message: `"${item.title}" is worse than the base (${label}): ${describeSides(item)}; ${formatCount(worse.length, 'case')} regressed, at most ${maximumRegressions} may.`,
    suiteId: item.suiteId,
    caseId: item.id,
  }));
  const dropped =
    maximumRateDrop === null ? [] : rates.filter((rate) => rate.isWorse && exceedsDrop(rate, maximumRateDrop));
  return [
    ...open,
    ...(worse.length > maximumRegressions ? ofCases : []),
    ...dropped.map(({ suiteId, baseline, current }) => ({
      code: 'regressed' as const,
      message: `Over the same cases and rounds ${formatPassRate(baseline.passed / baseline.total)} passed in the base (${label}) and ${formatPassRate(current.passed / current.total)} in the change; at most ${formatMinimumPassRate(maximumRateDrop ?? 0)} may be lost.`,
      suiteId,
    })),
  ];
}

/** Describes both sides: `5 of 5 passed in the base, 0 of 5 in the change`. */
function describeSides({ base, head }: Pick<BaseCaseComparison, 'base' | 'head'>): string {
  return `${base.passed} of ${base.total} passed in the base, ${head.passed} of ${head.total} in the change`;
}

type CountedPairs = Pick<BaseCaseComparison, 'base' | 'head' | 'broken' | 'fixed'>;

/** Counts the rounds in which a case has a result on both sides. Takes only the rounds in `rounds`, counted from 0, if given. */
export function countPairs(
  { base, head }: Pick<PairedCase, 'base' | 'head'>,
  rounds: readonly number[] = Array.from({ length: base.length }, (_, index) => index),
): CountedPairs {
  const pairs = rounds
    .filter((round) => isPaired({ base, head }, round))
    .map((round) => ({ was: base[round] === 'p', is: head[round] === 'p' }));
  const count = (matches: (pair: { was: boolean; is: boolean }) => boolean) => pairs.filter(matches).length;
  return {
    base: { passed: count(({ was }) => was), total: pairs.length },
    head: { passed: count(({ is }) => is), total: pairs.length },
    broken: count(({ was, is }) => was && !is),
    fixed: count(({ was, is }) => !was && is),
  };
}

function isPaired({ base, head }: Pick<PairedCase, 'base' | 'head'>, round: number): boolean {
  return (base[round] ?? '-') !== '-' && (head[round] ?? '-') !== '-';
}

/** The most rounds that a case runs in addition to the rounds of the plan. */
const maxFurtherRounds = 25;

/** Builds the family of the cases' tests. The other half of the chance of a false alarm is for the suites. */
function familyOfCases(cases: number, confidence: number): TestFamily {
  return { tests: Math.max(1, cases), error: (1 - confidence) / 2 };
}

/** Checks if a deterministic case is worse: a repetition has to show the same. */
function isConfirmed({ broken, fixed }: PairCounts): boolean {
  return broken > 1 && fixed === 0;
}

/** A case that may be worse, and the number of further broken rounds that would show it. */
export interface Suspect {
  id: string;
  rounds: number;
}

/**
 * Lists the cases of a suite that further rounds could show to be worse; those that need the fewest come first. More pairs speak against
 * such a case than for it, and the rest of its 25 further rounds can settle it. `cases` is the number of cases compared in all suites
 * together.
 */
export function listSuspects(
  { cases: paired }: Pick<BaseResults, 'cases'>,
  { cases, confidence, deterministic }: { cases: number; confidence: number; deterministic: ReadonlySet<string> },
): Suspect[] {
  const family = familyOfCases(cases, confidence);
  return paired
    .flatMap((item) => {
      const { broken, fixed } = countPairs(item);
      if (broken <= fixed) return [];
      const isKnown = deterministic.has(item.id);
      const rounds = isKnown
        ? Number(broken === 1 && fixed === 0)
        : countPairsToWorse({ broken, fixed }, family, maxFurtherRounds - item.confirming);
      return rounds === null || rounds === 0 ? [] : [{ id: item.id, rounds }];
    })
    .toSorted((one, two) => one.rounds - two.rounds);
}

/** Selects the cases that this number of pairs of iterations can settle, those that need the fewest first. */
export function selectAffordable(suspects: readonly Suspect[], pairs: number): ReadonlySet<string> {
  let needed = 0;
  return new Set(suspects.filter(({ rounds }) => (needed += rounds) <= pairs).map(({ id }) => id));
}

/**
 * Limits the pairs of iterations that run only to confirm that cases are worse: twice as many as in the plan, and at least enough to find
 * one case more than the policy allows to regress.
 */
export function limitConfirmingPairs(
  { cases: paired }: Pick<BaseResults, 'cases'>,
  maximumRegressions: number,
): number {
  const own = sum(paired, ({ base, confirming }) => base.length - confirming);
  return Math.max(2 * own, maxFurtherRounds * (maximumRegressions + 1));
}

function listPairs({ results, requirements, base }: Measured & { base: BaseResults }, today: string) {
  const { counted } = splitQuarantine(results.cases, requirements, today);
  const compared = base.cases.flatMap((paired) => {
    const testCase = counted.find(({ id }) => id === paired.id);
    return testCase === undefined ? [] : [{ paired, testCase, isDeterministic: testCase.isDeterministic === true }];
  });
  // A case without a pair in the first round has none because of its surroundings, and must not remove rounds of the others.
  const rated = compared.filter(({ paired }) => isOwnPair(paired, 0));
  const open = rated.filter(({ isDeterministic }) => !isDeterministic);
  const most = Math.max(0, ...rated.map(({ paired }) => paired.base.length));
  const rounds = Array.from({ length: most }, (_, round) => round).filter((round) =>
    open.every(({ paired }) => isOwnPair(paired, round)),
  );
  return compared.map((item) => ({
    suiteId: results.suiteId,
    id: item.paired.id,
    title: item.testCase.title,
    isDeterministic: item.isDeterministic,
    hasModel: (item.testCase.model ?? null) !== null,
    hasResults: item.testCase.passed + item.testCase.failed > 0,
    ...countPairs(item.paired),
    whole: describeWhole(
      item.paired,
      rounds.filter((round) => rated.includes(item) && isOwnPair(item.paired, round)),
    ),
  }));
}

/** Checks if a round of the plan has a result on both sides. */
function isOwnPair(paired: PairedCase, round: number): boolean {
  return round < paired.base.length - paired.confirming && isPaired(paired, round);
}

/** Counts the pairs of whole rounds, and computes for each round by how much the base was better: −1, 0 or 1. */
function describeWhole(paired: PairedCase, rounds: readonly number[]) {
  const passes = (marks: string, round: number) => Number(marks[round] === 'p');
  const differences = new Map(rounds.map((round) => [round, passes(paired.base, round) - passes(paired.head, round)]));
  return { ...countPairs(paired, rounds), differences };
}

/** Lists the mean difference of every whole round of every suite. */
function listRoundDifferences(
  cases: ReadonlyArray<{ suiteId: string; differences: ReadonlyMap<number, number> }>,
): number[] {
  const all = cases.flatMap(({ suiteId, differences }) =>
    [...differences].map(([round, difference]) => ({ key: `${round} ${suiteId}`, difference })),
  );
  return [...Map.groupBy(all, ({ key }) => key).values()].map(
    (round) => sum(round, ({ difference }) => difference) / round.length,
  );
}

function joinPairs(pairs: readonly PairCounts[]): PairCounts {
  return { broken: sum(pairs, ({ broken }) => broken), fixed: sum(pairs, ({ fixed }) => fixed) };
}

/** Ranks a case; a higher rank is worse. */
function rank({ isWorse: isNamed, broken, fixed }: BaseCaseComparison): number {
  return (isNamed ? 1e6 : 0) + broken - fixed;
}
