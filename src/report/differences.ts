import { type DifferenceLine, toDifference } from '../base/difference.ts';
import type { IterationFailure } from '../model/case-report.ts';
import type { Difference } from '../model/difference.ts';
import { compareCalls } from './call-lines.ts';

export type ShownLine = Difference['lines'][number];

/** Explains the signs of a comparison. */
export const signsLabel = '- expected, + actual';

/** Explains the signs of a comparison with an earlier value. */
export const changeLabel = '- before, + after';

export const signs: Record<DifferenceLine['side'], string> = { both: ' ', expected: '-', actual: '+', folded: '…' };

/** Lists what a failed iteration compared: the values of its assertions, and the tool calls of its prompts. */
export function listDifferences({
  differences = [],
  expectedToolCalls,
  actualToolCalls,
  result,
}: IterationFailure): Difference[] {
  // Only a prompt has expected calls, and an iteration without a result may have stopped before some calls.
  if (expectedToolCalls.length === 0 || result === 'unscored') return differences;
  const lines = compareCalls(expectedToolCalls, actualToolCalls);
  return lines.length === 0 ? differences : [...differences, toDifference('the tool calls', lines)];
}

/** Returns the pointer to show above a line: that of the first of several changed lines, if it leads into a value. */
export function findPointer(lines: readonly ShownLine[], index: number): string | null {
  const [line, before] = [lines[index], lines[index - 1]];
  const isChange = ({ side }: ShownLine) => side === 'expected' || side === 'actual';
  if (line?.pointer === undefined || !isChange(line) || (before !== undefined && isChange(before))) return null;
  return line.pointer;
}

/** Splits the text of a line where what differs begins and ends. */
export function splitMarked({ text, marks = [] }: ShownLine): Array<{ text: string; isMarked: boolean }> {
  const parts: Array<{ text: string; isMarked: boolean }> = [];
  let end = 0;
  for (const [start, stop] of marks) {
    if (start < end || stop <= start) continue;
    parts.push({ text: text.slice(end, start), isMarked: false }, { text: text.slice(start, stop), isMarked: true });
    end = stop;
  }
  return [...parts, { text: text.slice(end), isMarked: false }].filter((part) => part.text !== '');
}
