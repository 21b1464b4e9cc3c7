import { describeError } from './errors.ts';
import { readFirstLine } from './text.ts';

/** A JSON object with any members. */
export type JsonObject = Record<string, unknown>;

/** Reads JSON; undefined for text that is not JSON. No JSON value is undefined. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Writes a value of a program as JSON.
 *
 * @throws {TypeError} for what JSON would leave out or change, such as a function, and for what it cannot have
 */
export function writeJson(value: object): string {
  try {
    return JSON.stringify(value, (key, member: unknown) => {
      if (typeof member === 'function' || typeof member === 'symbol')
        throw new TypeError(`${key} is a ${typeof member}`);
      if (typeof member === 'number' && !Number.isFinite(member)) throw new TypeError(`${key} is ${member}`);
      return member;
    });
  } catch (error) {
    throw new TypeError(`is no value of JSON: ${readFirstLine(describeError(error))}`, { cause: error });
  }
}

/** Deeper JSON is refused, because the functions that compare, print and store values recurse for each level. */
export const maxJsonDepth = 1000;

/** Checks if a JSON value nests arrays and objects deeper than `maxJsonDepth`. */
export function isTooDeep(root: unknown): boolean {
  // An explicit stack, since the value may be nested deeper than the call stack.
  const open: Array<{ value: object; depth: number }> = [];
  const visit = (value: unknown, depth: number) => {
    if (typeof value === 'object' && value !== null) open.push({ value, depth });
  };
  visit(root, 1);
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    if (item.depth > maxJsonDepth) return true;
    if (Array.isArray(item.value)) for (const part of item.value) visit(part, item.depth + 1);
    else for (const part of Object.values(item.value)) visit(part, item.depth + 1);
  }
  return false;
}

/**
 * Checks if two JSON values are the same document: the order of keys does not matter, and no type is coerced. `0` and `-0` are equal, as
 * in the arithmetic of servers, and because a value loses its `-0` in transit. Node's `isDeepStrictEqual` distinguishes them.
 */
export function isJsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => isJsonEqual(item, right[index]))
    );
  }
  if (!isRecord(left) || !isRecord(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isJsonEqual(left[key], right[key]))
  );
}

/** Prints a JSON value in a canonical form: two values have the same text exactly if `isJsonEqual` holds. */
export function printCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printCanonicalJson).join()}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.keys(value)
    .toSorted()
    .filter((key) => value[key] !== undefined)
    .map((key) => `${JSON.stringify(key)}:${printCanonicalJson(value[key])}`);
  return `{${members.join()}}`;
}

/** Copies a JSON value with the members of each object in the order of their names, so that equal values print alike. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key])]));
}

/** Distinguishes a JSON object from the other things JavaScript calls objects. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Lists the objects of an array; none of anything else. */
export function listRecords(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Lists each text in a JSON value with the path that leads to it. Names of members are not listed. */
export function* listTexts(
  value: unknown,
  path: readonly PropertyKey[] = [],
): Generator<{ text: string; path: readonly PropertyKey[] }> {
  if (typeof value === 'string') yield { text: value, path };
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* listTexts(item, [...path, index]);
  else if (isRecord(value)) for (const [key, member] of Object.entries(value)) yield* listTexts(member, [...path, key]);
}
