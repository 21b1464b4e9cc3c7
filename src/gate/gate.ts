import { CancelledError } from '../base/errors.ts';
import { redactDeep } from '../base/redaction.ts';
import { generator } from '../base/version.ts';
import { listInnerSteps, type Step } from '../cases/step.ts';
import { listAllSteps } from '../cases/suite.ts';
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
import type { PlannedSuite } from './plan/plan-suites.ts';
import type { GatePlan } from './plan/plan.ts';
import type { MadeUpstream } from './run/job-upstream.ts';
import type { KeptResults } from './run/keep-results.ts';
import { locateSources } from './run/locate-source.ts';
import type { MadeRecording } from './run/open-models.ts';
import { startRunLifetime } from './run/run-lifetime.ts';
import { runSuites } from './run/run-suites.ts';
import { noteSnapshots, type TakenSnapshot } from './run/snapshots.ts';

export interface GateHooks {
  /** Called before anything starts, when the redactor knows every secret of the plan. */
  announce?: () => Promise<void>;
}

export interface GateResult {
  report: Report;
  /** The evidence that the report's page shows in addition to the report; null if nothing was run. */
  evidence: Evidence | null;
  /** The path of the traces, one request to a collector per line; null if not requested, or if there are none. */
  tracePath: string | null;
  /** The results that are uploaded in addition to the report; null if there are none. */
  kept: KeptResults | null;
  /** The answers of providers in this gate, as recordings. */
  recordings: readonly MadeRecording[];
  /** The snapshots that the gate took instead of comparing with them, if they differ from their files. */
  snapshots: readonly TakenSnapshot[];
  /** The recordings of APIs that the gate made. */
  upstream: readonly MadeUpstream[];
  /** 0 passed, or the policy lets the verdict pass · 1 failed · 3 inconclusive · 129, 130, 131, 143 stopped by a signal. */
  exitCode: 0 | 1 | 3 | 129 | 130 | 131 | 143;
}

/**
 * Runs the gate: starts the server under test, runs the suites against it, judges, and leaves nothing running. Every failure of the
 * surroundings ends in a report with an inconclusive verdict; it throws only for a bug of the gate.
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
  const {
    server,
    otherServers,
    suites,
    baseline,
    evidence,
    tracePath,
    kept,
    recordings,
    snapshots,
    upstream,
    measured,
  } = ran;
  const { serverNotes, answerNotes, modelNotes } = ran;
  const policy = composePolicy(suites, { plan, baseline, today });
  const { exit, ...judgement } = judgeGate(
    suites.map(({ results }) => results),
    policy,
    measured,
  );
  const differences = listRevisionDifferences(suites.map(({ results }) => results));
  const runNotes = [...serverNotes, ...differences, ...modelNotes, ...answerNotes, ...noteSnapshots(snapshots)];
  const notes = [...plan.policyNotes, ...noteUncalled(plan.suites), ...runNotes, ...exit.notes];
  const stopsJob = exit.exitCode !== 0 || lifetime.abort.reason instanceof CancelledError;
  const { revision, shard } = plan;
  const trend = readTrend(plan);
  const built = buildReport(
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
        ...measured,
        ...judgement,
        notes,
        repeat: context.repeat ?? null,
        inspection: context.inspection ?? null,
        stopsJob,
      },
      context.redactor,
    ),
  );
  const report = redactDeep(await locateSources(built, plan.cwd), context.redactor);
  for (const warning of [...listStale(judgement.suites), ...exit.warnings]) context.logger.warning(warning);
  const exitCode = lifetime.abort.reason instanceof CancelledError ? lifetime.abort.reason.exitCode : exit.exitCode;
  const made = { recordings, snapshots, upstream };
  return { report, evidence: redactDeep(evidence, context.redactor), tracePath, kept, ...made, exitCode };
}

/** The steps after which the server does no more than list what it has. */
const idleSteps: ReadonlySet<Step['kind']> = new Set([
  'assert',
  'listTools',
  'listResources',
  'listResourceTemplates',
  'listPrompts',
  'ping',
  'wait',
]);

/** Notes that a verdict says little, because no step has the server do anything. */
function noteUncalled(suites: readonly PlannedSuite[]): string[] {
  const isStored = suites.some(({ kind }) => kind === 'stored');
  const cases = suites.flatMap((planned) => (planned.kind === 'file' ? planned.suite.cases : []));
  const steps = listInnerSteps(cases.flatMap(listAllSteps).map(({ step }) => step));
  if (isStored || cases.length === 0 || steps.some(({ kind }) => !idleSteps.has(kind))) return [];
  return [
    'No case calls a tool, reads a resource or gets a prompt: the verdict says only that the server starts and lists what it has.',
  ];
}

const nothingRan = {
  evidence: null,
  tracePath: null,
  kept: null,
  recordings: [],
  snapshots: [],
  upstream: [],
} as const;

/** Reads the trend; null for a shard, because a part of the cases is no point of a trend of the whole. */
function readTrend({ history, revision, shard }: GatePlan): Trend | null {
  if (history === null || shard !== null) return null;
  return buildTrend(history.records, revision?.branch ?? null);
}

/** Lists what is not as the policy requires and only causes a warning. */
function listStale(suites: ReadonlyArray<Pick<SuiteJudgement, 'assessments'>>): string[] {
  return suites.flatMap(({ assessments }) =>
    assessments.filter(({ state, isDecisive }) => state === 'not-met' && !isDecisive).map(({ finding }) => finding),
  );
}
