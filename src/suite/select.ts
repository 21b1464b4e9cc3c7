import type { ConfigurationIssue } from '../base/errors.ts';
import type { Suite } from '../model/suite.ts';
import { explainAmbiguity, findNamed } from './case-names.ts';
import { suggestNearest } from './findings.ts';

export interface Selection {
  /** Ids or exact titles; empty means every case. */
  cases: string[];
  /** A case with any of them is kept; empty means every case. */
  tags: string[];
  /** Iterations of every case, instead of what the files say; null keeps those. */
  runs: number | null;
}

/** Keeps the cases that were asked for. A name or tag that no case has, and a selection of nothing, are issues. */
export function selectCases(suites: Suite[], selection: Selection): { suites: Suite[]; issues: ConfigurationIssue[] } {
  const { cases: names, tags, runs } = selection;
  const all = suites.flatMap(({ cases }) => cases);
  const issues = [
    ...findUnknownWords(names, {
      code: 'unknown-case',
      input: 'cases',
      what: 'case',
      known: all.flatMap((item) => [item.id, item.title]),
    }),
    ...findAmbiguousNames(names, suites),
    ...findUnknownWords(tags, {
      code: 'unknown-tag',
      input: 'tags',
      what: 'tag',
      known: all.flatMap((item) => item.tags),
    }),
  ];
  const selected = suites
    .map((suite) => ({
      ...suite,
      cases: suite.cases
        .filter((item) => names.length === 0 || names.includes(item.id) || names.includes(item.title))
        .filter((item) => tags.length === 0 || item.tags.some((tag) => tags.includes(tag)))
        .map((item) => (runs === null ? item : { ...item, runs })),
    }))
    .filter((suite) => suite.cases.length > 0);
  if (selected.length === 0 && suites.length > 0 && issues.length === 0) {
    issues.push({
      code: 'nothing-selected',
      message: 'No case has both a name and a tag that were asked for',
      input: 'cases',
    });
  }
  return { suites: selected, issues };
}

/** The same id in several suites means each of these cases; a title has to mean one. */
function findAmbiguousNames(names: readonly string[], suites: readonly Suite[]): ConfigurationIssue[] {
  const cases = suites.flatMap(({ cases }) =>
    cases.map(({ id, title, location: { file, line } }) => ({ id, title, place: `${file}:${line}` })),
  );
  return [...new Set(names)].flatMap((name) => {
    const found = findNamed(cases, name);
    if (found.length < 2 || found.every(({ id }) => id === name)) return [];
    return [{ code: 'ambiguous-case', input: 'cases', message: explainAmbiguity(name, found) }];
  });
}

function findUnknownWords(
  words: readonly string[],
  about: { code: string; input: string; what: string; known: readonly string[] },
): ConfigurationIssue[] {
  const known = [...new Set(about.known)];
  return words
    .filter((word) => !known.includes(word))
    .map((word) => ({
      code: about.code,
      message: `No ${about.what} is called ${JSON.stringify(word)}${suggestNearest(word, known)}`,
      input: about.input,
    }));
}
