import { isRecord, type JsonObject } from '../../base/json.ts';
import { appendAll } from '../../base/lists.ts';
import { type Capture, findCaptured } from '../../checks/captures.ts';
import type { PlacePaths } from '../../workspace/place.ts';
import { mapTexts } from '../../workspace/placeholders.ts';
import type { ExploredRequest } from '../../model/explored-request.ts';

/** The directories of a world, by the names of their placeholders. */
export interface WorldPaths extends PlacePaths {
  outside: string;
  /** The directory of all worlds of an exploration on its file system, which contains the others. */
  worlds: string;
  /** The directory of the compile caches of all worlds. */
  compiled: string;
}

/** A JSON Pointer has `~` only before `0` and `1`, so that `~ ` separates it from the pattern. */
const reference = /^\{\{result\.(\d+)(\/.*?)(?:~ (.*))?\}\}$/;

/** A value in the result of an earlier step of the session. */
export interface Reference {
  step: number;
  capture: Capture;
}

export function writeReference({ step, capture }: Reference): string {
  const part = typeof capture === 'string' ? capture : `${capture.path}~ ${capture.matches}`;
  return `{{result.${step}${part}}}`;
}

/** Reads a reference; null for another text. */
export function readReference(text: string): Reference | null {
  const [, step, path, matches] = reference.exec(text) ?? [];
  if (step === undefined || path === undefined) return null;
  return { step: Number(step), capture: matches === undefined ? path : { path, matches } };
}

/** Joins sessions to one. References in them keep their meaning. */
export function joinSessions(sessions: ReadonlyArray<readonly ExploredRequest[]>): ExploredRequest[] {
  const joined: ExploredRequest[] = [];
  for (const requests of sessions) appendAll(joined, shiftReferences(requests, joined.length));
  return joined;
}

/** Makes references of requests count further steps before them. */
export function shiftReferences<Value>(value: Value, steps: number): Value {
  return mapTexts(value, (text) => {
    const found = readReference(text);
    return found === null ? text : writeReference({ ...found, step: found.step + steps });
  });
}

/** Replaces references by the values in `results`. A reference to a missing value stays. */
export function fillReferences<Value>(value: Value, results: readonly unknown[]): Value;
export function fillReferences(value: unknown, results: readonly unknown[]): unknown {
  if (typeof value === 'string') {
    const found = readReference(value);
    if (found === null) return value;
    const captured = findCaptured(results[found.step], found.capture);
    return 'value' in captured ? captured.value : value;
  }
  if (Array.isArray(value)) return value.map((item) => fillReferences(item, results));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fillReferences(member, results)]));
}

/** Reads a result as an object; other results are malformed anyway. */
export function toObject(value: unknown): JsonObject {
  return isRecord(value) ? value : { value };
}
