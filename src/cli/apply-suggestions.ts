import { resolve } from 'node:path';
import { readTextFile } from '../base/files.ts';
import { findOutputRoot, replaceOutput } from '../base/output-files.ts';
import type { SourceLocation, SuiteCase } from '../cases/suite.ts';
import type { Suggestion } from '../mutate/suggest-checks.ts';
import type { Reading } from '../mutate/suggest-readings.ts';
import { printItem } from '../suite/add-cases.ts';
import { editSteps, printCheck, type StepEdit } from '../suite/edit-steps.ts';

/** A suggestion with the locations of its steps in an evals file. */
interface Located {
  title: string;
  location: SourceLocation;
  add: Suggestion['add'];
  remove: readonly SourceLocation[];
}

/** Finds the steps of suggestions in their files. Those of a case that a file has in several rows are left out: each row may get another answer. */
export function locateSuggestions(suggestions: readonly Suggestion[], cases: readonly SuiteCase[]): Located[] {
  const shared = new Map<string, number>();
  for (const { location } of cases) {
    const name = `${location.file}:${location.line}`;
    shared.set(name, (shared.get(name) ?? 0) + 1);
  }
  return suggestions.flatMap(({ testCase, stepIndex, add, remove }): Located[] => {
    const found = findCase(testCase, cases);
    const location = found?.steps[stepIndex]?.location;
    if (found === undefined || location === undefined) return [];
    if (shared.get(`${found.location.file}:${found.location.line}`) !== 1) return [];
    const removed = remove.flatMap((index) => found.steps[index]?.location ?? []);
    return [{ title: testCase.title, location, add, remove: removed }];
  });
}

function findCase({ title, taped }: Suggestion['testCase'], cases: readonly SuiteCase[]): SuiteCase | undefined {
  // A compiled case without assertions ends with one that its file does not have.
  return cases.find((each) => each.title === title && each.steps.length <= taped.testCase.steps.length);
}

/** Names the lines of the steps whose effect no case reads, with the step to add, for JSON. */
export function locateReadings(readings: readonly Reading[], cases: readonly SuiteCase[]) {
  return readings.flatMap(({ testCase, stepIndex, step }) => {
    const location = findCase(testCase, cases)?.steps[stepIndex]?.location;
    return location === undefined ? [] : [{ file: location.file, line: location.line, title: testCase.title, step }];
  });
}

/** Prints steps to add, ready to paste. */
export function printReadings(readings: ReturnType<typeof locateReadings>): string[] {
  return readings.flatMap(({ file, line, title, step }) => [
    `${file}:${line} ${title}`,
    ...printItem(step)
      .trimEnd()
      .split('\n')
      .map((each) => `  + ${each}`),
  ]);
}

/** Names the lines of a suggestion, for JSON. */
export function toPrinted({ title, location: { file, line }, add, remove }: Located) {
  return { file, line, title, add, removedLines: remove.map((removed) => removed.line) };
}

/** Prints suggestions in the form of the file, ready to paste. */
export function printSuggestions(located: readonly Located[]): string[] {
  return located.flatMap(({ title, location, add, remove }) => [
    `${location.file}:${location.line} ${title}`,
    ...remove.map(({ line }) => `  - the assertion in line ${line}`),
    ...add.flatMap((check) => printCheck(check, '').map((line) => `  + ${line}`)),
  ]);
}

/** Writes suggestions into their files, and returns the number of added and removed checks. Reports what it cannot place. */
export async function writeSuggestions(
  located: readonly Located[],
  { cwd, warn }: { cwd: string; warn: (message: string) => void },
): Promise<{ added: number; removed: number; files: string[] }> {
  const counts = { added: 0, removed: 0, files: [] as string[] };
  for (const [file, own] of Map.groupBy(located, ({ location }) => location.file)) {
    const path = resolve(cwd, file);
    const before = await readTextFile(path);
    const edits = own.flatMap(({ location: { line, column }, add, remove }): StepEdit[] => [
      { kind: 'add-after', line, column, checks: add },
      ...remove.map((place) => ({ kind: 'remove' as const, line: place.line, column: place.column })),
    ]);
    const { text, unplaced } = editSteps(before, edits);
    for (const { line } of unplaced) warn(`${file}:${line} is unchanged: its steps are no list in block style.`);
    if (text === before) continue;
    replaceOutput(path, text, findOutputRoot(path, cwd));
    const placed = edits.filter((edit) => !unplaced.includes(edit));
    counts.files.push(file);
    counts.added += placed.reduce((sum, edit) => sum + (edit.kind === 'add-after' ? edit.checks.length : 0), 0);
    counts.removed += placed.filter(({ kind }) => kind === 'remove').length;
  }
  return counts;
}
