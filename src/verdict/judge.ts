import { computeCost } from '../model/cost.ts';
import type { Sourced } from '../model/source.ts';
import {
  applyPricingDefaults,
  type FlakyEffect,
  noGateRules,
  type Pricing,
  type ProbationCase,
  type SuitePolicy,
  type SuiteRequirements,
} from '../model/policy.ts';
import type { CaseClass, RepeatRates } from '../model/case-report.ts';
import type { RequirementReport, SuiteRepeats } from '../model/report.ts';
import type { CaseResults, SuiteResults } from '../model/results.ts';
import type { RoundsReport } from '../model/rounds.ts';
import type { Verdict, VerdictReason } from '../model/verdict.ts';
import { toRequirementReport, toReason, type Assessment } from './assessment.ts';
import { assessBudgets } from './budgets.ts';
import { assessDecided, canBeDecided } from './bounds.ts';
import { countScored, sum } from './count.ts';
import { assessRules } from './assess-rates.ts';
import { classifyCase, countFlaky } from './flaky.ts';
import { listBreaks, listGaps } from './completeness.ts';
import { reportRounds } from './plan-rounds.ts';
import { assessQuarantine, type QuarantinedCase, splitQuarantine } from './quarantine.ts';
import { isOpen, isProtection } from './reason-rules.ts';
import { computeSuiteRepeats, listRepeatRates } from './repeat-rates.ts';
import { assessStopped, listStoppedGaps, decideEarly } from './early.ts';

export interface JudgeOptions {
  policy: SuitePolicy;
  /**
   * Requirements that the suite does not meet, judged elsewhere from more than its results, such as regressions. They count only if the
   * results are complete, except those on what the change lowers.
   */
  findings?: readonly VerdictReason[];
  /** The runs that the results were joined from; by default one. */
  parts?: readonly SuiteResults[];
  /** The prices of model calls; by default no price is known. */
  pricing?: Pricing;
}

/** A suite's verdict, and what it is based on. */
export interface SuiteJudgement {
  verdict: Verdict;
  minimumPassRate: Sourced<number>;
  assessments: RequirementReport[];
  /** The quarantine entries of the cases that did not count. */
  quarantined: QuarantinedCase[];
  /** The cases that do not count yet. */
  probation: readonly ProbationCase[];
  /** The effect of flaky cases. */
  flaky: Sourced<FlakyEffect>;
  /** The counts of the cases that count. */
  counted: { cases: number; passed: number; failed: number };
  /** Null if nothing was established, or if no case that counts has several iterations. */
  repeats: SuiteRepeats | null;
  /** The analysis of every case, in the order of the results. */
  analyses: CaseAnalysis[];
  /** How the requirements were decided round by round; undefined if the number of iterations was fixed. */
  rounds: RoundsReport | undefined;
}

export interface CaseAnalysis {
  classification: CaseClass | null;
  repeats: RepeatRates[];
}

/** Returns only the verdict of {@link assessSuite}. */
export function judgeSuite(results: SuiteResults, options: JudgeOptions): Verdict {
  return assessSuite(results, options).verdict;
}

/**
 * Judges one suite's run: `passed` only if everything was read and every requirement is met; `failed` if a requirement is not met, the
 * connection held, and no missing result could change that; else `inconclusive`. Pure; the same results give the same verdict in any order.
 */
export function assessSuite(results: SuiteResults, options: JudgeOptions): SuiteJudgement {
  const { policy, findings = [], parts = [results], pricing = applyPricingDefaults(noGateRules) } = options;
  const { requirements, today } = policy;
  const { counted: notQuarantined, quarantined } = splitQuarantine(results.cases, requirements, today);
  const counted = countFlaky(notQuarantined, requirements.flaky.value);
  const byId = new Map(counted.map((testCase) => [testCase.id, testCase]));
  const isSettled = results.isStoppedEarly && decideEarly(results, policy) !== null;
  // A later round does not replace a result that the first round lacks.
  const gaps = isSettled
    ? listStoppedGaps(results)
    : listGaps(parts, {
        counted: notQuarantined,
        onProbation: requirements.probation.map((probation) => probation.case),
        tolerated: requirements.budgets.infrastructureErrors,
      });
  if (gaps.length === 0 && countScored(counted).scored === 0) gaps.push(nothingCounts);
  const asCounted = { ...results, cases: results.cases.map((testCase) => byId.get(testCase.id) ?? testCase) };
  const quarantine = assessQuarantine(results.cases, requirements, today);
  const hasModels = results.cases.some(({ usage }) => usage !== null);
  const rounds = reportRounds(results, policy, hasModels ? computeCost(results.cases, pricing.prices).amount : null);
  if (gaps.length > 0) {
    const isUndecided = isSettled || !canBeDecided(parts, gaps);
    const decided = isUndecided ? [] : assessDecided(results, policy).filter(isUnmet);
    return {
      ...describeCounted(results, counted, { requirements, repeats: null }),
      rounds,
      verdict: combineGaps(results, { gaps, decided, lowered: findings.filter(isProtection) }),
      assessments: [
        ...assessRules(asCounted, counted, requirements),
        ...assessBudgets(parts, requirements.budgets, pricing),
        ...quarantine,
      ].map((assessment) =>
        toRequirementReport(decided.find((found) => isSame(found, assessment)) ?? leaveOpen(assessment)),
      ),
      quarantined,
    };
  }
  const assessments = [
    ...(isSettled ? assessStopped(results, policy) : assessRules(asCounted, counted, requirements)),
    ...(isSettled ? [] : assessBudgets(parts, requirements.budgets, pricing)),
    ...quarantine,
  ];
  const { outcome, reasons } = downgradeWhenTunnelBroke(results, combine(assessments, findings));
  // Uses only the first round: the failures chose the cases of further rounds. Computes no rates for a run that was stopped early or ran in
  // rounds, because the results decided which iterations ran.
  const repeats =
    isSettled || rounds !== undefined ? null : computeSuiteRepeats(notQuarantined.filter(({ id }) => byId.has(id)));
  return {
    ...describeCounted(results, counted, { requirements, repeats }),
    rounds,
    verdict: { outcome, reasons: nameSuite(results, reasons) },
    assessments: assessments.map(toRequirementReport),
    quarantined,
  };
}

