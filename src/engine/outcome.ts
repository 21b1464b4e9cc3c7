import { isRecord } from '../base/json.ts';
import { type Check, isAdvisory, isJudge } from '../checks/assertion.ts';
import { defaultMatchOptions, type TestCase, toPublicMatchOptions } from '../cases/case.ts';
import type { Difference } from '../model/difference.ts';
import type { UsedAnswer } from '../model/client-abilities.ts';
import type { IterationJudge, StepResult, ToolCall } from '../model/run.ts';
import type { Step } from '../cases/step.ts';
import type { PredicateResult, Trace, TracePrompt } from '../model/trace.ts';
import { type ModelUsage, noModelUsage } from '../model/usage.ts';
import type { ClientScript } from './client-script.ts';
import type { ToolResult } from '../checks/evidence.ts';
import type { JudgingContext } from './judging-context.ts';
import { describeTurn, judgeTurns, listExpectedCalls } from './match.ts';
import { judgeAssertion, listDifferences } from './judge-assertion.ts';
import type { ProcessLoss } from './process-loss.ts';
import { joinWithin, printValue } from '../checks/reasons.ts';
import type { Transcript } from './transcript.ts';
import type { CaseValues } from './values.ts';

/** The outcome of one iteration of one case. */
export interface CaseOutcome {
  /**
   * `completed` and `timed_out` are scored. `failed` means that there is no result, for example because the server is gone; `cancelled`
   * means that the caller stopped the iteration.
   */
  status: 'completed' | 'timed_out' | 'failed' | 'cancelled';
  /** Null unless scored. A timed-out iteration is scored as failed. */
  result: 'passed' | 'failed' | null;
  /** Why the iteration ended early, or else the reasons of all failed steps, checks and turns, one per line; null if it passed. */
  error: string | null;
  /** One result per step of the case, in order; steps that did not run are `skipped`. */
  steps: StepResult[];
  /** All calls, pinned or by a model, in order. */
  actualToolCalls: ToolCall[];
  /** The calls that the model was expected to make: the `toolCalledWith` asserts after a prompt. Empty without prompts. */
  expectedToolCalls: ToolCall[];
  /** The revision of MCP that the session used; null if there was no session. */
  protocolVersion: string | null;
  startedAtMs: number;
  /** From before the connection until the end of judging, without closing the session. */
  durationMs: number;
  trace: Trace;
  /** The results of the checks at the end of the case, in order; empty if they did not run. */
  predicates: PredicateResult[];
  /** Set if the process of the server ended before the iteration was over; the iteration has no result yet. */
  loss: ProcessLoss | null;
  /** The usage of its model calls; null if no model took part. */
  usage: ModelUsage | null;
  /** The results of the setup and teardown steps. */
  fixtures: readonly StepResult[];
  /** Problems that do not affect the result, one sentence each. */
  warnings: readonly string[];
  /** The usage of each judge call. */
  judges: IterationJudge[];
  /** The scripted answers that were given to the server. */
  usedAnswers: readonly UsedAnswer[];
  /** Why no other iteration of the run can have a result; null if one can. */
  runStop: string | null;
  /** What its failed checks compared. */
  differences?: readonly Difference[];
}

/** Lists the results of all steps in the order in which they ran. */
export function joinSteps({ steps, fixtures }: Pick<CaseOutcome, 'steps' | 'fixtures'>): StepResult[] {
  const ofPhase = (phase: StepResult['phase']) => fixtures.filter((result) => result.phase === phase);
  return [...ofPhase('setup'), ...steps, ...ofPhase('teardown')];
}

/** How the steps ended. Only `completed` and `timed_out` are scored. */
export interface Ending {
  status: CaseOutcome['status'];
  /** One sentence; null for `completed`, because steps and checks then give the reasons. */
  reason: string | null;
  loss?: ProcessLoss;
}

export const completed: Ending = { status: 'completed', reason: null };

/** The results of the checks at the end of a case. `unscored` is the reason why a gating check was not measured, if none failed. */
export interface JudgedChecks {
  predicates: PredicateResult[];
  unscored: string | null;
}

