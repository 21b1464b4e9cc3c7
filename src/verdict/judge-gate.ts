import { firstOfEach } from '../base/lists.ts';
import type { BaseComparison } from '../model/base-comparison.ts';
import type { BehaviourReport } from '../model/behaviour.ts';
import { type BehaviourPolicy, recountBehaviour } from '../model/behaviour-policy.ts';
import type { CoverageReport } from '../model/coverage-report.ts';
import type { HostsComparison } from '../model/hosts-comparison.ts';
import { recountHosts } from '../model/hosts-policy.ts';
import type { Comparison } from '../model/comparison.ts';
import type { GatePolicy, SuiteRequirements } from '../model/policy.ts';
import type { ModelsReport } from '../model/report.ts';
import type { SuiteResults } from '../model/results.ts';
import type { SurfaceReport } from '../model/surface-report.ts';
import type { Verdict, VerdictReason } from '../model/verdict.ts';
import { compareWithBase, listBaseRegressions } from './compare-base.ts';
import { compareWithBaseline, listRegressions, applyFlakyEffect } from './compare-baseline.ts';
import { decideExit, type ExitDecision } from './exit.ts';
import { judgeBehaviour } from './judge-behaviour.ts';
import { judgeCoverage } from './judge-coverage.ts';
import { judgeHosts } from './judge-hosts.ts';
import { judgeSurface } from './judge-surface.ts';
import { joinRuns } from './join-runs.ts';
import { countMinimums } from './plan-rounds.ts';
import { isOpen } from './reason-rules.ts';
import { assessSuite, joinVerdicts, type SuiteJudgement } from './judge.ts';
import { summarizeModels } from './summarize-models.ts';

/** A judged suite, with the results of all its runs together. */
export interface JudgedSuite extends SuiteJudgement {
  results: SuiteResults;
  /** The results of each run. */
  parts: SuiteResults[];
  requirements: SuiteRequirements;
}

/** The surface, the behaviour and the coverage of the servers, and what hosts make of them; undefined if they were not measured. */
export interface SurfaceResults {
  hosts?: HostsComparison | undefined;
  behaviour?: BehaviourReport | undefined;
  surface?: SurfaceReport | undefined;
  coverage?: CoverageReport | undefined;
}

export interface GateJudgement {
  /** In the order in which they first occur in the results. */
  suites: JudgedSuite[];
  verdict: Verdict;
  /** Null if nothing is compared. */
  comparison: Comparison | null;
  /** Null if no base ran in the same job. */
  baseComparison: BaseComparison | null;
  /** How the differences from the base count; undefined if they were not measured. */
  behaviour: BehaviourReport | undefined;
  /** How the findings of hosts count; undefined if they were not measured. */
  hosts: HostsComparison | undefined;
  /** Null if no model took part. */
  models: ModelsReport | null;
  /** The meaning of the verdict for the job. */
  exit: ExitDecision;
}

/**
 * Judges a gate from its results and its policy. Pure: the same input always gives the same verdict, when the gate has run, when its report
 * is judged again, and when it is joined from shards. The results of a suite can be in several runs.
 */
