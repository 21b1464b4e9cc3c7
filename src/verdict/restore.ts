import type { CaseReport, Report, SuiteReport } from '../model/report.ts';
import type { CaseResults, SuiteResults } from '../model/results.ts';
import type { VerdictReason } from '../model/verdict.ts';
import { type Demanded, emptyPolicyLayer, applyPolicyDefaults, type SuitePolicy } from '../model/policy.ts';
import { areFailuresSound, isProtection, reasonRules } from './reason-rules.ts';
import { assessSuite, type JudgedFinding, selectFindings, type SuiteJudgement } from './judge.ts';

/** One suite of a report, to be judged anew without running anything. */
export interface RestoredSuite {
  results: SuiteResults;
  /** What kept its results from being complete; no other requirement can change that. */
  gaps: VerdictReason[];
  /** Whether failures among them may come from what was in the way. */
  areFailuresDoubtful: boolean;
  /** The cases that did not count, how flaky ones do, and the day on which that was decided. */
  policy: SuitePolicy;
  /** Demands of a policy that were not met: the report has what they came to and not the policy itself. */
  findings: JudgedFinding[];
}

/** Requirements of a policy that stay what they came to, whatever else is required now. */
const policyStates: ReadonlyMap<VerdictReason['code'], JudgedFinding['state']> = new Map([
  ['minimum-unsettled', 'unknown'],
  ['demand-unjudged', 'unknown'],
  ['tag-below-minimum', 'not-met'],
  ['case-below-minimum', 'not-met'],
  ['budget-exceeded', 'not-met'],
  ['quarantine-expired', 'not-met'],
  ['quarantine-stale', 'not-met'],
]);

/** Takes the results of its suites back out of a report, in their order, with the cases in the order of their file. */
export function restoreSuites(report: Report): RestoredSuite[] {
  return report.suites.map((suite) => {
    const cases = report.cases
      .filter(({ suiteId }) => suiteId === suite.id)
      .toSorted((a, b) => (a.location?.line ?? 0) - (b.location?.line ?? 0));
    const { reasons } = suite.verdict;
    const gaps = restoreGaps(suite, cases);
    return {
      results: restoreResults(suite, cases, gaps.gaps.length === 0),
      ...gaps,
      policy: restorePolicy(suite, cases, report.startedAt.slice(0, 10)),
      findings: reasons.filter((reason) => !isGap(reason, suite)).flatMap((reason) => restoreFinding(reason, cases)),
    };
  });
}

/** Judges a suite of a report as it was judged, under the demands that it has now. */
export function rejudgeSuite(
  { results, gaps, areFailuresDoubtful, policy, findings }: RestoredSuite,
  reasons: readonly VerdictReason[] = [],
): SuiteJudgement {
  return assessSuite(results, {
    policy,
    findings: [...findings, ...selectFindings(reasons, results)],
    ...(gaps.length === 0 ? {} : { gaps: { reasons: gaps, areFailuresDoubtful } }),
  });
}

/**
 * What kept the results from being complete. Where a requirement is among the reasons of a verdict that is inconclusive, they were
 * complete, and only held against a tunnel that broke off. That nothing was left to count shows again, and may be otherwise
 * in a whole of several parts.
 */
function restoreGaps(
  suite: SuiteReport,
  cases: readonly CaseReport[],
): Pick<RestoredSuite, 'gaps' | 'areFailuresDoubtful'> {
  const { outcome, reasons } = suite.verdict;
  const gaps = reasons.filter((reason) => isGap(reason, suite));
  const isDerived =
    outcome === 'passed' ||
    (outcome === 'inconclusive' && gaps.length < reasons.length) ||
    gaps.every(({ code }) => code === 'no-iterations' || code === 'only-probation');
  if (isDerived) return { gaps: [], areFailuresDoubtful: false };
  return { gaps, areFailuresDoubtful: !areFailuresSound(gaps) && cases.some(({ failed }) => failed > 0) };
}