/**
 * Judges the checks at the end of a case. Judges that are models run last, and only if no step and no other gating check failed.
 * `hasFailedStep` is true if a step failed.
 *
 * @throws the reason of the limit's signal once it aborts.
 */
export async function judgeChecks(
  testCase: TestCase,
  transcript: Transcript,
  { hasFailedStep, values, ...context }: JudgingContext & { hasFailedStep: boolean; values: Pick<CaseValues, 'fill'> },
): Promise<JudgedChecks> {
  const checks = listChecks(testCase);
  const judged = new Map<Check, PredicateResult>();
  const hasFailed = () =>
    [...judged.values()].some(({ predicate, state }) => state === 'failed' && !isAdvisory(predicate));
  for (const predicate of [...checks.filter((check) => !isJudge(check)), ...checks.filter(isJudge)]) {
    const isNeeded = !isJudge(predicate) || !(hasFailedStep || hasFailed());
    const { filled, reason: gap } = values.fill(predicate);
    const open = gap === null ? null : { state: 'unmeasured' as const, reason: `${predicate.type}: ${gap}` };
    const { state, reason } = open ?? (isNeeded ? await judgeAssertion(filled, transcript, context) : notAsked);
    judged.set(predicate, { predicate: filled, passed: state === 'passed', state, reason });
  }
  const predicates = checks.flatMap((check) => judged.get(check) ?? []);
  const open = predicates.find(({ predicate, state }) => state === 'unmeasured' && !isAdvisory(predicate));
  return { predicates, unscored: hasFailed() ? null : (open?.reason ?? null) };
}

const notAsked = {
  state: 'unmeasured',
  reason: 'judge: not asked, because something else has failed already.',
} as const;

const noChecks: JudgedChecks = { predicates: [], unscored: null };

/** Judges the model's turns and builds the outcome. */
export function buildOutcome(
  testCase: TestCase,
  session: {
    transcript: Transcript;
    /** Absent if no server makes requests. */
    script?: Pick<ClientScript, 'lack' | 'unmetWish' | 'used'>;
    steps: readonly StepResult[];
    ending: Ending;
    protocolVersion: string | null;
    /** Absent if the checks did not run. */
    checks?: JudgedChecks;
    /** Still grows while the teardown runs. */
    fixtures?: { results: readonly StepResult[]; warnings: readonly string[] };
  },
): CaseOutcome {
  const { transcript, script, steps, ending, protocolVersion, checks = noChecks, fixtures } = session;
  const durationMs = Math.round(transcript.elapsedMs());
  const expected = listExpectedCalls(testCase.steps);
  const prompts = judgeTurns(transcript.turns, expected, {
    match: testCase.matchOptions === undefined ? defaultMatchOptions : toPublicMatchOptions(testCase.matchOptions),
    isNegative: testCase.isNegativeTest ?? false,
  });
  const { predicates } = checks;
  const error =
    ending.reason ?? describeFailures(testCase, { steps, predicates, prompts, toolResults: transcript.toolResults });
  const isScored = ending.status === 'completed' || ending.status === 'timed_out';
  const outcome: CaseOutcome = {
    status: ending.status,
    result: isScored ? (error === null ? 'passed' : 'failed') : null,
    error,
    steps: testCase.steps.map(
      ({ id, kind }, stepIndex) => steps[stepIndex] ?? { stepId: id, stepIndex, kind, status: 'skipped', reason: null },
    ),
    actualToolCalls: transcript.toolCalls,
    expectedToolCalls: expected.flat(),
    protocolVersion,
    startedAtMs: transcript.startedAtMs,
    durationMs,
    trace: {
      messages: transcript.messages,
      spans: transcript.spans,
      prompts,
      ...(transcript.widgets !== null && { widgetRenderObservations: transcript.widgets }),
      metadata: { predicates, ...transcript.notifications.toMetadata() },
    },
    predicates,
    loss: ending.loss ?? null,
    fixtures: fixtures?.results ?? [],
    warnings: fixtures?.warnings ?? [],
    usage: transcript.usage === noModelUsage ? null : transcript.usage,
    judges: transcript.judges,
    usedAnswers: script?.used ?? [],
    runStop: transcript.runStop,
    differences: listDifferences(transcript.compared, [
      ...steps.filter(({ status }) => status === 'fail').map(({ reason }) => reason),
      ...predicates.filter(({ state }) => state === 'failed').map(({ reason }) => reason),
    ]),
  };
  const hasFailedStep = steps.some(({ status }) => status === 'fail');
  const lack = script?.lack ?? null;
  // True if neither an early ending nor a failed step has decided the result already.
  const isOpen = ending.reason === null && !hasFailedStep;
  if (lack !== null && outcome.result === 'failed' && isOpen) return withholdResult(outcome, lack);
  const hasFailed =
    hasFailedStep ||
    prompts.some(({ passed }) => !passed) ||
    predicates.some(({ state, predicate }) => state === 'failed' && !isAdvisory(predicate));
  const unscored = transcript.cutReason ?? checks.unscored;
  if (unscored !== null && !hasFailed) return withholdResult(outcome, unscored);
  const hint = script?.unmetWish ?? null;
  return hint === null || outcome.result !== 'failed' ? outcome : { ...outcome, error: joinHint(outcome.error, hint) };
}

