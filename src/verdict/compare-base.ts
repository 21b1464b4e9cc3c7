import { formatCount } from '../base/text.ts';
import type { BaseCaseComparison, BaseComparison, BaseResults, PairedCase } from '../model/base-comparison.ts';
import { rateConfidence } from '../model/case-change.ts';
import type { RegressionLimits } from '../model/comparison.ts';
import type { GatePolicy, SuiteRequirements } from '../model/policy.ts';
import { formatMinimumPassRate, formatPassRate } from '../model/rate.ts';
import type { SuiteResults } from '../model/results.ts';
import type { VerdictReason } from '../model/verdict.ts';
import { compareRates, exceedsDrop } from './compare-rates.ts';
import { sum } from './count.ts';
import { splitQuarantine } from './quarantine.ts';
import { isWorse, listWorse, type PairCounts } from './statistics/sequential.ts';

/** What was measured of a suite, and what it is judged by. */
interface Measured {
  results: SuiteResults;
  requirements: SuiteRequirements;
}

/**
 * Compares the change with its base, which ran in the same job, over the rounds in which a case has a result on both sides. Null where no
 * base was asked for. Cases in quarantine or on probation are left out. A base with a problem in one suite leaves out the whole comparison.
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
  const confidence = Math.max(...sides.map(({ requirements }) => requirements.confidence?.value ?? rateConfidence));
  const all = problem === null ? sides.flatMap((side) => listPairs(side, policy.today)) : [];
  const compared = all.filter(({ head }) => head.total > 0);
  const [known = [], open = []] = [true, false].map((isKnown) =>
    compared.filter(({ isDeterministic }) => isDeterministic === isKnown),
  );
  const worse = new Set([...known.filter(({ broken }) => broken > 0), ...listWorse(open, confidence)]);
  const cases = compared.map((item) => {
    const { isDeterministic: _isDeterministic, ...compared } = item;
    return { ...compared, isWorse: worse.has(item) };
  });
  const limits: RegressionLimits = {
    maximumRegressions: policy.maximumRegressions.value,
    maximumRateDrop: policy.maximumRateDrop?.value ?? null,
  };
  return {
    label,
    commit,
    seed,
    problem,
    isDecisive: policy.baseline === null,
    confidence,
    ...limits,
    isWorse: isWorse(joinPairs(cases), confidence),
    newCases: sum(sides, ({ base }) => base.newCases.length),
    unpaired: all.length - compared.length,
    rates: compareRates(cases.map(({ suiteId, base, head }) => ({ suiteId, baseline: base, current: head }))).map(
      (rate) => ({
        ...rate,
        isWorse: isWorse(joinPairs(cases.filter(({ suiteId }) => suiteId === rate.suiteId)), confidence),
      }),
    ),
    cases: cases.toSorted((one, two) => rank(two) - rank(one)),
  };
}

/** What the policy does not allow of a comparison that decides: each case too many, and each suite whose rate fell too far. */
export function listBaseRegressions(comparison: BaseComparison): VerdictReason[] {
  const { cases, rates, label, maximumRegressions, maximumRateDrop, isDecisive } = comparison;
  if (!isDecisive || comparison.problem !== null) return [];
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
    ...(worse.length > maximumRegressions ? ofCases : []),
    ...dropped.map(({ suiteId, baseline, current }) => ({
      code: 'regressed' as const,
      message: `Over the same cases and rounds ${formatPassRate(baseline.passed / baseline.total)} passed in the base (${label}) and ${formatPassRate(current.passed / current.total)} in the change; at most ${formatMinimumPassRate(maximumRateDrop ?? 0)} may be lost.`,
      suiteId,
    })),
  ];
}

/** `5 of 5 passed in the base, 0 of 5 in the change`. */
function describeSides({ base, head }: Pick<BaseCaseComparison, 'base' | 'head'>): string {
  return `${base.passed} of ${base.total} passed in the base, ${head.passed} of ${head.total} in the change`;
}

/** Counts the rounds in which a case has a result on both sides. */
export function countPairs({
  base,
  head,
}: Pick<PairedCase, 'base' | 'head'>): Pick<BaseCaseComparison, 'base' | 'head' | 'broken' | 'fixed'> {
  const pairs = base.split('').flatMap((mark, index) => {
    const other = head[index] ?? '-';
    return mark === '-' || other === '-' ? [] : [{ was: mark === 'p', is: other === 'p' }];
  });
  const count = (matches: (pair: { was: boolean; is: boolean }) => boolean) => pairs.filter(matches).length;
  return {
    base: { passed: count(({ was }) => was), total: pairs.length },
    head: { passed: count(({ is }) => is), total: pairs.length },
    broken: count(({ was, is }) => was && !is),
    fixed: count(({ was, is }) => !was && is),
  };
}

/**
 * Lists the cases of a suite that further rounds could still show to be worse: the change fails where the base passes, in every pair. A
 * case in which a pair says otherwise needs the rounds that the policy asks for. `cases` is how many are compared.
 */
export function listSuspects(
  { cases: paired }: Pick<BaseResults, 'cases'>,
  { cases, confidence }: { cases: number; confidence: number },
): string[] {
  return paired
    .filter((item) => {
      const { base, head, broken } = countPairs(item);
      const isSuspect = broken > 0 && base.passed === base.total && head.passed === 0;
      // Enough for the strictest step of the rule, whatever the other cases show.
      return isSuspect && listWorse([{ broken, fixed: 0 }], 1 - (1 - confidence) / cases).length === 0;
    })
    .map(({ id }) => id);
}

function listPairs({ results, requirements, base }: Measured & { base: BaseResults }, today: string) {
  const { counted } = splitQuarantine(results.cases, requirements, today);
  return base.cases.flatMap((paired) => {
    const testCase = counted.find(({ id }) => id === paired.id);
    if (testCase === undefined) return [];
    return [
      {
        suiteId: results.suiteId,
        id: paired.id,
        title: testCase.title,
        isDeterministic: testCase.isDeterministic === true,
        ...countPairs(paired),
      },
    ];
  });
}

function joinPairs(pairs: readonly PairCounts[]): PairCounts {
  return { broken: sum(pairs, ({ broken }) => broken), fixed: sum(pairs, ({ fixed }) => fixed) };
}

/** Higher is worse. */
function rank({ isWorse: isNamed, broken, fixed }: BaseCaseComparison): number {
  return (isNamed ? 1e6 : 0) + broken - fixed;
}
