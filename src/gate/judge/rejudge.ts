import { createFindings } from '../../base/findings.ts';
import { generator } from '../../base/version.ts';
import { buildTrend } from '../../history/lookup.ts';
import {
  applyLimitDefaults,
  applyPolicyDefaults,
  applyPricingDefaults,
  type GatePolicy,
  mergeLayers,
  noGateRules,
  readJobEffects,
} from '../../model/policy.ts';
import type { Report } from '../../model/report.ts';
import { applyBehaviourDefaults } from '../../model/behaviour-policy.ts';
import { applyHostDefaults } from '../../model/hosts-policy.ts';
import { applySurfaceDefaults } from '../../model/surface-policy.ts';
import { readResults, type SuiteResults } from '../../model/results.ts';
import type { VerdictReason } from '../../model/verdict.ts';
import { buildReport, type ReportInput } from '../../report/build.ts';
import { listRevisionDifferences } from '../../verdict/compare-revisions.ts';
import type { ExitDecision } from '../../verdict/exit.ts';
import { judgeGate } from '../../verdict/judge-gate.ts';
import { listSuiteLayers } from '../../verdict/merge-policies.ts';
import { firstOfEach } from '../../base/lists.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { PlannedMerge } from '../plan/plan-merge.ts';
import type { NewRules } from '../plan/plan-rejudge.ts';
import { groupReported, nameReported, resolveCaseNames } from '../plan/resolve-names.ts';

/** A report that was judged again, and what its verdict means for the job. */
export interface Rejudgement {
  report: Report;
  exit: ExitDecision;
}

/** Judges the results of a report again, by the policy of its gate unless new rules replace it. Runs nothing. */
export function rejudgeReport(report: Report, rules: NewRules): Rejudgement {
  const results = readResults(report);
  // Drops the notes on the old verdict, which may not be true of the new one.
  const outdated = new Set(judgeGate(results, report.policy, report).exit.notes);
  const notes = report.notes.filter((note) => !outdated.has(note));
  return judgeAgain(results, replaceRules(report.policy, results, rules), { ...report, notes });
}

/** Judges the shards of a gate together, as one gate. Runs nothing. */
export function judgeShards(
  {
    results,
    policy,
    rules,
    surface,
    hosts,
    behaviour,
    coverage,
    startedAt,
    durationMs,
    server,
    revision,
  }: PlannedMerge,
  { baseline, history, protectionFindings, policyNotes }: MergingGate,
): Rejudgement {
  const trend = history === null ? null : buildTrend(history.records, revision?.branch ?? null);
  const replaced = replaceRules(policy, results, { ...rules, baseline, lowered: protectionFindings });
  const notes = [...policyNotes, ...listRevisionDifferences(results)];
  return judgeAgain(results, replaced, {
    startedAt,
    durationMs,
    generator,
    revision,
    server,
    trend,
    notes,
    surface,
    hosts,
    behaviour,
    coverage,
  });
}

type MergingGate = Pick<GatePlan, 'baseline' | 'history' | 'protectionFindings' | 'policyNotes'>;

function judgeAgain(
  results: readonly SuiteResults[],
  policy: GatePolicy,
  rest: Omit<ReportInput, 'suites' | 'verdict' | 'comparison' | 'policy' | 'stopsJob'>,
): Rejudgement {
  const { exit, ...judgement } = judgeGate(results, policy, rest);
  const notes = [...(rest.notes ?? []), ...exit.notes];
  const report = buildReport({ ...rest, policy, ...judgement, notes, stopsJob: exit.exitCode !== 0 });
  return { report, exit };
}

/**
 * Replaces all that the policies required by the rules of a policy file, except the minimum pass rate if the file names none, and except
 * what the history says about the cases. The day stays that of the results, so that the same report always gets the same verdict.
 * Requirements that the change lowers stay, too.
 */
function replaceRules(
  policy: GatePolicy,
  results: readonly SuiteResults[],
  { minimumPassRate, baseline, policy: file, lowered = [] }: NewRules & { lowered?: readonly VerdictReason[] },
): GatePolicy {
  const written = minimumPassRate === null ? null : { value: minimumPassRate, source: 'min-pass-rate' };
  const suites = new Map(groupReported(results).map((suite) => [suite.id, suite]));
  return {
    ...policy,
    suites: policy.suites.map((own) => {
      const suite = suites.get(own.suiteId);
      const kept = { ...own, minimumPassRate: written ?? own.minimumPassRate };
      if (file === null || suite === undefined) return kept;
      const named = suite.cases.map(nameReported);
      // The plan has refused ambiguous names already.
      const joined = mergeLayers(
        listSuiteLayers(file, suite).map((layer) => resolveCaseNames(layer, named, createFindings())),
      );
      const minimum = written ?? joined.minimumPassRate ?? own.minimumPassRate;
      const requirements = applyPolicyDefaults({ ...joined, minimumPassRate: minimum });
      return { suiteId: own.suiteId, ...requirements, probation: own.probation };
    }),
    ...applyLimitDefaults(file?.gate ?? noGateRules, policy),
    ...(file !== null && file.gate.prices.length > 0 ? applyPricingDefaults(file.gate) : {}),
    ...(policy.surface !== undefined && { surface: applySurfaceDefaults(file?.gate.surface ?? null, policy.surface) }),
    ...(policy.hosts !== undefined && { hosts: applyHostDefaults(file?.gate.hosts ?? null, policy.hosts) }),
    ...(policy.behaviour !== undefined && {
      behaviour: applyBehaviourDefaults(file?.gate.behaviour ?? null, policy.behaviour),
    }),
    ...(file !== null && policy.withoutSuites !== undefined && { withoutSuites: readJobEffects(file.common) }),
    ...(file !== null && file.gate.minimumCoverage.length > 0 && { minimumCoverage: file.gate.minimumCoverage }),
    baseline: baseline?.baseline ?? policy.baseline,
    lowered: firstOfEach([...policy.lowered, ...lowered], ({ code, message }) => `${code} ${message}`),
  };
}
