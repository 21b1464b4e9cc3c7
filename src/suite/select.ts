import type { ConfigurationIssue } from '../base/errors.ts';
import { findSmallest } from '../base/lists.ts';
import type { RunRange } from '../model/rounds.ts';
import type { Suite, SuiteCase } from '../cases/suite.ts';
import { suggestNearest } from './findings.ts';

export interface Selection {
  /** Ids or exact titles. `*` stands for any text. An empty list means every case. */
  cases: string[];
  /** Keeps a case with any of these tags. An empty list means every case. */
  tags: string[];
  /** Iterations of every case, overriding the files; null uses those of the files. */
  runs: number | RunRange | null;
}

/** The result of a selection. */
interface Selected {
  suites: Suite[];
  issues: ConfigurationIssue[];
  /** The cases that are selected only because the selection matches their version in the base. */
  added: SuiteCase[];
}

/**
 * Keeps the selected cases. A name or tag that no case has, and an empty result, are issues. `findBase` finds the suite of the base. A case
 * that the selection matches in the base is kept even if the change renames it.
 */
export function selectCases(
  suites: Suite[],
  selection: Selection,
  findBase: (suite: Suite) => Suite | null = () => null,
): Selected {
  const { cases: names, tags, runs } = selection;
  const sides = suites.map((suite) => ({ suite, before: findBase(suite)?.cases ?? [] }));
  const all = sides.flatMap(({ suite, before }) => [...suite.cases, ...before]);
  const added: SuiteCase[] = [];
  const isKept = (testCase: SuiteCase, before: readonly SuiteCase[]) => {
    if (isSelected(testCase, selection)) return true;
    if (!findEarlier(before, testCase).some((earlier) => isSelected(earlier, selection))) return false;
    added.push(testCase);
    return true;
  };
  const issues = [
    ...findUnknownWords(names, {
      code: 'unknown-case',
      input: 'cases',
      what: 'case',
      known: all.flatMap(listNames),
      isMeant: matchesName,
    }),
    ...findAmbiguousNames(names, suites),
    ...findUnknownWords(tags, {
      code: 'unknown-tag',
      input: 'tags',
      what: 'tag',
      known: all.flatMap((testCase) => testCase.tags),
      isMeant: (tag, word) => tag === word,
    }),
  ];
  const selected = sides
    .map(({ suite, before }) => ({
      ...suite,
      cases: suite.cases.filter((testCase) => isKept(testCase, before)).map((testCase) => replaceRuns(testCase, runs)),
    }))
    .filter((suite) => suite.cases.length > 0);
  if (selected.length === 0 && suites.length > 0 && issues.length === 0) {
    issues.push({
      code: 'nothing-selected',
      message: 'No case has both a name and a tag that were asked for',
      input: 'cases',
    });
  }
  return { suites: selected, issues, added };
}

function isSelected(testCase: SuiteCase, { cases: names, tags }: Selection): boolean {
  const isNamed =
    names.length === 0 || listNames(testCase).some((name) => names.some((pattern) => matchesName(name, pattern)));
  return isNamed && (tags.length === 0 || testCase.tags.some((tag) => tags.includes(tag)));
}

/**
 * Finds the cases of the base that a case came from: the case with its id, or else the cases with which it shares an id through models or
 * rows.
 */
function findEarlier(before: readonly SuiteCase[], testCase: SuiteCase): SuiteCase[] {
  const same = before.filter(({ id }) => id === testCase.id);
  if (same.length > 0) return same;
  const ids = listIds(testCase);
  return before.filter((earlier) => listIds(earlier).some((id) => ids.includes(id)));
}

function listIds({ id, variantOf }: SuiteCase): string[] {
  return [id, ...variantOf.map((whole) => whole.id)];
}

/** Overrides the number of runs, except of a deterministic case, which always runs once. */
function replaceRuns(testCase: SuiteCase, runs: Selection['runs']): SuiteCase {
  if (runs === null || testCase.isDeterministic === true) return testCase;
  const { maxRuns: _maxRuns, ...rest } = testCase;
  return typeof runs === 'number' ? { ...rest, runs } : { ...rest, runs: runs.min, maxRuns: runs.max };
}

/** Checks if a pattern matches the name. Compares part by part, so that no pattern takes long. */
export function matchesName(name: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined || name === pattern) return name === pattern;
  if (!name.startsWith(first) || !name.slice(first.length).endsWith(last)) return false;
  let left = name.slice(first.length, name.length - last.length);
  return rest.every((part) => {
    const at = left.indexOf(part);
    left = left.slice(at + part.length);
    return at !== -1;
  });
}

