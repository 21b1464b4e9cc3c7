import type { TestCase } from '../cases/case.ts';
import { findChecks, needsWidgets } from '../engine/find-checks.ts';
import { ModelError } from '../base/errors.ts';
import type { OpenModel } from '../engine/prompt-runner.ts';
import type { ModelAnswer, ModelName } from '../models/language-model.ts';
import type { ModelAnswers } from './operators/define-operator.ts';
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

/** The model of a case, with what it answered. */
export interface TapedModel {
  name: ModelName;
  answers: ModelAnswer[];
}

/** An iteration of a case that has ended, with all that its servers answered. */
export interface TapedCase {
  testCase: TestCase;
  target: Parameters<RunCase>[1];
  options: Parameters<RunCase>[2];
  tape: SessionTape;
  /** The model of the case with its answers; null if it was not asked. */
  model?: TapedModel | null;
  outcome: CaseOutcome;
}

/** Makes a function that runs cases as the engine does, and keeps their tapes. */
export function createCaseRecorder(): { runCase: RunCase; list(): readonly TapedCase[] } {
  // Cases that overlap end in another order in each run, and the draw of changes depends on that order.
  const taped: Array<TapedCase | null> = [];
  return {
    runCase: async (...run) => {
      const position = taped.push(null) - 1;
      const ended = await tapeCase(...run);
      taped[position] = ended;
      return ended.outcome;
    },
    list: () => taped.filter((each) => each !== null),
  };
}

/** Runs a case as the engine does, and keeps its tape. */
export async function tapeCase(...[testCase, target, options]: Parameters<RunCase>): Promise<TapedCase> {
  const { open, tape } = recordSessions(options.openSession ?? openRenewableSession, options.clock);
  const { openModel, readModel } = recordModel(options.openModel ?? null);
  const outcome = await runCase(testCase, target, { ...options, openSession: open, openModel });
  return { testCase, target, options, tape, model: readModel(), outcome };
}

function recordModel(open: OpenModel | null): { openModel: OpenModel | null; readModel: () => TapedModel | null } {
  let name: ModelName | null = null;
  const answers: ModelAnswer[] = [];
  if (open === null) return { openModel: null, readModel: () => null };
  return {
    openModel: async () => {
      const session = await open();
      name = session.model;
      return {
        model: session.model,
        answer: async (call, given) => {
          const answer = await session.answer(call, given);
          answers.push(answer);
          return answer;
        },
      };
    },
    readModel: () => (name === null ? null : { name, answers }),
  };
}

/** Gives the answers of a tape, one after the other. */
function replayModel({ name, answers }: TapedModel, changed: ModelAnswers): OpenModel {
  let next = 0;
  return async () => ({
    model: name,
    answer: async () => {
      const answer = changed.get(next) ?? answers[next];
      next += 1;
      if (answer === undefined)
        throw new ModelError('The tape has no further answer of the model.', { kind: 'missing' });
      return answer;
    },
  });
}

/** What changes when a case is judged again. */
export type CaseChanges = TapeChanges & { modelAnswers?: ModelAnswers };

/** The outcome of judging a case again: `unknown` if a request depends on a changed answer, so that the tape has no answer to it. */
export type Rejudgement = { kind: 'passed' } | { kind: 'failed'; reason: string } | { kind: 'unknown'; reason: string };

/**
 * Explains why a case cannot be judged again from its tape; null if it can. Programs, files, models, pages and check modules are asked
 * while a case runs, and a changed answer could change what they say.
 */
export function explainUnjudgeable({ testCase, model = null }: Pick<TapedCase, 'testCase' | 'model'>): string | null {
  const { setup = [], teardown = [] } = testCase.advancedConfig ?? {};
  const steps = [...setup, ...testCase.steps, ...teardown];
  const has = (kind: string) => steps.some((step) => step.kind === kind);
  if (has('command')) return 'it runs commands';
  if (testCase.advancedConfig?.hostProgram !== undefined) return 'the program of a host runs it';
  if (has('prompt') && model === null) return 'a model takes part in it';
  if (testCase.advancedConfig?.client?.sampling !== undefined) return 'its client answers for a model';
  if (findChecks(testCase).some(({ type }) => type === 'judge')) return 'a model judges it';
  if (findChecks(testCase).some(({ type, name }) => type === 'custom' && typeof name === 'string'))
    return 'a check of your own judges it';
  if (needsWidgets(testCase)) return 'it shows a page';
  return null;
}

/** Runs a case again from its tape, with some of its answers changed, or with other steps. */
export async function runAgain(
  {
    testCase,
    target,
    options,
    tape,
    model = null,
    outcome: first,
  }: Omit<TapedCase, 'outcome'> & { outcome: Pick<CaseOutcome, 'startedAtMs'> },
  { modelAnswers = new Map(), ...changes }: CaseChanges = noChanges,
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
      openModel: model === null ? null : replayModel(model, modelAnswers),
      facts: options.facts ?? null,
      snapshots: readOnly(options.snapshots ?? null),
      others: others.map((other) => ({ target: { ...other.target }, visit: null })),
    },
  );
  return { outcome, missing: replay.missing?.method ?? null };
}

/** Judges a case again as the engine judged it, with some of its answers changed. */
export async function judgeAgain(taped: TapedCase, changes: CaseChanges = noChanges): Promise<Rejudgement> {
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
