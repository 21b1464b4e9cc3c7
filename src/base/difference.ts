import { diffArrays, diffWordsWithSpace } from 'diff';
import { escapePointerToken } from './json-pointer.ts';
import { isRecord } from './json.ts';
import { isSensitiveKey } from './redaction.ts';
import { cutMark, formatCount } from './text.ts';

/** A line of a comparison: in both values, in one of them, or a count of lines that are left out. */
export interface DifferenceLine {
  side: 'both' | 'expected' | 'actual' | 'folded';
  text: string;
  /** The JSON Pointer of the value on the line. */
  pointer?: string | undefined;
  /** The ranges of the text that differ from the line on the other side. */
  marks?: Array<[start: number, end: number]> | undefined;
}

type Line = Pick<DifferenceLine, 'text' | 'pointer'>;

/** A server decides how large its results are. Every step has a limit, and what exceeds it is left out. */
const maxLines = 100_000;
const maxCompared = 2000;
const maxEdits = 1000;
const maxMs = 250;
const maxMarkedPairs = 30;
const longestMarked = 2000;
/** The letters of the shorter text from which on two texts can count as rewritten. */
const leastRewritten = 30;
const maxDepth = 60;
/** The number of unchanged lines that stay around a change. */
const context = 2;
const lead = 40;

/** How much of a comparison is shown. */
interface Room {
  lines: number;
  characters: number;
  /** The longest line; of a longer one, only what differs is shown. */
  longest: number;
}

const screenful: Room = { lines: 40, characters: 3000, longest: 200 };
/** For texts that a reviewer reads in full, such as the description of a tool. */
export const wholeText: Room = { lines: 400, characters: 40_000, longest: 20_000 };

/** Compares two JSON values line by line; two texts are compared as text. Empty if nothing that fits the limits differs. */
export function compareValues(expected: unknown, actual: unknown, path = ''): DifferenceLine[] {
  if (path.split('/').some(isSensitiveKey)) return [];
  if (typeof expected === 'string' && typeof actual === 'string') {
    return compareLines(listTextLines(expected), listTextLines(actual));
  }
  return compareLines(listJsonLines(expected, path), listJsonLines(actual, path));
}

/** Splits a text into its lines. */
export function listTextLines(text: string): Line[] {
  return text.split(/\r\n|\r|\n/, maxLines).map((line) => ({ text: line }));
}

/** Prints a JSON value with sorted keys, a member on each line. Masks values under names that suggest a secret. */
export function listJsonLines(value: unknown, path: string): Line[] {
  const lines: Line[] = [];
  const print = (
    item: unknown,
    { pointer, name, end, depth }: { pointer: string; name: string; end: string; depth: number },
  ) => {
    if (lines.length >= maxLines) return;
    const add = (text: string) => lines.push({ text: `${'  '.repeat(depth)}${text}`, pointer });
    const members = depth < maxDepth ? listMembers(item) : null;
    if (members === null) return void add(`${name}${printLeaf(item)}${end}`);
    const [open, close] = Array.isArray(item) ? '[]' : '{}';
    if (members.length === 0) return void add(`${name}${open}${close}${end}`);
    add(`${name}${open}`);
    for (const [index, { key, label, value: member }] of members.entries()) {
      print(member, {
        pointer: `${pointer}/${escapePointerToken(key)}`,
        name: label,
        end: index === members.length - 1 ? '' : ',',
        depth: depth + 1,
      });
    }
    add(`${close}${end}`);
  };
  if (value !== undefined) print(value, { pointer: path, name: '', end: '', depth: 0 });
  return lines;
}

function listMembers(value: unknown): Array<{ key: string; label: string; value: unknown }> | null {
  if (Array.isArray(value)) {
    return value.slice(0, maxLines).map((item: unknown, index) => ({ key: String(index), label: '', value: item }));
  }
  if (!isRecord(value)) return null;
  return Object.keys(value)
    .toSorted()
    .map((key) => ({ key, label: `${JSON.stringify(key)}: `, value: isSensitiveKey(key) ? '***' : value[key] }));
}

function printLeaf(value: unknown): string {
  return typeof value === 'object' && value !== null ? cutMark : (JSON.stringify(value) ?? 'nothing');
}

