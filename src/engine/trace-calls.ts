import type { Step } from '../cases/step.ts';
import { printValue } from '../checks/reasons.ts';
import type { ToolOutput, TracedCall, TraceRecord } from './trace-reader.ts';

/** A call of a trace with its result. */
export interface AnsweredCall extends TracedCall {
  toolName: string;
  output: ToolOutput;
  /** The position of the call among the calls of the trace. */
  order: number;
}

/** The trace has too little information; `reason` is a clause. */
interface Unknown {
  kind: 'unknown';
  reason: string;
}

type LatestCall =
  | { kind: 'found'; call: AnsweredCall }
  /** No tool, or no tool with this name, had answered yet. */
  | { kind: 'none' }
  | Unknown;

interface LocatedCall extends TracedCall {
  /** The index of the step that made the call; null if unknown. */
  stepPosition: number | null;
  order: number;
}

/** The position of an assertion among the steps of a case, and its tool if it names one. */
interface Viewpoint {
  position: number;
  toolName: string | undefined;
}

/**
 * Finds the latest tool result before the step at `position`, of one tool if `toolName` is set. `steps` are all steps of the case. The
 * result is unknown unless the trace accounts for every call before it: services may omit results, especially of pinned calls, and an
 * earlier result would then be mistaken for the latest.
 */
export function findLatestCall(record: TraceRecord, steps: readonly Step[], viewpoint: Viewpoint): LatestCall {
  const found = findAnsweredCalls(record, steps, viewpoint);
  if (found.kind === 'unknown') return found;
  const call = found.calls.at(-1);
  return call === undefined ? { kind: 'none' } : { kind: 'found', call };
}

/** Finds all tool results before the step at `position`, with the same rules, in the order in which they arrived. */
export function findAnsweredCalls(
  record: TraceRecord,
  steps: readonly Step[],
  { position, toolName }: Viewpoint,
): { kind: 'found'; calls: AnsweredCall[] } | Unknown {
  const before = findCallsBefore(record, steps, position);
  if (before.kind === 'unknown') return before;
  const isMeant = (name: string | null) => toolName === undefined || name === null || name === toolName;
  const unanswered = steps.slice(0, position).find((step, index) => {
    const isPinned = step.kind === 'toolCall' && isMeant(step.toolName);
    return isPinned && !before.calls.some(({ stepPosition, output }) => stepPosition === index && output !== null);
  });
  if (unanswered !== undefined) {
    return { kind: 'unknown', reason: `the trace has no result of the tool call in step ${printValue(unanswered.id)}` };
  }
  const concerned = before.calls.filter((call) => isMeant(call.toolName));
  const answered = concerned.filter(isAnswered);
  if (answered.length < concerned.length) {
    return { kind: 'unknown', reason: 'the trace has no result, or no name, of one of the tool calls before it' };
  }
  return answered.length === 0 && before.hasCallers && !accountsFor(record, isMeant)
    ? { kind: 'unknown', reason: 'the trace has none of the tool calls that it counts' }
    : { kind: 'found', calls: answered };
}

/** A call of a trace, with or without a result. */
export interface NamedCall extends TracedCall {
  toolName: string;
}

/** Finds all calls before the step at `position`, in order, if the trace names all of them. */
export function findNamedCalls(
  record: TraceRecord,
  steps: readonly Step[],
  position: number,
): { kind: 'found'; calls: NamedCall[] } | Unknown {
  const before = findCallsBefore(record, steps, position);
  if (before.kind === 'unknown') return before;
  const missing = steps.slice(0, position).find((step, index) => {
    return step.kind === 'toolCall' && !before.calls.some(({ stepPosition }) => stepPosition === index);
  });
  if (missing !== undefined) {
    return { kind: 'unknown', reason: `the trace does not have the tool call in step ${printValue(missing.id)}` };
  }
  const named = before.calls.filter(isNamed).toSorted((left, right) => left.callOrder - right.callOrder);
  const isComplete = named.length === before.calls.length && record.calls.length >= record.namedTools.length;
  return isComplete
    ? { kind: 'found', calls: named }
    : { kind: 'unknown', reason: 'the trace does not name one of the tool calls before it' };
}

/** Checks that the trace shows a call if it says that one was made. */
function accountsFor({ calls, namedTools }: TraceRecord, isMeant: (name: string | null) => boolean): boolean {
  return calls.some((traced) => isMeant(traced.toolName)) || !namedTools.some(isMeant);
}

function findCallsBefore(
  { calls }: TraceRecord,
  steps: readonly Step[],
  position: number,
): { kind: 'found'; calls: LocatedCall[]; hasCallers: boolean } | Unknown {
  const isCaller = ({ kind }: Step) => kind !== 'assert';
  if (!steps.slice(0, position).some(isCaller)) return { kind: 'found', calls: [], hasCallers: false };
  const located = locateCalls(calls, steps);
  if (!steps.slice(position).some(isCaller)) return { kind: 'found', calls: located, hasCallers: true };
  if (located.some(({ stepPosition }) => stepPosition === null)) {
    return { kind: 'unknown', reason: 'the trace does not tell which tool results came before it' };
  }
  const before = located.filter(({ stepPosition }) => stepPosition !== null && stepPosition < position);
  return { kind: 'found', calls: before, hasCallers: true };
}

function isAnswered(call: LocatedCall): call is LocatedCall & AnsweredCall {
  return call.toolName !== null && call.output !== null;
}

function isNamed(call: LocatedCall): call is LocatedCall & NamedCall {
  return call.toolName !== null;
}

/**
 * Finds the step of each call, in three ways. First, by the step id of its span. Else, if no model took part, by its position among the
 * pinned calls. Else, if all steps are prompts and assertions, by the prompt number of its span. Some services count pinned calls in that
 * number too, so it is unusable if there are any. `stepIndex` is unusable as well, because some services count a model's steps within a
 * turn with it.
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
