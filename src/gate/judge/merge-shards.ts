import { generator } from '../../base/version.ts';
import { buildTrend } from '../../history/lookup.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { PlannedMerge } from '../plan/plan-merge.ts';
import { judgeRestored, type Rejudgement } from './rejudge.ts';

/** Judges the shards of a gate as the whole that they are parts of. Nothing is run. */
export function judgeShards(
  merge: PlannedMerge,
  plan: Pick<GatePlan, 'baseline' | 'history' | 'protectionFindings' | 'policyNotes'>,
): Rejudgement {
  const { suites, startedAt, durationMs, server, revision, minimumPassRate, policy } = merge;
  const trend = plan.history === null ? null : buildTrend(plan.history.records, revision?.branch ?? null);
  return judgeRestored(
    suites,
    { startedAt, durationMs, generator, revision, server, trend, notes: plan.policyNotes },
    { minimumPassRate, policy, baseline: plan.baseline, findings: plan.protectionFindings },
  );
}
