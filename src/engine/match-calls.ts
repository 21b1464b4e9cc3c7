import type { MatchOptions } from '../model/case.ts';
import type { ToolCall } from '../model/run.ts';
import { matchesArguments } from './match-arguments.ts';

export interface CallMatch {
  passed: boolean;
  /** Expected calls that were not made, not often enough, or not in their place. */
  missing: ToolCall[];
  /** Calls that were paired with no expected one. */
  unexpected: ToolCall[];
  /** Expected calls whose tool was called, but with other arguments. */
  argumentMismatches: Array<{ expected: ToolCall; actual: ToolCall }>;
}

/**
 * Compares the tool calls of one turn with the expected ones.
 *
 * `any` pairs greedily, each expected call in its order with the first free call that fits; that can miss a pairing
 * which a search would find, and is what the API does. `in-order` is one forward pass that skips extras. `exact` pairs
 * by position. Extra calls are limited by `extraToolCalls` alone, whatever the order.
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
    // One that would fit is in the wrong place, and its arguments are not what is wrong with it.
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

/** For every expected call the index of the actual call it is paired with. */
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