/** Lists the names of a case. A case with several models or rows also answers to the names of the whole case. */
export function listNames({ id, title, variantOf }: Pick<SuiteCase, 'id' | 'title' | 'variantOf'>): string[] {
  return [{ id, title }, ...variantOf].flatMap((name) => [name.id, name.title]);
}

/** Finds ambiguous names. An id in several suites selects each of these cases, but a title must select one case. */
function findAmbiguousNames(names: readonly string[], suites: readonly Suite[]): ConfigurationIssue[] {
  const cases = suites.flatMap((suite) => suite.cases.map(nameCase));
  return [...new Set(names)].flatMap((name) => {
    const found = findNamed(cases, name);
    if (!isAmbiguous(found) || found.every(({ id }) => id === name)) return [];
    return [{ code: 'ambiguous-case', input: 'cases', message: explainAmbiguity(name, found) }];
  });
}

function findUnknownWords(
  words: readonly string[],
  about: {
    code: string;
    input: string;
    what: string;
    known: readonly string[];
    isMeant: (name: string, word: string) => boolean;
  },
): ConfigurationIssue[] {
  const known = [...new Set(about.known)];
  return words
    .filter((word) => !known.some((name) => about.isMeant(name, word)))
    .map((word) => ({
      code: about.code,
      message: `No ${about.what} is called ${JSON.stringify(word)}${suggestNearest(word, known)}`,
      input: about.input,
    }));
}

/** A case with the names that can refer to it. */
export interface NamedCase {
  id: string;
  title: string;
  /** The location of its definition, as messages give it; null if unknown. */
  location: string | null;
  /** The whole cases that it is a variant of, by model or row. */
  variantOf?: SuiteCase['variantOf'];
}

/** Describes a case of a file for `findNamed`. */
export function nameCase({ id, title, variantOf, location: { file, line } }: SuiteCase): NamedCase {
  return { id, title, variantOf, location: `${file}:${line}` };
}

/**
 * Lists the cases that a name can refer to, by id or by title. A name with several cases is ambiguous. Callers must not pick one by order,
 * or a case added in front would take over settings that are meant for another.
 */
export function findNamed<T extends NamedCase>(cases: readonly T[], name: string): T[] {
  return cases.filter(({ id, title, variantOf = [] }) => listNames({ id, title, variantOf }).includes(name));
}

/** Checks if these are several cases of the file, and not variants of one case. */
export function isAmbiguous(found: readonly NamedCase[]): boolean {
  return new Set(found.map(({ id, variantOf }, index) => variantOf?.at(-1)?.id ?? `${id} ${index}`)).size > 1;
}

const maxNamed = 3;

/** Explains which cases a name can refer to, and how to make it unambiguous. */
export function explainAmbiguity(name: string, found: readonly NamedCase[]): string {
  const members = found.slice(0, maxNamed).map(({ id, title, location }) => {
    const what = id === name && title !== name ? 'the id' : 'the title';
    return `${what} of the case \`${id}\`${location === null ? '' : ` at ${location}`}`;
  });
  const hidden = found.length - members.length;
  const list = [...members, ...(hidden > 0 ? [`${hidden} more`] : [])].join(' and ');
  return `${JSON.stringify(name)} is ambiguous: it is ${list}. Give each case its own id and title, and name the case by its id`;
}

/** A case to run in one of several jobs, and its relative duration. */
export interface ShardedCase {
  /** Unique among the cases. */
  key: string;
  /** Above 0, in any unit. */
  weight: number;
}

/**
 * Assigns every case to one of `total` shards, numbered from 1, so that the shards take about equally long. It assigns the longest case
 * first, each to the shard with the least to do (longest processing time first; R. L. Graham, "Bounds on multiprocessing timing anomalies",
 * 1969). The result depends only on the cases and not on their order, so that all jobs agree without communication. No shard is empty if
 * there are enough cases.
 */
export function assignShards(cases: readonly ShardedCase[], total: number): Map<string, number> {
  const loads = Array.from({ length: total }, () => 0);
  const ordered = cases.toSorted((a, b) => b.weight - a.weight || (a.key < b.key ? -1 : 1));
  return new Map(
    ordered.map(({ key, weight }) => {
      const index = loads.indexOf(findSmallest(loads));
      loads[index] = (loads[index] ?? 0) + weight;
      return [key, index + 1];
    }),
  );
}
