import { isNode, LineCounter, parseDocument, visit } from 'yaml';
import type { JsonObject } from '../base/json.ts';
import { printItem } from './add-cases.ts';

/** A change of the list of steps at a step. */
export type StepEdit = { line: number; column: number } & (
  | { kind: 'add-after'; checks: readonly JsonObject[] }
  | { kind: 'remove' }
);

/**
 * Adds assertions after steps of an evals file and removes steps, and leaves the rest of the text unchanged. `unplaced` are the edits of
 * steps that are no items of a list in block style, such as those of a JSON file.
 */
export function editSteps(text: string, edits: readonly StepEdit[]): { text: string; unplaced: StepEdit[] } {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  if (document.errors.length > 0) return { text, unplaced: [...edits] };
  const lines = text.split('\n');
  const ends = new Map<string, { first: number; end: number; indent: string }>();
  visit(document, {
    Seq: (_, list) => {
      if (list.flow === true) return;
      for (const item of list.items) {
        if (!isNode(item) || item.range == null) continue;
        const [start, end] = item.range;
        const { line, col } = counter.linePos(start);
        const before = (lines[line - 1] ?? '').slice(0, col - 1);
        const [, indent] = /^( *)- *$/.exec(before) ?? [];
        if (indent === undefined) continue;
        const last = counter.linePos(end);
        // A value in block style ends where its last line does, or at the beginning of the next one.
        ends.set(`${line}:${col}`, { first: line - 1, end: last.col === 1 ? last.line - 1 : last.line, indent });
      }
    },
  });
  const unplaced: StepEdit[] = [];
  const added = new Map<number, string[]>();
  const removed = new Set<number>();
  for (const edit of edits) {
    const place = ends.get(`${edit.line}:${edit.column}`);
    if (place === undefined) {
      unplaced.push(edit);
      continue;
    }
    let { end } = place;
    while (end > place.first + 1 && (lines[end - 1] ?? '').trim() === '') end -= 1;
    if (edit.kind === 'remove') for (let at = place.first; at < end; at += 1) removed.add(at);
    else
      added.set(end, [...(added.get(end) ?? []), ...edit.checks.flatMap((check) => printCheck(check, place.indent))]);
  }
  const written = [...lines, ''].flatMap((line, index) => [
    ...(added.get(index) ?? []),
    ...(index === lines.length || removed.has(index) ? [] : [line]),
  ]);
  return { text: written.join('\n'), unplaced };
}

/** Prints an assertion as a step, in the lines of a file. */
export function printCheck(check: JsonObject, indent: string): string[] {
  return printItem({ assert: check })
    .trimEnd()
    .split('\n')
    .map((line) => `${indent}${line}`.trimEnd());
}