/** A budget that ended the run is a gap; one that a complete run exceeded is a requirement that is not met. */
function isGap({ code }: VerdictReason, { demands }: SuiteReport): boolean {
  if (code !== 'budget-exceeded') return reasonRules[code].kind === 'gap';
  return !demands.some(({ kind, state }) => kind === 'budget' && state === 'not-met');
}

/** Each flaky case says how it counts; without one, the rule has no effect. */
function restorePolicy(suite: SuiteReport, cases: readonly CaseReport[], today: string): RestoredSuite['policy'] {
  const quarantine = cases.flatMap(({ id, quarantine: entry }) => (entry === null ? [] : [{ ...entry, case: id }]));
  const [told] = cases.flatMap(({ flaky }) => (flaky === null ? [] : [{ value: flaky.effect, source: flaky.source }]));
  const trials = cases.flatMap(({ id, trial }) => (trial === null ? [] : [{ ...trial, case: id }]));
  const budgets = { ...emptyPolicyLayer.budgets, infrastructureErrors: restoreTolerance(suite) };
  const minimumPassRate = { value: suite.minimumPassRate, source: suite.minimumPassRateSource };
  const layer = { ...emptyPolicyLayer, minimumPassRate, quarantine, flaky: told ?? null, budgets };
  return { requirements: { ...applyPolicyDefaults(layer), trials }, today };
}

/** How many iterations may have no result: the one budget that decides whether results are complete. */
function restoreTolerance({ demands }: SuiteReport): Demanded<number> | null {
  const budget = demands.find(({ kind, subject }) => kind === 'budget' && subject === 'infrastructureErrors');
  const limit = /^at most (\d[\d,]*) /.exec(budget?.demand ?? '')?.[1];
  if (budget === undefined || limit === undefined) return null;
  return { value: Number(limit.replaceAll(',', '')), source: budget.source };
}

/** Cases that an evals file requires say so themselves. */
function restoreFinding(reason: VerdictReason, cases: readonly CaseReport[]): JudgedFinding[] {
  const state = isProtection(reason) ? 'not-met' : policyStates.get(reason.code);
  if (state !== undefined) return [state === 'not-met' ? { state, reason, isDecided: true } : { state, reason }];
  const isPolicy =
    reason.code === 'required-failed' && !cases.some(({ id, required }) => id === reason.caseId && required);
  return isPolicy ? [{ state: 'not-met', reason, isDecided: true }] : [];
}

/** `isWhole`: every planned iteration was read, so that those without a result are unscored and not missing. */
function restoreResults(suite: SuiteReport, cases: readonly CaseReport[], isWhole: boolean): SuiteResults {
  const { id, name, file, run, stoppedEarly } = suite;
  const members = cases.map((member) => restoreCase(member, isWhole || stoppedEarly !== null));
  return {
    suiteId: id,
    name,
    file,
    run:
      run === null
        ? null
        : { ...run, result: null, summary: null, createdAtMs: null, completedAtMs: null, notes: null },
    runUrl: run?.url ?? null,
    cases: members,
    leftOut: [],
    isComplete: true,
    iterationsRead: members.reduce((sum, { passed, failed, unscored }) => sum + passed + failed + unscored, 0),
    unknownIterations: 0,
    overruled: 0,
    contradicted: 0,
    tunnelBreaks: suite.tunnelBreaks,
    interruption: null,
    retries: suite.retries,
    isStoppedEarly: stoppedEarly !== null,
    concurrency: suite.concurrency,
  };
}

/** What a report does not keep is what only incomplete results have, and of those their gaps tell. */
function restoreCase(member: CaseReport, isWhole: boolean): CaseResults {
  const {
    id,
    title,
    tags,
    required,
    location,
    definitionHash,
    planned,
    passed,
    failed,
    durationMs,
    failures,
    retries,
  } = member;
  return {
    id,
    title,
    tags,
    isRequired: required,
    location: location === null ? null : { ...location, column: 1 },
    definitionHash,
    planned,
    passed,
    failed,
    unscored: isWhole ? Math.max(0, planned - passed - failed) : 0,
    durationsMs: durationMs === null ? [] : [durationMs],
    tokensUsed: 0,
    failures,
    retries,
  };
}
