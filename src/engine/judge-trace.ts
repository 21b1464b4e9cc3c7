import { describeError } from '../base/errors.ts';
import { endSentence } from '../base/text.ts';
import { expectsToolError, isToolResultAssertion, type ToolResultAssertion } from '../model/assertion.ts';
import type { OwnJudgement } from '../model/results.ts';
import type { Step } from '../model/step.ts';
import type { Suite, SuiteCase } from '../model/suite.ts';
import { resolveChecks } from '../suite/build.ts';
import { expectsErrorOfCall } from '../suite/compile.ts';
import type { ToolResult } from './evidence.ts';
import { judgePredicate } from './predicates.ts';
import { clipReason, printValue } from './reasons.ts';
import { type SchemaBudget, startSchemaTime } from './schema-check.ts';
import { readTrace, type ToolOutput, type TracedCall, type TraceRecord } from './trace-reader.ts';

/** That the calls of which no assertion expects an error had none: a service that allows one allows all. */
interface NoOtherErrors {
  type: 'noToolErrors';
}

/** An assertion that only the embedded service judges, and where it stands. */
export interface TraceAssertion {
  assertion: ToolResultAssertion | NoOtherErrors;
  /** The step it is, by its index in the file's case; null for a check, which is judged at the end. */
  step: { id: string; index: number; kind: 'assert' } | null;
}

/**
 * Lists what compiling a case for a service other than the embedded one leaves out: first its steps, then the checks at its end, then
 * the errors of calls that the case does not expect.
 */
export function listTraceAssertions(testCase: SuiteCase, suite: Suite): TraceAssertion[] {
  const ofSteps = testCase.steps.flatMap(({ step }, index): TraceAssertion[] => {
    if (step.kind !== 'assert' || !isToolResultAssertion(step.assertion)) return [];
    return [{ assertion: step.assertion, step: { id: step.id, index, kind: 'assert' } }];
  });
  const ofChecks = resolveChecks(suite.checks, testCase.checks)
    .filter(isToolResultAssertion)
    .map((assertion) => ({ assertion, step: null }));
  const isErrorLimited = testCase.failOnToolError && expectsErrorOfCall(testCase, suite);
  const noOtherErrors: TraceAssertion[] = isErrorLimited ? [{ assertion: { type: 'noToolErrors' }, step: null }] : [];
  return [...ofSteps, ...ofChecks, ...noOtherErrors];
}

/**
 * Judges assertions on tool results by what a service recorded of an iteration that it passed. `steps` are all of the
 * case's, as the file has them. One assertion that fails decides; where none does and the trace says too little about
 * one, the iteration is unscored. Never throws, whatever the trace.
 */
export async function judgeTrace(
  trace: unknown,
  assertions: readonly TraceAssertion[],
  steps: readonly Step[],
): Promise<OwnJudgement> {
  const [first] = assertions;
  if (first === undefined) return { kind: 'passed' };
  try {
    const record = readTrace(trace);
    if (record === null) return giveUp(first, 'no trace is stored');
    const schemas: SchemaBudget = { time: startSchemaTime(), limit: null };
    const judgements: OwnJudgement[] = [];
    for (const item of assertions) {
      const { assertion } = item;
      judgements.push(
        assertion.type === 'noToolErrors'
          ? judgeOtherErrors(item, record, listExpectedErrors(assertions, record, steps))
          : await judgeAssertion({ ...item, assertion }, { record, steps, schemas }),
      );
    }
    return (
      judgements.find(({ kind }) => kind === 'failed') ??
      judgements.find(({ kind }) => kind === 'unscored') ?? { kind: 'passed' }
    );
  } catch (error) {
    // A trace is foreign, and may be nested deeper than any stack.
    return giveUp(first, `the trace cannot be read: ${describeError(error)}`);
  }
}