/** A comma at the end of a line says only that another member follows. */
const withoutComma = ({ text }: Line) => text.replace(/,$/, '');

/**
 * Compares two lists of lines, folds what is alike, and marks what differs within a line. Bounded in time and size: of two long lists that
 * have little in common, one follows the other.
 */
export function compareLines(
  expected: readonly Line[],
  actual: readonly Line[],
  room: Room = screenful,
): DifferenceLine[] {
  const [before, after] = [expected.map(withoutComma), actual.map(withoutComma)];
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  if (start === before.length && start === after.length) return [];
  let end = 0;
  const shortest = Math.min(before.length, after.length) - start;
  while (end < shortest && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const both = (lines: readonly Line[]) => lines.map((line): DifferenceLine => ({ side: 'both', ...line }));
  const middle = compareMiddle(expected.slice(start, expected.length - end), actual.slice(start, actual.length - end));
  const lines = [...both(actual.slice(0, start)), ...middle, ...both(actual.slice(actual.length - end))];
  return foldLines(markLines(lines), room);
}

function compareMiddle(expected: readonly Line[], actual: readonly Line[]): DifferenceLine[] {
  const [left, right] = [expected, actual].map((lines) => lines.slice(0, maxCompared));
  const rest = Math.max(0, expected.length - maxCompared) + Math.max(0, actual.length - maxCompared);
  const compared = diffArrays(left?.map(withoutComma) ?? [], right?.map(withoutComma) ?? [], {
    maxEditLength: maxEdits,
    timeout: maxMs,
  });
  const lines: DifferenceLine[] = [];
  let [row, column] = [0, 0];
  const take = (count: number, side: 'both' | 'expected' | 'actual') => {
    for (let taken = 0; taken < count; taken += 1) {
      const line = side === 'expected' ? left?.[row] : right?.[column];
      if (side !== 'actual') row += 1;
      if (side !== 'expected') column += 1;
      if (line !== undefined) lines.push({ side, ...line });
    }
  };
  if (compared === undefined) {
    take(left?.length ?? 0, 'expected');
    take(right?.length ?? 0, 'actual');
  } else {
    for (const { count, added, removed } of compared) take(count, removed ? 'expected' : added ? 'actual' : 'both');
  }
  return rest === 0 ? lines : [...lines, { side: 'folded', text: `${formatCount(rest, 'line')} more` }];
}

/** Marks what differs in lines that replace each other. */
function markLines(lines: readonly DifferenceLine[]): DifferenceLine[] {
  const marked = [...lines];
  let pairs = 0;
  for (let at = 0; at < marked.length;) {
    const removed = countSide(marked, at, 'expected');
    const added = countSide(marked, at + removed, 'actual');
    for (let index = 0; index < Math.min(removed, added) && pairs < maxMarkedPairs; index += 1) {
      const [own, other] = [marked[at + index], marked[at + removed + index]];
      if (own === undefined || other === undefined) continue;
      const [ownMarks, otherMarks] = markPair(own.text, other.text);
      marked[at + index] = { ...own, marks: ownMarks };
      marked[at + removed + index] = { ...other, marks: otherMarks };
      pairs += 1;
    }
    at += Math.max(1, removed + added);
  }
  return marked;
}

function countSide(lines: readonly DifferenceLine[], from: number, side: DifferenceLine['side']): number {
  let count = 0;
  while (lines[from + count]?.side === side) count += 1;
  return count;
}

type Marks = NonNullable<DifferenceLine['marks']>;

function markPair(expected: string, actual: string): [Marks, Marks] {
  const words =
    Math.max(expected.length, actual.length) > longestMarked
      ? undefined
      : diffWordsWithSpace(expected, actual, { maxEditLength: 200, timeout: 50 });
  if (words === undefined) return markBetween(expected, actual);
  const kept = words.filter(({ added, removed }) => !added && !removed).map(({ value }) => value);
  if (isRewritten(expected, actual, kept.join(''))) return [[], []];
  const [own, other]: [Marks, Marks] = [[], []];
  let [row, column] = [0, 0];
  for (const { value, added, removed } of words) {
    if (removed) own.push([row, row + value.length]);
    if (added) other.push([column, column + value.length]);
    if (!added) row += value.length;
    if (!removed) column += value.length;
  }
  return [own, other];
}

const countLetters = (text: string) => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;

/** Checks if long texts have so few words in common that marks would cover both. */
function isRewritten(expected: string, actual: string, kept: string): boolean {
  const [shorter = 0, longer = 0] = [countLetters(expected), countLetters(actual)].toSorted((a, b) => a - b);
  return shorter >= leastRewritten && countLetters(kept) < longer / 3;
}

/** Marks all between the common beginning and the common end of two texts. */
function markBetween(expected: string, actual: string): [Marks, Marks] {
  const shortest = Math.min(expected.length, actual.length);
  let start = 0;
  while (start < shortest && expected[start] === actual[start]) start += 1;
  let end = 0;
  while (end < shortest - start && expected.at(-1 - end) === actual.at(-1 - end)) end += 1;
  const mark = ({ length }: string): Marks => (start < length - end ? [[start, length - end]] : []);
  return [mark(expected), mark(actual)];
}

/** Folds unchanged lines that are far from a change, cuts long lines to what differs, and leaves out lines beyond the room. */
function foldLines(lines: readonly DifferenceLine[], room: Room): DifferenceLine[] {
  const isNear = lines.map(() => false);
  for (const [index, { side }] of lines.entries()) {
    if (side === 'both') continue;
    for (let near = index - context; near <= index + context; near += 1) if (near >= 0) isNear[near] = true;
  }
  const folded: DifferenceLine[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    if (line === undefined) continue;
    let hidden = 0;
    while (at + hidden < lines.length && isNear[at + hidden] !== true) hidden += 1;
    if (hidden > 1) {
      folded.push({ side: 'folded', text: `${hidden} lines alike` });
      at += hidden - 1;
    } else {
      folded.push(cutLine(line, room.longest));
    }
  }
  let characters = 0;
  const shown = folded.findIndex(
    ({ text }, index) => (characters += text.length) > room.characters || index >= room.lines,
  );
  const rest = folded.length - shown;
  return shown === -1 || rest <= 1
    ? folded
    : [...folded.slice(0, shown), { side: 'folded', text: `${formatCount(rest, 'line')} more of the comparison` }];
}

function cutLine(line: DifferenceLine, longestShown: number): DifferenceLine {
  const { text, marks } = line;
  if (text.length <= longestShown) return line;
  const from = Math.max(0, Math.min((marks?.[0]?.[0] ?? 0) - lead, text.length - longestShown));
  const head = from === 0 ? '' : cutMark;
  const part = text.slice(from, from + longestShown).toWellFormed();
  const moved = marks?.map(([start, end]): [number, number] => [
    Math.max(head.length, start - from + head.length),
    Math.min(head.length + part.length, end - from + head.length),
  ]);
  return {
    ...line,
    text: `${head}${part}${from + longestShown < text.length ? cutMark : ''}`,
    ...(moved !== undefined && { marks: moved.filter(([start, end]) => start < end) }),
  };
}

/** Shows what a value has to be, each requirement on a line, above the value. */
export function compareRequirements(requirements: readonly string[], actual: unknown, path: string): DifferenceLine[] {
  if (path.split('/').some(isSensitiveKey)) return [];
  const lines = typeof actual === 'string' ? listTextLines(actual) : listJsonLines(actual, path);
  const both = [
    ...requirements.map((text): DifferenceLine => ({ side: 'expected', text })),
    ...lines.map((line): DifferenceLine => ({ side: 'actual', ...line })),
  ];
  return foldLines(both, screenful);
}

interface WrittenLine {
  side: DifferenceLine['side'];
  text: string;
  pointer?: string;
  marks?: Marks;
}

/** Leaves out the fields that a line does not have, for a report. */
export function toDifference(what: string, lines: readonly DifferenceLine[]): { what: string; lines: WrittenLine[] } {
  return {
    what,
    lines: lines.map(({ side, text, pointer, marks }) => ({
      side,
      text,
      ...(pointer !== undefined && pointer !== '' && { pointer }),
      ...(marks !== undefined && marks.length > 0 && { marks }),
    })),
  };
}
