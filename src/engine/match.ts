import { isAdvisory } from '../checks/assertion.ts';
import { matchesArguments } from '../checks/match-arguments.ts';
import type { MatchOptions } from '../cases/case.ts';
import type { ToolCall } from '../model/run.ts';
import type { Step } from '../cases/step.ts';
import type { TracePrompt } from '../model/trace.ts';
import { clipReason } from '../checks/reasons.ts';

export interface CallMatch {
  passed: boolean;
  /** Expected calls that were not made, not often enough, or not in the right position. */
  missing: ToolCall[];
  /** Calls that match no expected call. */
  unexpected: ToolCall[];
  /** Expected calls whose tool was called with other arguments. */
  argumentMismatches: Array<{ expected: ToolCall; actual: ToolCall }>;
}

/**
 * Compares the tool calls of one turn with the expected ones.
 *
 * `any` pairs greedily, as the API does: each expected call, in order, takes the first free call that matches. This can miss a pairing that
 * a search would find. `in-order` makes one forward pass and skips extra calls. `exact` pairs by position. Only `extraToolCalls` limits
 * extra calls, in every order.
 */
export function matchCalls(
  expected: readonly ToolCall[],
  actual: readonly ToolCall[],
  options: MatchOptions,
): CallMatch {
  const fits = (wanted: ToolCall, call: ToolCall | undefined) =>
    call !== undefined &&
    call.toolName === wanted.toolName &&
    matchesArguments(wanted.arguments, call.arguments, options.arguments);
  const pairs = pairCalls(expected, actual, fits, options.toolCallOrder);
  const free = new Set(actual.keys().filter((index) => !pairs.includes(index)));
  const result: CallMatch = { passed: false, missing: [], unexpected: [], argumentMismatches: [] };
  for (const [index, wanted] of expected.entries()) {
    if (pairs[index] !== undefined) continue;
    // Skips a call that matches but is in the wrong position, because its arguments are correct.
    const sameTool = free
      .values()
      .find((candidate) => actual[candidate]?.toolName === wanted.toolName && !fits(wanted, actual[candidate]));
    const call = sameTool === undefined ? undefined : actual[sameTool];
    if (sameTool === undefined || call === undefined) {
      result.missing.push(wanted);
    } else {
      free.delete(sameTool);
      result.argumentMismatches.push({ expected: wanted, actual: call });
    }
  }
  result.unexpected = actual.filter((_, index) => free.has(index));
  const extras = actual.length - pairs.filter((pair) => pair !== undefined).length;
  result.passed =
    !pairs.includes(undefined) && (options.extraToolCalls === 'unlimited' || extras <= options.extraToolCalls);
  return result;
}

/** Returns, for each expected call, the index of its paired call. */
function pairCalls(
  expected: readonly ToolCall[],
  actual: readonly ToolCall[],
  fits: (wanted: ToolCall, call: ToolCall | undefined) => boolean,
  order: MatchOptions['toolCallOrder'],
): Array<number | undefined> {
  if (order === 'exact') {
    return expected.map((wanted, index) => (fits(wanted, actual[index]) ? index : undefined));
  }
  const used = new Set<number>();
  let lowest = 0;
  return expected.map((wanted) => {
    const index = actual.findIndex((call, index) => index >= lowest && !used.has(index) && fits(wanted, call));
    if (index === -1) return undefined;
    used.add(index);
    if (order === 'in-order') lowest = index + 1;
    return index;
  });
}

/** One prompt and the calls that the model made in response. Pinned calls belong to no turn. */
export interface Turn {
  prompt: string;
  actualToolCalls: ToolCall[];
  /** True if the turn ended before the model was done; missing calls mean nothing then. */
  isCut: boolean;
}

/** Lists the expected calls of each turn: the `toolCalledWith` asserts between its prompt and the next one. */
export function listExpectedCalls(steps: readonly Step[]): ToolCall[][] {
  const turns: ToolCall[][] = [];
  for (const step of steps) {
    if (step.kind === 'prompt') turns.push([]);
    if (step.kind !== 'assert' || !('type' in step.assertion) || step.assertion.type !== 'toolCalledWith') continue;
    if (isAdvisory(step.assertion)) continue;
    const { toolName, args } = step.assertion;
    turns.at(-1)?.push({ toolName, arguments: args.args });
  }
  return turns;
}

/** Judges the calls of every turn that was not cut. In a negative case, a turn passes only if the model called nothing. */
export function judgeTurns(
  turns: readonly Turn[],
  expected: readonly ToolCall[][],
  { match, isNegative }: { match: MatchOptions; isNegative: boolean },
): TracePrompt[] {
  return turns.flatMap(({ prompt, actualToolCalls, isCut }, promptIndex) => {
    if (isCut) return [];
    const expectedToolCalls = isNegative ? [] : (expected[promptIndex] ?? []);
    const options: MatchOptions = isNegative ? { ...match, extraToolCalls: 0 } : match;
    const matched = matchCalls(expectedToolCalls, actualToolCalls, options);
    return { promptIndex, prompt, expectedToolCalls, actualToolCalls, ...matched };
  });
}

/** Describes in one sentence what is wrong with the calls of a turn; null if nothing is. */
export function describeTurn(turn: TracePrompt): string | null {
  if (turn.passed) return null;
  const parts = [
    describeNames('did not call', turn.missing),
    describeNames(
      'called with other arguments than expected',
      turn.argumentMismatches.map((mismatch) => mismatch.expected),
    ),
    describeNames('called unexpectedly', turn.unexpected),
  ].filter((part) => part !== null);
  return clipReason(`In turn ${turn.promptIndex + 1} the model ${parts.join('; ')}.`);
}

function describeNames(what: string, calls: readonly ToolCall[]): string | null {
  return calls.length === 0 ? null : `${what} ${calls.map((call) => call.toolName).join(', ')}`;
}