function isUnmet({ isDecisive, state }: Assessment): boolean {
  return isDecisive && state === 'not-met';
}

/** Checks if two assessments judge the same requirement on different results. */
function isSame(a: Assessment, b: Assessment): boolean {
  return (
    a.kind === b.kind &&
    a.scope === b.scope &&
    a.subject === b.subject &&
    a.source === b.source &&
    a.caseId === b.caseId
  );
}

function leaveOpen(assessment: Assessment): Assessment {
  return { ...assessment, state: 'unknown', finding: 'Not judged, since the results are incomplete.' };
}

/** Combines gaps with decided requirements. A decision stands: missing results matter only if they could change the verdict. */
function combineGaps(
  results: SuiteResults,
  {
    gaps,
    decided,
    lowered,
  }: { gaps: readonly VerdictReason[]; decided: readonly Assessment[]; lowered: readonly VerdictReason[] },
): Verdict {
  // The options ask for it: the first failure fails the suite that has it, whatever its minimum tolerates.
  const stops = results.cases.some(({ failed }) => failed > 0)
    ? gaps.filter(({ code }) => code === 'first-failure')
    : [];
  const unmet = [...lowered, ...decided.map(toReason), ...stops];
  const others = gaps.filter((gap) => !stops.includes(gap));
  return {
    outcome: unmet.length > 0 ? 'failed' : 'inconclusive',
    reasons: nameSuite(results, [...unmet, ...others]),
  };
}

const nothingCounts: VerdictReason = {
  code: 'no-iterations',
  message: 'Every case that was scored is flaky, which is only reported, so nothing was shown.',
};

function describeCounted(
  { cases }: SuiteResults,
  counted: readonly CaseResults[],
  { requirements, repeats }: { requirements: SuiteRequirements; repeats: SuiteRepeats | null },
): Pick<SuiteJudgement, 'minimumPassRate' | 'flaky' | 'probation' | 'counted' | 'analyses' | 'repeats'> {
  const k = repeats?.k ?? null;
  return {
    minimumPassRate: requirements.minimumPassRate,
    flaky: requirements.flaky,
    probation: requirements.probation,
    repeats,
    counted: {
      cases: counted.length,
      passed: sum(counted, ({ passed }) => passed),
      failed: sum(counted, ({ failed }) => failed),
    },
    analyses: cases.map((testCase) => ({
      classification: classifyCase(testCase),
      repeats: listRepeatRates(testCase, k),
    })),
  };
}

function combine(assessments: readonly Assessment[], findings: readonly VerdictReason[]): Verdict {
  const list = (state: Assessment['state']): VerdictReason[] =>
    assessments.filter((assessment) => assessment.isDecisive && assessment.state === state).map(toReason);
  const unmet = putProtectionsFirst([...list('not-met'), ...findings.filter((finding) => !isOpen(finding))]);
  const undecided = [...list('unknown'), ...findings.filter(isOpen)];
  if (unmet.length > 0) return { outcome: 'failed', reasons: [...unmet, ...undecided] };
  if (undecided.length > 0) return { outcome: 'inconclusive', reasons: undecided };
  return { outcome: 'passed', reasons: assessments.slice(0, 1).map(toReason) };
}

/** Puts protections first: reports show only the first reasons, and no case explains these. */
function putProtectionsFirst(reasons: readonly VerdictReason[]): VerdictReason[] {
  return [...reasons.filter(isProtection), ...reasons.filter((reason) => !isProtection(reason))];
}

/** Makes a failed verdict inconclusive if the tunnel broke: calls that were cut off can make a suite fail, but never make it pass. */
function downgradeWhenTunnelBroke(results: SuiteResults, verdict: Verdict): Verdict {
  const breaks = listBreaks(results);
  const isCertain = verdict.reasons.some(isProtection);
  if (verdict.outcome !== 'failed' || breaks.length === 0 || isCertain) return verdict;
  return { outcome: 'inconclusive', reasons: [...breaks, ...verdict.reasons] };
}

/**
 * Joins the suites' verdicts: a failed one decides, then an inconclusive one; a gate without suites has established nothing. Reasons keep
 * the suites' order within each outcome, the decisive outcome first. Reasons of suites that passed are left out of a gate that did not.
 */
export function joinVerdicts(verdicts: readonly Verdict[]): Verdict {
  const ranked = (['failed', 'inconclusive', 'passed'] as const).map((outcome) => ({
    outcome,
    members: verdicts.filter((verdict) => verdict.outcome === outcome),
  }));
  const decisive = ranked.find(({ members }) => members.length > 0);
  if (decisive === undefined) {
    return {
      outcome: 'inconclusive',
      reasons: [{ code: 'no-iterations', message: 'No suite ran, so nothing was established.' }],
    };
  }
  return {
    outcome: decisive.outcome,
    reasons: ranked
      .filter(({ outcome }) => outcome === decisive.outcome || outcome !== 'passed')
      .flatMap(({ members }) => members.flatMap(({ reasons }) => reasons)),
  };
}

function nameSuite(results: SuiteResults, reasons: readonly VerdictReason[]): VerdictReason[] {
  return reasons.map((reason) => ({ ...reason, suiteId: results.suiteId }));
}
