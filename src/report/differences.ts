import { compareLines, type DifferenceLine, listTextLines, toDifference, wholeText } from '../base/difference.ts';
import type { IterationFailure } from '../model/case-report.ts';
import type { Difference } from '../model/difference.ts';
import type { SurfaceChange } from '../model/surface-report.ts';
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

/** Compares two texts in full, of which one may be missing; null if they are alike. */
export function compareTexts(what: string, before: string | null, after: string | null): Difference | null {
  const [old = [], now = []] = [before, after].map((text) => (text === null || text === '' ? [] : listTextLines(text)));
  const lines = compareLines(old, now, wholeText);
  return lines.length === 0 ? null : toDifference(what, lines);
}

/** Compares the texts of a change of the tool surface; null if its message contains them. */
export function compareSurfaceTexts({
  message,
  before,
  after,
}: Pick<SurfaceChange, 'message' | 'before' | 'after'>): Difference | null {
  const isSaid = [before, after].every((each) => each === null || message.includes(each));
  return isSaid ? null : compareTexts('the text', before, after);
}

/** A row of a comparison: one line for both sides, or a line of each side that has one. */
export type DifferenceRow =
  | { both: ShownLine }
  | { expected: ShownLine | null; actual: ShownLine | null; pointer: string | null };

/** Puts the lines that replace each other next to each other. */
export function pairLines(lines: readonly ShownLine[]): DifferenceRow[] {
  const rows: DifferenceRow[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    if (line === undefined) break;
    const expected = takeSide(lines, at, 'expected');
    const actual = takeSide(lines, at + expected.length, 'actual');
    const pointer = findPointer(lines, at);
    for (let row = 0; row < Math.max(expected.length, actual.length); row += 1) {
      rows.push({
        expected: expected[row] ?? null,
        actual: actual[row] ?? null,
        pointer: row === 0 ? pointer : null,
      });
    }
    if (expected.length + actual.length === 0) rows.push({ both: line });
    at += Math.max(1, expected.length + actual.length);
  }
  return rows;
}

function takeSide(lines: readonly ShownLine[], from: number, side: ShownLine['side']): ShownLine[] {
  const end = lines.findIndex((line, index) => index >= from && line.side !== side);
  return lines.slice(from, end === -1 ? undefined : end);
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