/** The calls, by their position in the trace, whose error an assertion expects; null where the trace does not tell which. */
function listExpectedErrors(
  assertions: readonly TraceAssertion[],
  record: TraceRecord,
  steps: readonly Step[],
): ReadonlySet<number> | null {
  const judged = assertions.flatMap(({ assertion, step }) => {
    if (assertion.type === 'noToolErrors' || !expectsToolError(assertion)) return [];
    return findLatestCall(record, steps, { position: step?.index ?? steps.length, toolName: assertion.toolName });
  });
  if (judged.some(({ kind }) => kind === 'unknown')) return null;
  return new Set(judged.flatMap((latest) => (latest.kind === 'found' ? [latest.call.order] : [])));
}

function judgeOtherErrors(
  item: TraceAssertion,
  { calls }: TraceRecord,
  expected: ReadonlySet<number> | null,
): OwnJudgement {
  if (expected === null) return giveUp(item, 'the trace does not tell which tool call was expected to fail');
  const others = calls.filter((_, order) => !expected.has(order));
  const failed = others.find(({ output }) => output?.isError === true);
  if (failed !== undefined) {
    const text = printValue(failed.output?.text);
    const reason = clipReason(`${failed.toolName ?? 'A tool'} answered with an error: ${text}.`);
    return { kind: 'failed', reason, step: null };
  }
  return others.every(({ output }) => output !== null)
    ? { kind: 'passed' }
    : giveUp(item, 'the trace has no result of one of the tool calls');
}

async function judgeAssertion(
  item: TraceAssertion & { assertion: ToolResultAssertion },
  { record, steps, schemas }: { record: TraceRecord; steps: readonly Step[]; schemas: SchemaBudget },
): Promise<OwnJudgement> {
  const { assertion, step } = item;
  const latest = findLatestCall(record, steps, {
    position: step?.index ?? steps.length,
    toolName: assertion.toolName,
  });
  if (latest.kind === 'unknown') return giveUp(item, latest.reason);
  const gap = latest.kind === 'found' ? findGap(assertion, latest.call) : null;
  if (gap !== null) return giveUp(item, gap);
  const evidence = {
    toolCalls: [],
    toolResults: latest.kind === 'found' ? [toToolResult(latest.call)] : [],
    finalAssistantMessage: '',
    userMessages: 0,
    tokensUsed: null,
    isCut: null,
  };
  const { state, reason } = await judgePredicate(assertion, evidence, schemas);
  if (state === 'unmeasured') return { kind: 'unscored', reason };
  return state === 'passed' ? { kind: 'passed' } : { kind: 'failed', reason, step };
}

/** What an assertion asks about and the trace does not say of this call. */
function findGap(assertion: ToolResultAssertion, { toolName, output, latencyMs }: AnsweredCall): string | null {
  const { type } = assertion;
  if (type === 'toolNotFound' && output.isError) return `the trace does not tell whether the server lists ${toolName}`;
  if (type === 'toolLatencyUnder' && latencyMs === null) return `the trace does not tell how long ${toolName} took`;
  const { text, structuredContent, isError, isVerbatim } = output;
  if (type === 'toolResultEquals' && (assertion.path ?? '') === '' && assertion.value === text) return null;
  const asksForDocument = type === 'toolResultEquals' || type === 'toolResultSchema';
  return asksForDocument && !isVerbatim && !isError && structuredContent === undefined && !isJson(text)
    ? `the trace has only the text of what ${toolName} answered, and that is not JSON`
    : null;
}