export function judgeGate(
  results: readonly SuiteResults[],
  policy: GatePolicy,
  { surface, behaviour, hosts, coverage }: SurfaceResults = {},
): GateJudgement {
  const measured = [...Map.groupBy(results, ({ suiteId }) => suiteId).values()].flatMap((parts) => {
    const [first] = parts;
    const requirements = policy.suites.find(({ suiteId }) => suiteId === first?.suiteId);
    return first === undefined || requirements === undefined
      ? []
      : [{ results: joinRuns(first, parts.slice(1)), parts, requirements }];
  });
  const comparison = compareSuites(measured, policy);
  const baseComparison = compareWithBase(measured, policy);
  const regressions = [
    ...(comparison === null ? [] : listRegressions(comparison)),
    ...(baseComparison === null ? [] : listBaseRegressions(baseComparison)),
  ];
  const judged = surface === undefined || policy.surface === undefined ? null : judgeSurface(surface, policy.surface);
  const isComplete = results.every(({ interruption }) => interruption === null);
  const uncovered = judgeCoverage(coverage, policy, { isComplete });
  const rules = readBehaviourPolicy(policy);
  const recounted = behaviour === undefined || rules === null ? behaviour : recountBehaviour(behaviour, rules);
  const behaved = recounted === undefined || rules === null ? null : judgeBehaviour(recounted, rules);
  const counted = hosts === undefined || policy.hosts === undefined ? hosts : recountHosts(hosts, policy.hosts);
  const hosted = counted === undefined || policy.hosts === undefined ? null : judgeHosts(counted, policy.hosts);
  const lists = (judgement: { reasons: readonly VerdictReason[] } | null, code: VerdictReason['code']) =>
    judgement?.reasons.some((reason) => reason.code === code) === true;
  // Where the base does not run, the gate ends before it reads a surface: the first reason says why.
  const isEarlier = lists(behaved, 'behaviour-unread') && lists(judged, 'surface-unread');
  const judgements = isEarlier ? [behaved, judged, hosted] : [judged, hosted, behaved];
  const ofServers = judgements.flatMap((judgement) => judgement?.reasons ?? []);
  const unassigned = firstOfEach(
    [...policy.lowered, ...ofServers, ...uncovered],
    ({ code, message }) => `${code} ${message}`,
  );
  const reasons = assignReasons([...unassigned, ...regressions], measured);
  const { today } = policy;
  const sharedMinimums = countMinimums(measured, today);
  const suites = measured.map(({ results, parts, requirements }) => {
    const findings = reasons.filter(({ suiteId }) => suiteId === results.suiteId);
    const suitePolicy = { requirements: { ...requirements, sharedMinimums }, today };
    const assessed = assessSuite(results, { policy: suitePolicy, findings, parts, pricing: policy });
    return { results, parts, requirements, ...assessed };
  });
  // Without a suite, the comparison with the base is all that there is to judge.
  const alone = policy.withoutSuites;
  const verdict =
    suites.length === 0 && alone !== undefined
      ? judgeFindings(unassigned, behaved?.kept ?? null)
      : joinVerdicts(suites.map(({ verdict }) => verdict));
  return {
    suites,
    verdict,
    behaviour: recounted,
    hosts: counted,
    comparison,
    baseComparison,
    models: summarizeModels(measured, policy),
    exit: addWarnings(
      decideExit([
        ...suites.map(({ results: { name }, verdict, requirements }) => ({ name, verdict, requirements })),
        ...(suites.length === 0 && alone !== undefined ? [{ name: 'The gate', verdict, requirements: alone }] : []),
      ]),
      [judged, hosted, behaved].flatMap((judgement) => judgement?.warnings ?? []),
    ),
  };
}

/** Judges a gate without suites by what the comparisons with its base found. */
function judgeFindings(findings: readonly VerdictReason[], kept: VerdictReason | null): Verdict {
  const undecided = findings.filter(isOpen);
  const unmet = findings.filter((finding) => !isOpen(finding));
  if (unmet.length > 0) return { outcome: 'failed', reasons: [...unmet, ...undecided] };
  if (undecided.length > 0) return { outcome: 'inconclusive', reasons: undecided };
  return kept === null ? joinVerdicts([]) : { outcome: 'passed', reasons: [kept] };
}

/** Reads the rules about behaviour; null if the gate does not compare it. */
export function readBehaviourPolicy({
  behaviour,
  acceptingLabel,
}: Pick<GatePolicy, 'behaviour' | 'acceptingLabel'>): BehaviourPolicy | null {
  return behaviour === undefined ? null : { behaviour, acceptingLabel: acceptingLabel ?? null };
}

/** Adds warnings of the surface and of the behaviour, which are also notes of the report. */
function addWarnings(exit: ExitDecision, warnings: readonly string[]): ExitDecision {
  return { ...exit, notes: [...exit.notes, ...warnings], warnings: [...exit.warnings, ...warnings] };
}

/** The results of a suite, and the requirements that they are judged by. */
export interface MeasuredSuite {
  results: SuiteResults;
  requirements: SuiteRequirements;
}

/** Compares the results with the baseline of the policy; null without one. */
export function compareSuites(
  measured: readonly MeasuredSuite[],
  {
    baseline,
    maximumRegressions,
    maximumRateDrop,
  }: Pick<GatePolicy, 'baseline' | 'maximumRegressions' | 'maximumRateDrop'>,
): Comparison | null {
  if (baseline === null) return null;
  const asRun = measured.map(({ results, requirements }) => ({ results, effect: requirements.flaky.value }));
  const settled = applyFlakyEffect(baseline, asRun);
  return compareWithBaseline(settled.baseline, settled.results, {
    maximumRegressions: maximumRegressions.value,
    maximumRateDrop: maximumRateDrop?.value ?? null,
    overTasks: new Set(
      measured
        .filter(({ requirements }) => requirements.confidenceOver?.value === 'tasks')
        .map(({ results }) => results.suiteId),
    ),
  });
}

/** Assigns every reason to a suite: to the suite that it is about, else to the first. */
function assignReasons(reasons: readonly VerdictReason[], suites: readonly MeasuredSuite[]): VerdictReason[] {
  const [first] = suites;
  if (first === undefined) return [];
  return reasons.map((reason) => {
    const { results } = suites.find((suite) => suite.results.suiteId === reason.suiteId) ?? first;
    return { ...reason, suiteId: results.suiteId };
  });
}