function joinHint(error: string | null, hint: string): string {
  return error === null ? hint : `${error}\n${hint}`;
}

/** Scores an iteration as failed because the server's process ended during one of its calls. */
export function failByLoss(outcome: CaseOutcome): CaseOutcome {
  return { ...outcome, status: 'completed', result: 'failed' };
}

/** Removes the result of an iteration that cannot be scored. */
export function withholdResult(outcome: CaseOutcome, reason: string): CaseOutcome {
  return { ...outcome, status: 'failed', result: null, error: reason };
}

/** Lists the checks at the end of a case. `inherit` has none here: compiling a suite fills them in. */
export function listChecks({ predicates }: TestCase): Check[] {
  return predicates === undefined || predicates.mode === 'inherit' ? [] : predicates.list;
}

/** Leaves room for the count of further reasons: a report shows 1000 characters. */
const maxLength = 900;

interface Judged {
  steps: readonly StepResult[];
  predicates: readonly PredicateResult[];
  prompts: readonly TracePrompt[];
  toolResults: readonly ToolResult[];
}

/** Describes all failures in an iteration, one reason per line: steps, then checks, then the model's turns. Null if nothing failed. */
export function describeFailures({ steps: caseSteps }: TestCase, judged: Judged): string | null {
  const failed = judged.steps.filter(({ status }) => status === 'fail');
  const ofCalls = new Set(failed.flatMap(({ kind, reason }) => (kind === 'toolCall' ? [reason] : [])));
  // A call with a counted error has failed its own step, with the same text.
  const areErrorsListed = judged.toolResults.every(({ toolError }) => toolError === null || ofCalls.has(toolError));
  const isRepeated = (type: unknown) => type === 'noToolErrors' && ofCalls.size > 0 && areErrorsListed;
  const reasons = [
    ...failed
      .filter(({ stepIndex }) => !isRepeated(readAssertionType(caseSteps[stepIndex])))
      .map(({ stepId, reason }) => reason ?? `Step ${printValue(stepId)} failed.`),
    ...judged.predicates
      .filter(({ state, predicate }) => state === 'failed' && !isAdvisory(predicate))
      .filter(({ predicate }) => !isRepeated(isRecord(predicate) ? predicate['type'] : undefined))
      .map(({ reason }) => reason),
    ...judged.prompts.map(describeTurn),
  ].filter((reason) => reason !== null);
  return reasons.length === 0 ? null : joinWithin([...new Set(reasons)], maxLength, '\n');
}

function readAssertionType(step: Step | undefined): string | null {
  return step?.kind === 'assert' && 'type' in step.assertion ? step.assertion.type : null;
}