function toToolResult({ toolName, output, latencyMs }: AnsweredCall): ToolResult {
  const { text, structuredContent, isError } = output;
  return {
    toolName,
    text,
    structuredContent,
    isError,
    toolError: null,
    latencyMs: latencyMs ?? Number.NaN,
    isListed: null,
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function giveUp({ assertion }: TraceAssertion, why: string): OwnJudgement {
  return { kind: 'unscored', reason: clipReason(endSentence(`${assertion.type} could not be judged: ${why}`)) };
}

interface AnsweredCall extends TracedCall {
  toolName: string;
  output: ToolOutput;
  /** Its position among the calls of the trace. */
  order: number;
}

type LatestCall =
  | { kind: 'found'; call: AnsweredCall }
  /** No tool had answered by then, or none of that name. */
  | { kind: 'none' }
  /** The trace says too little; `reason` is half a sentence. */
  | { kind: 'unknown'; reason: string };

interface LocatedCall extends TracedCall {
  /** The index of the step that made it; null if unknown. */
  stepPosition: number | null;
  order: number;
}

/**
 * Finds the latest tool result before the step at `position`, of one tool where `toolName` is given. `steps` are all of
 * the case's. It is only found where the trace accounts for every call before it: another service may leave out results,
 * above all those of pinned calls, and then an earlier one would pass for the latest.
 */
export function findLatestCall(
  { calls, namedTools }: TraceRecord,
  steps: readonly Step[],
  { position, toolName }: { position: number; toolName: string | undefined },
): LatestCall {
  const isMeant = (name: string | null) => toolName === undefined || name === null || name === toolName;
  const located = locateCalls(calls, steps);
  const isCaller = ({ kind }: Step) => kind !== 'assert';
  if (!steps.slice(0, position).some(isCaller)) return { kind: 'none' };
  const isLast = !steps.slice(position).some(isCaller);
  if (!isLast && located.some(({ stepPosition }) => stepPosition === null)) {
    return { kind: 'unknown', reason: 'the trace does not tell which tool results came before it' };
  }
  const before = isLast
    ? located
    : located.filter(({ stepPosition }) => stepPosition !== null && stepPosition < position);

  const unanswered = steps.slice(0, position).find((step, index) => {
    const isPinned = step.kind === 'toolCall' && isMeant(step.toolName);
    return isPinned && !before.some(({ stepPosition, output }) => stepPosition === index && output !== null);
  });
  if (unanswered !== undefined) {
    return { kind: 'unknown', reason: `the trace has no result of the tool call in step ${printValue(unanswered.id)}` };
  }
  const concerned = before.filter((call) => isMeant(call.toolName));
  const answered = concerned.filter(isAnswered);
  if (answered.length < concerned.length) {
    return { kind: 'unknown', reason: 'the trace has no result, or no name, of one of the tool calls before it' };
  }
  const call = answered.at(-1);
  if (call !== undefined) return { kind: 'found', call };
  return calls.some((traced) => isMeant(traced.toolName)) || !namedTools.some(isMeant)
    ? { kind: 'none' }
    : { kind: 'unknown', reason: 'the trace has none of the tool calls that it counts' };
}

function isAnswered(call: LocatedCall): call is LocatedCall & AnsweredCall {
  return call.toolName !== null && call.output !== null;
}

/**
 * Finds the step of each call: by the id of the step that its span carries; else, where no model took part, by its turn
 * among the steps that pin calls; else, where steps are prompts and assertions alone, by the prompt whose number its
 * span carries. That number counts pinned calls too on some services, so it is useless where there are any. Nor does
 * `stepIndex`, by which some mean a model's step within its turn.
 */
function locateCalls(calls: readonly TracedCall[], steps: readonly Step[]): LocatedCall[] {
  const positions = new Map(steps.map(({ id }, index) => [id, index]));
  const pinned = steps.filter((step) => step.kind === 'toolCall');
  const prompts = steps.filter((step) => step.kind === 'prompt');
  const isCounted = prompts.length === 0 && isSameSequence(calls, pinned);
  const areTurnsPrompts =
    steps[0]?.kind === 'prompt' && steps.every(({ kind }) => kind === 'prompt' || kind === 'assert');
  return calls.map((call, order) => {
    const { stepId, promptIndex } = call;
    const byOrder = isCounted ? pinned[order]?.id : undefined;
    const byTurn = areTurnsPrompts && promptIndex !== null ? prompts[promptIndex]?.id : undefined;
    const stepPosition = positions.get(stepId ?? '') ?? positions.get(byOrder ?? byTurn ?? '') ?? null;
    const step = stepPosition === null ? undefined : steps[stepPosition];
    return {
      ...call,
      stepPosition,
      order,
      toolName: call.toolName ?? (step?.kind === 'toolCall' ? step.toolName : null),
    };
  });
}

function isSameSequence(calls: readonly TracedCall[], pinned: ReadonlyArray<{ toolName: string }>): boolean {
  return (
    calls.length === pinned.length &&
    calls.every(({ toolName, output }, order) => {
      return output !== null && (toolName === null || toolName === pinned[order]?.toolName);
    })
  );
}
