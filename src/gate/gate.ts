import { CancelledError } from '../base/errors.ts';
import { redactDeep } from '../base/redaction.ts';
import { generator } from '../base/version.ts';
import { buildTrend } from '../history/lookup.ts';
import type { Evidence } from '../model/evidence.ts';
import type { Report, Trend } from '../model/report.ts';
import { buildReport } from '../report/build.ts';
import { listRevisionDifferences } from '../verdict/compare-revisions.ts';
import type { SuiteJudgement } from '../verdict/judge.ts';
import { judgeGate } from '../verdict/judge-gate.ts';
import type { GateContext } from './run/context.ts';
import { composePolicy } from './judge/compose-policy.ts';
import { judgeShards } from './judge/rejudge.ts';
import type { GatePlan } from './plan/plan.ts';
import type { KeptResults } from './run/keep-results.ts';
import type { MadeRecording } from './run/open-models.ts';
import { startRunLifetime } from './run/run-lifetime.ts';
import { runSuites } from './run/run-suites.ts';
import { noteSnapshots, type TakenSnapshot } from './run/snapshots.ts';

export interface GateHooks {
  /** Called before anything starts, once no secret of the plan can be printed. */
  announce?: () => Promise<void>;
}

export interface GateResult {
  report: Report;
  /** What the report's page shows in addition to the report; null where nothing was run. */
  evidence: Evidence | null;
  /** Where the traces are, one request to a collector a line; null if not requested, or if there are none. */
  tracePath: string | null;
  /** What is uploaded in addition to the report; null where nothing is. */
  kept: KeptResults | null;
  /** Answers of providers in this gate, as recordings. */
  recordings: readonly MadeRecording[];
  /** Snapshots that the gate took instead of comparing with them, where they are other than their files. */
  snapshots: readonly TakenSnapshot[];
  /** 0 passed, or what the policy lets pass · 1 failed · 3 inconclusive · 129, 130, 131, 143 stopped by a signal. */
  exitCode: 0 | 1 | 3 | 129 | 130 | 131 | 143;
}

/**
 * Runs the gate: starts the server under test, runs the suites against it, judges, and leaves nothing running. Whatever
 * the surroundings do ends in a report with an inconclusive verdict; only a bug of the gate is thrown.
 */
export async function gate(plan: GatePlan, context: GateContext, { announce }: GateHooks = {}): Promise<GateResult> {
  const { clock, signal } = context;
  const startedAt = (context.startedAt ?? new Date(clock.now())).toISOString();
  const today = startedAt.slice(0, 'YYYY-MM-DD'.length);
  const startedMs = clock.monotonicMs();
  for (const secret of plan.secrets) context.redactor.add(secret);
  await announce?.();
  for (const note of plan.notes) context.logger.warning(note);
  for (const remark of plan.remarks) context.logger.info(remark);
  if (plan.merge !== null) {
    const { report, exit } = judgeShards(plan.merge, plan);
    for (const warning of exit.warnings) context.logger.warning(warning);
    return { report, ...nothingRan, exitCode: exit.exitCode };
  }
  using lifetime = startRunLifetime(clock, { timeoutMs: plan.timeoutMs, signal });

  const ran = await runSuites(plan, { ...context, lifetime, today });
  const { server, otherServers, suites, baseline, evidence, tracePath, kept, recordings, snapshots, measured } = ran;
  const { serverNotes, answerNotes, modelNotes } = ran;
  const policy = composePolicy(suites, { plan, baseline, today });
  const { exit, ...judgement } = judgeGate(
    suites.map(({ results }) => results),
    policy,
    measured,
  );
  const differences = listRevisionDifferences(suites.map(({ results }) => results));
  const runNotes = [...serverNotes, ...differences, ...modelNotes, ...answerNotes, ...noteSnapshots(snapshots)];
  const notes = [...plan.policyNotes, ...runNotes, ...exit.notes];
  const stopsJob = exit.exitCode !== 0 || lifetime.abort.reason instanceof CancelledError;
  const { revision, shard } = plan;
  const trend = readTrend(plan);
  const report = buildReport(
    redactDeep(
      {
        startedAt,
        durationMs: Math.round(clock.monotonicMs() - startedMs),
        generator,
        revision,
        shard,
        server,
        otherServers,
        trend,
        policy,
        ...judgement,
        notes,
        stopsJob,
        ...measured,
      },
      context.redactor,
    ),
  );
  for (const warning of [...listStale(judgement.suites), ...exit.warnings]) context.logger.warning(warning);
  const exitCode = lifetime.abort.reason instanceof CancelledError ? lifetime.abort.reason.exitCode : exit.exitCode;
  return { report, evidence: redactDeep(evidence, context.redactor), tracePath, kept, recordings, snapshots, exitCode };
}

const nothingRan = { evidence: null, tracePath: null, kept: null, recordings: [], snapshots: [] } as const;

/** A part of the cases is no point of a trend of the whole. */
function readTrend({ history, revision, shard }: GatePlan): Trend | null {
  if (history === null || shard !== null) return null;
  return buildTrend(history.records, revision?.branch ?? null);
}

/** What is not as the policy wants it and only warns. */
function listStale(suites: ReadonlyArray<Pick<SuiteJudgement, 'assessments'>>): string[] {
  return suites.flatMap(({ assessments }) =>
    assessments.filter(({ state, isDecisive }) => state === 'not-met' && !isDecisive).map(({ finding }) => finding),
  );
}
