import { generator } from '../../base/version.ts';
import type { Report } from '../../model/report.ts';
import { buildTrend } from '../../report/history.ts';
import type { GatePlan } from '../plan/plan.ts';
import type { PlannedMerge } from '../plan/plan-merge.ts';
import { judgeRestored } from './rejudge.ts';

/** Judges the shards of a gate as the whole that they are parts of. Nothing is run. */
export function judgeShards(merge: PlannedMerge, plan: Pick<GatePlan, 'baseline' | 'history'>): Report {
  const { suites, startedAt, durationMs, server, revision, minimumPassRate, policy } = merge;
  const trend = plan.history === null ? null : buildTrend(plan.history.records, revision?.branch ?? null);
  return judgeRestored(
    suites,
    { startedAt, durationMs, generator, revision, server, trend },
    { minimumPassRate, policy, baseline: plan.baseline },
  );
}
