import type { ConfigurationIssue } from '../base/errors.ts';
import { findSmallest } from '../base/lists.ts';
import type { RunRange } from '../model/rounds.ts';
import type { Suite, SuiteCase } from '../cases/suite.ts';
import { suggestNearest } from './findings.ts';

export interface Selection {
  /** Ids or exact titles, in which `*` stands for any text; empty means every case. */
  cases: string[];
  /** A case with any of them is kept; empty means every case. */
  tags: string[];
  /** Iterations of every case, instead of what the files say; null keeps those. */
  runs: number | RunRange | null;
}

/** What a selection takes. */
interface Selected {
  suites: Suite[];
  issues: ConfigurationIssue[];
  /** The cases that only the selection of the base takes. */
  added: SuiteCase[];
}

/**
 * Keeps the cases that were asked for. A name or tag that no case has, and a selection of nothing, are issues. `findBase` finds the
 * suite of the base that a change must not take cases from: what the selection takes there is kept, whatever the change calls it.
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

/** Finds what a case was in the base: the case with its id, else those that it was split from or joined of, with models or rows. */
function findEarlier(before: readonly SuiteCase[], testCase: SuiteCase): SuiteCase[] {
  const same = before.filter(({ id }) => id === testCase.id);
  if (same.length > 0) return same;
  const ids = listIds(testCase);
  return before.filter((earlier) => listIds(earlier).some((id) => ids.includes(id)));
}

function listIds({ id, variantOf }: SuiteCase): string[] {
  return [id, ...variantOf.map((whole) => whole.id)];
}

/** A deterministic case runs once, whatever is asked for. */
function replaceRuns(testCase: SuiteCase, runs: Selection['runs']): SuiteCase {
  if (runs === null || testCase.isDeterministic === true) return testCase;
  const { maxRuns: _maxRuns, ...rest } = testCase;
  return typeof runs === 'number' ? { ...rest, runs } : { ...rest, runs: runs.min, maxRuns: runs.max };
}

/** Whether a pattern means the name. Compared part by part, so that no pattern takes long. */
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

/** A case that runs with several models, or rows, is named by itself, and by the case that is all of them. */
export function listNames({ id, title, variantOf }: Pick<SuiteCase, 'id' | 'title' | 'variantOf'>): string[] {
  return [{ id, title }, ...variantOf].flatMap((name) => [name.id, name.title]);
}

/** The same id in several suites means each of these cases; a title has to mean one. */
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

/** A case as a name can mean it. */
export interface NamedCase {
  id: string;
  title: string;
  /** Where it is defined, as messages give it; null where that is not known. */
  location: string | null;
  /** The cases that it is a part of, with all models or rows. */
  variantOf?: SuiteCase['variantOf'];
}

/** A case of a file, as a name can mean it. */
export function nameCase({ id, title, variantOf, location: { file, line } }: SuiteCase): NamedCase {
  return { id, title, variantOf, location: `${file}:${line}` };
}

/**
 * Lists the cases that a name can mean, by id or by title. A name with more than one is ambiguous: it must never be resolved by order,
 * or a case in front of another would take over what is said of that.
 */
export function findNamed<T extends NamedCase>(cases: readonly T[], name: string): T[] {
  return cases.filter(({ id, title, variantOf = [] }) => listNames({ id, title, variantOf }).includes(name));
}

/** Whether these are several cases of the file, and not one with several models or rows. */
export function isAmbiguous(found: readonly NamedCase[]): boolean {
  return new Set(found.map(({ id, variantOf }, index) => variantOf?.at(-1)?.id ?? `${id} ${index}`)).size > 1;
}

const maxNamed = 3;

/** Says which cases a name can mean and what to do about it. */
export function explainAmbiguity(name: string, found: readonly NamedCase[]): string {
  const members = found.slice(0, maxNamed).map(({ id, title, location }) => {
    const what = id === name && title !== name ? 'the id' : 'the title';
    return `${what} of the case \`${id}\`${location === null ? '' : ` at ${location}`}`;
  });
  const hidden = found.length - members.length;
  const list = [...members, ...(hidden > 0 ? [`${hidden} more`] : [])].join(' and ');
  return `${JSON.stringify(name)} is ambiguous: it is ${list}. Give each case its own id and title, and name the case by its id`;
}

/** Something to be run in one of several jobs, and how long that takes in comparison with the others. */
export interface ShardedCase {
  /** Unique. */
  key: string;
  /** Above 0, in whatever unit. */
  weight: number;
}

/**
 * Assigns every case to one of `total` shards, numbered from 1, so that the shards take about equally long: the longest
 * case first, each to the shard that has least to do (longest processing time first; R. L. Graham, "Bounds on
 * multiprocessing timing anomalies", 1969). Depends on nothing but the cases, in whatever order they come, so that all
 * jobs agree without talking to each other. No shard stays empty while there are cases enough.
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
