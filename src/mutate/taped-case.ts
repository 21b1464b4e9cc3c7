import type { TestCase } from '../cases/case.ts';
import { findChecks, needsWidgets } from '../engine/find-checks.ts';
import type { CaseOutcome } from '../engine/outcome.ts';
import { runCase } from '../engine/run-case.ts';
import {
  noChanges,
  recordSessions,
  replaySessions,
  type SessionTape,
  type TapeChanges,
} from '../engine/session-tape.ts';
import { openRenewableSession } from '../mcp/renewable-session.ts';

type RunCase = typeof runCase;

/** An iteration of a case that has ended, with all that its servers answered. */
export interface TapedCase {
  testCase: TestCase;
  target: Parameters<RunCase>[1];
  options: Parameters<RunCase>[2];
  tape: SessionTape;
  outcome: CaseOutcome;
}

/** Makes a function that runs cases as the engine does, and keeps their tapes. */
export function createCaseRecorder(): { runCase: RunCase; list(): readonly TapedCase[] } {
  const taped: TapedCase[] = [];
  return {
    runCase: async (testCase, target, options) => {
      const { open, tape } = recordSessions(options.openSession ?? openRenewableSession, options.clock);
      const outcome = await runCase(testCase, target, { ...options, openSession: open });
      taped.push({ testCase, target, options, tape, outcome });
      return outcome;
    },
    list: () => taped,
  };
}

/** The outcome of judging a case again: `unknown` if a request depends on a changed answer, so that the tape has no answer to it. */
export type Rejudgement = { kind: 'passed' } | { kind: 'failed'; reason: string } | { kind: 'unknown'; reason: string };

/**
 * Explains why a case cannot be judged again from its tape; null if it can. Programs, files, models and pages are asked while a case runs,
 * and a changed answer could change what they say.
 */
export function explainUnjudgeable({ testCase }: Pick<TapedCase, 'testCase'>): string | null {
  const { setup = [], teardown = [] } = testCase.advancedConfig ?? {};
  const steps = [...setup, ...testCase.steps, ...teardown];
  const has = (kind: string) => steps.some((step) => step.kind === kind);
  if (has('command')) return 'it runs commands';
  if (has('prompt')) return 'a model takes part in it';
  if (testCase.advancedConfig?.client?.sampling !== undefined) return 'its client answers for a model';
  if (findChecks(testCase).some(({ type }) => type === 'judge')) return 'a model judges it';
  if (needsWidgets(testCase)) return 'it shows a page';
  return null;
}

/** Runs a case again from its tape, with some of its answers changed, or with other steps. */
export async function runAgain(
  { testCase, target, options, tape, outcome: first }: TapedCase,
  changes: TapeChanges = noChanges,
): Promise<{ outcome: CaseOutcome; missing: string | null }> {
  const limitMs = testCase.advancedConfig?.timeoutMs ?? options.timeoutMs;
  const replay = replaySessions(tape, changes, { startedAtMs: first.startedAtMs, limitMs });
  const { others = [] } = options;
  const outcome = await runCase(
    testCase,
    // Lists of tools are shared by the sessions of a target, so each replay has its own.
    { ...target },
    {
      clock: replay.clock,
      timeoutMs: options.timeoutMs,
      openSession: replay.open,
      facts: options.facts ?? null,
      snapshots: readOnly(options.snapshots ?? null),
      others: others.map((other) => ({ target: { ...other.target }, visit: null })),
    },
  );
  return { outcome, missing: replay.missing?.method ?? null };
}

/** Judges a case again as the engine judged it, with some of its answers changed. */
export async function judgeAgain(taped: TapedCase, changes: TapeChanges = noChanges): Promise<Rejudgement> {
  const { outcome, missing } = await runAgain(taped, changes);
  const failedBefore = outcome.steps.some(({ status }, index, all) => status === 'fail' && index < lastRun(all));
  if (missing !== null && !failedBefore) return { kind: 'unknown', reason: `the answer to ${missing} depends on it` };
  if (outcome.result === 'passed') return { kind: 'passed' };
  if (outcome.result === 'failed' || failedBefore) return { kind: 'failed', reason: outcome.error ?? 'It failed.' };
  return { kind: 'unknown', reason: outcome.error ?? 'the case has no result' };
}

/** The position of the last step that ran. */
const lastRun = (steps: CaseOutcome['steps']) => steps.findLastIndex(({ status }) => status !== 'skipped');

function readOnly(snapshots: NonNullable<TapedCase['options']['snapshots']> | null) {
  return snapshots === null ? null : { ...snapshots, update: null };
}
