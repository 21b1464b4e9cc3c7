import { RE2JS } from 're2js';
import { z } from 'zod';
import { isTooDeep, tryParseJson } from '../base/json.ts';
import { describeAbsence, findByPointer, listSplits } from './json-documents.ts';
import { printValue } from './reasons.ts';

/**
 * The part of a result that a step keeps for later steps: a JSON Pointer into the result as the server sent it, or a part of the text at a
 * pointer. `matches` is an RE2 expression that finds it: its group, or the whole match if it has none.
 */
export type Capture = string | { path: string; matches: string };

/** Creates the schema of a capture, in a file or on the wire. */
export function createCaptureSchema({
  pointer,
  pattern,
}: Record<'pointer' | 'pattern', z.ZodType<string, string>>): z.ZodType<Capture, Capture> {
  return z.union([pointer, z.strictObject({ path: pointer, matches: pattern })]);
}

/** Finds the captured value in a result; `missing` is a clause that says what is there instead. */
export function findCaptured(result: unknown, capture: Capture): { value: unknown } | { missing: string } {
  const pointer = typeof capture === 'string' ? capture : capture.path;
  const found = findInResult(result, pointer);
  if (found === null) {
    return { missing: result === undefined ? 'the step has no result' : describeAbsence(result, pointer) };
  }
  return typeof capture === 'string' ? found : matchText(found.value, capture.matches);
}

/** Prints where a capture looks: `/content/0/text, matching "id: (\\d+)"`. */
export function describeCapture(capture: Capture): string {
  return typeof capture === 'string' ? capture : `${capture.path}, matching ${printValue(capture.matches)}`;
}

/** Finds the value at a pointer. If the pointer leads into a text, parses the text as JSON and continues there. */
function findInResult(result: unknown, pointer: string): { value: unknown } | null {
  const found = findByPointer(result, pointer);
  if (found.kind === 'found') return { value: found.value };
  for (const { head, tail } of listSplits(pointer)) {
    const text = findByPointer(result, head);
    if (text.kind !== 'found') continue;
    const document = typeof text.value === 'string' ? tryParseJson(text.value) : undefined;
    if (document === undefined || isTooDeep(document)) return null;
    const inside = findByPointer(document, tail);
    return inside.kind === 'found' ? { value: inside.value } : null;
  }
  return null;
}

function matchText(value: unknown, pattern: string): { value: unknown } | { missing: string } {
  if (typeof value !== 'string') return { missing: `${printValue(value)} is no text` };
  const matcher = RE2JS.compile(pattern).matcher(value);
  const text = matcher.find() ? matcher.group(Math.min(1, matcher.groupCount())) : null;
  return text === null ? { missing: `nothing in ${printValue(value)} matches` } : { value: text };
}
