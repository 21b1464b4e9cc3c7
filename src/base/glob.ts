import { glob } from 'node:fs/promises';
import { posix } from 'node:path';
import { ConfigurationError } from './errors.ts';

/** The most patterns that the braces of one pattern may expand to; Node.js matches each separately. */
const maxAlternatives = 200;

/** The most wildcards in one name of a path. Each multiplies the ways to match a name, and a name can have 255 characters. */
const maxWildcards = 4;

/** The most files and directories that one pattern is compared with: more than any checkout has without its `node_modules`. */
const maxVisits = 1_000_000;

/** The most matches of one pattern, counted after its braces expand. Node.js prepares the pattern anew for each match. */
const maxMatches = 2_000_000;

/**
 * Lists the paths below `cwd` that a glob pattern matches, by the rules of Node.js; `exclude` keeps files and directories out.
 *
 * @throws {ConfigurationError} if the pattern needs more comparisons than the limits allow
 */
export async function* listMatches(
  pattern: string,
  { cwd, exclude }: { cwd: string; exclude: (path: string) => boolean },
): AsyncGenerator<string> {
  countAlternatives(pattern);
  let visits = 0;
  const count = (path: string) => {
    visits += 1;
    if (visits > maxVisits) throw refuse(pattern, `is compared with more than ${maxVisits} files and directories`);
    return exclude(path);
  };
  yield* glob(pattern, { cwd, exclude: count });
}

/**
 * Makes a function that checks if a path with slashes matches a glob pattern.
 *
 * @throws {ConfigurationError} if the pattern needs more comparisons than the limits allow; the returned function throws it, too
 */
export function createMatcher(pattern: string): (path: string) => boolean {
  const alternatives = countAlternatives(pattern);
  // Compares the literal ends first: the match itself is slow, and a repository can have a hundred thousand files.
  const magic = /[*?[\]{}()!+@|]/;
  const first = pattern.search(magic);
  if (first === -1) return () => false;
  const start = pattern.slice(0, first);
  // `**/` also matches zero directories.
  const end = (pattern.split(magic).at(-1) ?? '').replace(/^\//, '');
  let matches = 0;
  return (path) => {
    if (!path.startsWith(start) || !path.endsWith(end)) return false;
    matches += alternatives;
    if (matches > maxMatches) throw refuse(pattern, 'is compared with too many files');
    return posix.matchesGlob(path, pattern);
  };
}

/** @throws {ConfigurationError} if the braces expand to too many patterns, or a name has too many wildcards */
function countAlternatives(pattern: string): number {
  const { alternatives, wildcards } = measurePattern(pattern);
  if (wildcards > maxWildcards) throw refuse(pattern, `has more than ${maxWildcards} wildcards in one name`);
  if (alternatives <= maxAlternatives) return alternatives;
  throw refuse(pattern, `stands for more than ${maxAlternatives} patterns because of its braces`);
}

/** One level of braces. */
interface Level {
  start: number;
  hasComma: boolean;
  /** The number of patterns that the alternatives before the last comma expand to, and that of the alternative after it. */
  earlier: number;
  last: number;
  /** The most wildcards in any alternative before the last comma, and the wildcards in the alternative after it. */
  mostWildcards: number;
  wildcards: number;
}

/**
 * Counts the patterns without braces that a pattern expands to, and the most wildcards in one of their names. An unmatched brace and a
 * slash within braces count as if they were well-formed.
 */
function measurePattern(pattern: string): { alternatives: number; wildcards: number } {
  const levels: Level[] = [];
  const openLevel = (start: number): Level => {
    return { start, hasComma: false, earlier: 0, last: 1, mostWildcards: 0, wildcards: 0 };
  };
  let level = openLevel(0);
  let wildcards = 0;
  const close = (inner: string | null) => {
    const outer = levels.pop();
    if (outer === undefined) return;
    const range = inner === null || level.hasComma ? 1 : countRange(inner);
    outer.last *= Math.max(level.earlier + level.last, range);
    outer.wildcards += Math.max(level.mostWildcards, level.wildcards);
    level = outer;
  };
  for (let index = 0; index < pattern.length; index += 1) {
    const character = pattern.charAt(index);
    if (character === '\\') index += 1;
    else if (character === '{') {
      levels.push(level);
      level = openLevel(index + 1);
    } else if (character === '}') close(pattern.slice(level.start, index));
    else if (character === ',' && levels.length > 0) {
      level.hasComma = true;
      level.earlier += level.last;
      level.last = 1;
      level.mostWildcards = Math.max(level.mostWildcards, level.wildcards);
      level.wildcards = 0;
    } else if (character === '/' && levels.length === 0) {
      wildcards = Math.max(wildcards, level.wildcards);
      level.wildcards = 0;
    } else if (
      (character === '*' && pattern.charAt(index - 1) !== '*') ||
      ('+!'.includes(character) && pattern.charAt(index + 1) === '(')
    ) {
      level.wildcards += 1;
    }
  }
  while (levels.length > 0) close(null);
  return { alternatives: level.last, wildcards: Math.max(wildcards, level.wildcards) };
}

/** Counts the values of a range such as `1..9`; 1 for any other text. */
function countRange(text: string): number {
  const [, from, to] = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.-?\d+)?$/.exec(text) ?? [];
  if (from === undefined || to === undefined) return 1;
  const read = (end: string) => (/\d/.test(end) ? Number(end) : (end.codePointAt(0) ?? 0));
  return Math.abs(read(to) - read(from)) + 1;
}

function refuse(pattern: string, why: string): ConfigurationError {
  const shown = JSON.stringify(pattern.length > 100 ? `${pattern.slice(0, 100)}…` : pattern);
  const message = `The pattern ${shown} ${why}; write several patterns, or a narrower one`;
  return new ConfigurationError([{ input: 'evals', code: 'pattern-too-large', message }]);
}
