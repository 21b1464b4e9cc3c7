import { compareLines, type DifferenceLine } from '../base/difference.ts';
import type { ToolCall } from '../model/run.ts';

const maxDepth = 12;

/**
 * Compares the expected calls with the actual ones, line by line. Each argument is on a separate line with its path, sorted by name, so that
 * neither order nor punctuation makes a difference.
 */
export function compareCalls(expected: readonly ToolCall[], called: readonly ToolCall[]): DifferenceLine[] {
  const [before, after] = [expected, called].map((calls) => calls.flatMap(listCallLines).map((text) => ({ text })));
  return compareLines(before ?? [], after ?? []);
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
