import type { MatchOptions } from '../model/case.ts';
import type { Step } from '../model/step.ts';
import type { ToolCall } from '../model/run.ts';
import type { TracePrompt } from '../model/trace.ts';
import { matchCalls } from './match-calls.ts';
import { clipReason } from './reasons.ts';

/** One prompt and the calls that a model made because of it. Pinned calls belong to no turn. */
export interface Turn {
  prompt: string;
  actualToolCalls: ToolCall[];
}

/** The calls expected in each turn: those of the `toolCalledWith` asserts between its prompt and the next one. */
export function listExpectedCalls(steps: readonly Step[]): ToolCall[][] {
  const turns: ToolCall[][] = [];
  for (const step of steps) {
    if (step.kind === 'prompt') turns.push([]);
    if (step.kind !== 'assert' || !('type' in step.assertion) || step.assertion.type !== 'toolCalledWith') continue;
    const { toolName, args } = step.assertion;
    turns.at(-1)?.push({ toolName, arguments: args.args });
  }
  return turns;
}

/**
 * Judges the calls of every turn that took place. A negative case is the opposite of a matching one: a turn passes if
 * and only if the model called nothing.
 */
export function judgeTurns(
  turns: readonly Turn[],
  expected: readonly ToolCall[][],
  { match, isNegative }: { match: MatchOptions; isNegative: boolean },
): TracePrompt[] {
  return turns.map(({ prompt, actualToolCalls }, promptIndex) => {
    const expectedToolCalls = isNegative ? [] : (expected[promptIndex] ?? []);
    const options: MatchOptions = isNegative ? { ...match, extraToolCalls: 0 } : match;
    const matched = matchCalls(expectedToolCalls, actualToolCalls, options);
    return { promptIndex, prompt, expectedToolCalls, actualToolCalls, ...matched };
  });
}

/** Says in one sentence what is wrong with a turn's calls; null where nothing is. */
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
