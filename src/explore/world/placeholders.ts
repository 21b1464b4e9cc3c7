import { isRecord, type JsonObject, tryParseJson } from '../../base/json.ts';
import { resolveLocalReference } from '../../base/json-pointer.ts';
import { appendAll } from '../../base/lists.ts';
import type { PlacePaths } from '../../workspace/place.ts';
import { mapTexts } from '../../workspace/placeholders.ts';
import type { ExploredRequest } from '../exploration.ts';

/** The directories of a world, by the names of their placeholders. */
export interface WorldPaths extends PlacePaths {
  outside: string;
  /** The directory of all worlds of an exploration, which contains the others and the compile caches. */
  worlds: string;
}

const reference = /^\{\{result\.(\d+)(\/.*)\}\}$/;

/** Writes a reference to a value in the result of an earlier step of the session. */
export function writeReference(step: number, pointer: string): string {
  return `{{result.${step}${pointer}}}`;
}

/** Reads a reference; null for another text. */
export function readReference(text: string): { step: number; pointer: string } | null {
  const [, step, pointer] = reference.exec(text) ?? [];
  return step === undefined || pointer === undefined ? null : { step: Number(step), pointer };
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
    return found === null ? text : writeReference(found.step + steps, found.pointer);
  });
}

/** Replaces references by the values in `results`. A reference to a missing value stays. */
export function fillReferences<Value>(value: Value, results: readonly unknown[]): Value;
export function fillReferences(value: unknown, results: readonly unknown[]): unknown {
  if (typeof value === 'string') {
    const found = readReference(value);
    return found === null ? value : (findInResult(results[found.step], found.pointer) ?? value);
  }
  if (Array.isArray(value)) return value.map((item) => fillReferences(item, results));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fillReferences(member, results)]));
}

/** Finds the value at a pointer. Below `/content/0/text`, the text is read as JSON. */
function findInResult(result: unknown, pointer: string): unknown {
  const direct = resolveLocalReference(`#${pointer}`, result);
  if (direct !== undefined) return direct;
  const [, head, tail] = /^(\/content\/\d+\/text)(\/.*)$/.exec(pointer) ?? [];
  if (head === undefined || tail === undefined) return undefined;
  const text = resolveLocalReference(`#${head}`, result);
  return typeof text === 'string' ? resolveLocalReference(`#${tail}`, tryParseJson(text)) : undefined;
}

/** Reads a result as an object; other results are malformed anyway. */
export function toObject(value: unknown): JsonObject {
  return isRecord(value) ? value : { value };
}
