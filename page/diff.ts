import type { ToolCall } from '../src/model/run.ts';

/** One line of a comparison: in both lists, or in only one of them. */
export interface DiffLine {
  side: 'both' | 'expected' | 'called';
  text: string;
}

/** Longer lists are not compared but shown one after the other: the cost of a comparison is the product of the lengths. */
const maxCompared = 1000;
const maxDepth = 12;

/**
 * Compares the expected calls with the actual ones, line by line. Each argument is on a separate line with its path, sorted by name, so that
 * neither order nor punctuation makes a difference.
 */
export function compareCalls(expected: readonly ToolCall[], called: readonly ToolCall[]): DiffLine[] {
  return compareLines(expected.flatMap(listCallLines), called.flatMap(listCallLines));
}

/** Lists a call's tool and its arguments: `get_weather`, `  city: "Paris"`, `  days[0]: 1`. */
export function listCallLines({ toolName, arguments: args }: ToolCall): string[] {
  const members = listMembers(args, '', 0);
  return [toolName, ...members.map((line) => `  ${line}`)];
}

function listMembers(value: unknown, path: string, depth: number): string[] {
  if (typeof value === 'object' && value !== null && depth < maxDepth) {
    const entries = Object.entries(value);
    if (Array.isArray(value)) {
      if (entries.length > 0) return value.flatMap((item, index) => listMembers(item, `${path}[${index}]`, depth + 1));
    } else if (entries.length > 0) {
      return entries
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([name, item]) => listMembers(item, joinPath(path, name), depth + 1));
    }
  }
  return depth === 0 ? [] : [`${path}: ${JSON.stringify(value)}`];
}

function joinPath(path: string, name: string): string {
  const shown = /^[\w$-]+$/.test(name) ? name : JSON.stringify(name);
  return path === '' ? shown : `${path}.${shown}`;
}

/** Compares two lists of lines by their longest common subsequence. Of differing lines, the expected ones come first. */
export function compareLines(expected: readonly string[], called: readonly string[]): DiffLine[] {
  const all = (side: DiffLine['side'], lines: readonly string[]) => lines.map((text): DiffLine => ({ side, text }));
  if (expected.length > maxCompared || called.length > maxCompared) {
    return [...all('expected', expected), ...all('called', called)];
  }
  const lengths = measureCommon(expected, called);
  const lines: DiffLine[] = [];
  let row = 0;
  let column = 0;
  while (row < expected.length || column < called.length) {
    const [wanted, made] = [expected[row], called[column]];
    if (wanted !== undefined && wanted === made) {
      lines.push({ side: 'both', text: wanted });
      row += 1;
      column += 1;
    } else if (
      wanted !== undefined &&
      (made === undefined || (lengths[row + 1]?.[column] ?? 0) >= (lengths[row]?.[column + 1] ?? 0))
    ) {
      lines.push({ side: 'expected', text: wanted });
      row += 1;
    } else {
      lines.push({ side: 'called', text: made ?? '' });
      column += 1;
    }
  }
  return lines;
}

/** Computes the number of common lines from each pair of positions to the end. */
function measureCommon(expected: readonly string[], called: readonly string[]): Uint16Array[] {
  const lengths = Array.from({ length: expected.length + 1 }, () => new Uint16Array(called.length + 1));
  for (let row = expected.length - 1; row >= 0; row -= 1) {
    const [own, below] = [lengths[row], lengths[row + 1]];
    if (own === undefined || below === undefined) continue;
    for (let column = called.length - 1; column >= 0; column -= 1) {
      own[column] =
        expected[row] === called[column]
          ? (below[column + 1] ?? 0) + 1
          : Math.max(below[column] ?? 0, own[column + 1] ?? 0);
    }
  }
  return lengths;
}
