import { glob } from 'node:fs/promises';
import { posix } from 'node:path';
import { ConfigurationError } from './errors.ts';

/** Patterns without braces that one pattern may stand for; each is matched by itself. */
const maxAlternatives = 200;

/** Wildcards in one name of a path. Each multiplies the ways to match a name, of which the longest has 255 characters. */
const maxWildcards = 4;

/** Files and directories that are compared with one pattern: more than any checkout has without its `node_modules`. */
const maxVisits = 1_000_000;

/** Matches of one pattern without braces with one path, which Node.js prepares anew for each. */
const maxMatches = 2_000_000;

/**
 * Lists the paths that a glob pattern matches below `cwd`, as Node.js matches them; `exclude` keeps files and directories out.
 *
 * @throws {ConfigurationError} where the pattern means more than the gate compares
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
 * Makes what says whether a path with slashes matches a glob pattern.
 *
 * @throws {ConfigurationError} where the pattern means more than the gate compares; also from the returned function
 */
export function createMatcher(pattern: string): (path: string) => boolean {
  const alternatives = countAlternatives(pattern);
  // The literal ends first: the match itself is slow, and a repository can have a hundred thousand files.
  const magic = /[*?[\]{}()!+@|]/;
  const first = pattern.search(magic);
  if (first === -1) return () => false;
  const start = pattern.slice(0, first);
  // `**/` matches no directory, too.
  const end = (pattern.split(magic).at(-1) ?? '').replace(/^\//, '');
  let matches = 0;
  return (path) => {
    if (!path.startsWith(start) || !path.endsWith(end)) return false;
    matches += alternatives;
    if (matches > maxMatches) throw refuse(pattern, 'is compared with too many files');
    return posix.matchesGlob(path, pattern);
  };
}

/** @throws {ConfigurationError} where there are too many, or a name has too many wildcards */
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
  /** How many patterns the alternatives before the last comma stand for, and the one after it. */
  earlier: number;
  last: number;
  /** Wildcards in the alternative that has most of those before the last comma, and in the one after it. */
  mostWildcards: number;
  wildcards: number;
}

/**
 * Counts how many patterns without braces it stands for, and the wildcards in one of their names. A brace without its other half counts
 * like one that has it, and so does a slash within braces.
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

/** How many values a range such as `1..9` has; 1 for anything else. */
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
