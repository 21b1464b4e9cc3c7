import type { Step } from '../model/step.ts';
import { printValue } from './reasons.ts';
import type { ToolOutput } from './tool-output.ts';
import type { TracedCall, TraceRecord } from './trace-calls.ts';

export interface AnsweredCall extends TracedCall {
  toolName: string;
  output: ToolOutput;
  /** Its position among the calls of the trace. */
  order: number;
}

export type LatestCall =
  | { kind: 'found'; call: AnsweredCall }
  /** No tool had answered by then, or none of that name. */
  | { kind: 'none' }
  /** The trace says too little; `reason` is half a sentence. */
  | { kind: 'unknown'; reason: string };

interface PlacedCall extends TracedCall {
  /** The index of the step that made it; null if unknown. */
  place: number | null;
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
  const placed = placeCalls(calls, steps);
  const isCaller = ({ kind }: Step) => kind !== 'assert';
  if (!steps.slice(0, position).some(isCaller)) return { kind: 'none' };
  const isLast = !steps.slice(position).some(isCaller);
  if (!isLast && placed.some(({ place }) => place === null)) {
    return { kind: 'unknown', reason: 'the trace does not tell which tool results came before it' };
  }
  const before = isLast ? placed : placed.filter(({ place }) => place !== null && place < position);

  const unanswered = steps.slice(0, position).find((step, index) => {
    const isPinned = step.kind === 'toolCall' && isMeant(step.toolName);
    return isPinned && !before.some(({ place, output }) => place === index && output !== null);
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

function isAnswered(call: PlacedCall): call is PlacedCall & AnsweredCall {
  return call.toolName !== null && call.output !== null;
}

/**
 * Finds the step of each call: by the id of the step that its span carries; else, where no model took part, by its turn
 * among the steps that pin calls; else, where steps are prompts and assertions alone, by the prompt whose number its
 * span carries. That number counts pinned calls too on some services, so it is useless where there are any. Nor does
 * `stepIndex`, by which some mean a model's step within its turn.
 */
function placeCalls(calls: readonly TracedCall[], steps: readonly Step[]): PlacedCall[] {
  const places = new Map(steps.map(({ id }, index) => [id, index]));
  const pinned = steps.filter((step) => step.kind === 'toolCall');
  const prompts = steps.filter((step) => step.kind === 'prompt');
  const isCounted = prompts.length === 0 && isSameSequence(calls, pinned);
  const areTurnsPrompts =
    steps[0]?.kind === 'prompt' && steps.every(({ kind }) => kind === 'prompt' || kind === 'assert');
  return calls.map((call, order) => {
    const { stepId, promptIndex } = call;
    const byOrder = isCounted ? pinned[order]?.id : undefined;
    const byTurn = areTurnsPrompts && promptIndex !== null ? prompts[promptIndex]?.id : undefined;
    const place = places.get(stepId ?? '') ?? places.get(byOrder ?? byTurn ?? '') ?? null;
    const step = place === null ? undefined : steps[place];
    return { ...call, place, order, toolName: call.toolName ?? (step?.kind === 'toolCall' ? step.toolName : null) };
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
