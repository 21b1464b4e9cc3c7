import { escapePointerToken, unescapePointerToken } from '../base/json-pointer.ts';
import { isRecord } from '../base/json.ts';
import { isSensitiveKey } from '../base/redaction.ts';
import { clipText, formatCount } from '../base/text.ts';
import { type ComparisonRules, JsonComparison } from './json-comparison.ts';
import { joinWithin, printValue, printValueWithin } from './reasons.ts';

/** Limits the pointer and each value, so that one difference fits a bounded list. */
const longestPointer = 100;
const longestValue = 100;

/** Longer strings are shown from their first difference. */
const longestWholeString = 80;
const leadLength = 20;

/** The largest length of the list of keys in a message. */
const longestKeys = 300;

/** One difference between two documents: its location and a description, such as `is "a", expected "b"`. */
interface JsonDifference {
  /** A JSON Pointer; a long one is cut. */
  pointer: string;
  description: string;
}

interface Pair {
  pointer: string;
  /** True if a key on the path to the value suggests a secret. */
  isSensitive: boolean;
  /** Undefined if the document has no such value. */
  expected: unknown;
  actual: unknown;
}

/**
 * Lists the differing values of two JSON documents in document order; empty if the documents are equal. `path` is the JSON Pointer of both
 * documents. Masks values under keys that suggest a secret.
 */
export function listDifferences(
  { expected, actual }: Pick<Pair, 'expected' | 'actual'>,
  path: string,
  rules: ComparisonRules = {},
): JsonDifference[] {
  const differences: JsonDifference[] = [];
  const comparison = new JsonComparison(rules);
  const isSensitive = path.split('/').some(isSensitiveKey);
  // Uses its own stack, because documents can be nested deeper than the call stack.
  const open: Pair[] = [{ pointer: path, isSensitive, expected, actual }];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const pointer = clipText(pair.pointer, longestPointer);
    if (comparison.isUnordered && Array.isArray(pair.expected) && Array.isArray(pair.actual)) {
      const { missing, extra } = comparison.pair(pair.expected, pair.actual);
      if (comparison.isExhausted) return [...differences, { pointer, description: 'differs' }];
      const print = (item: unknown) => (pair.isSensitive ? '***' : printValueWithin(item, longestValue));
      for (const item of missing) differences.push({ pointer, description: `has no item ${print(item)}` });
      for (const item of extra) differences.push({ pointer, description: `has ${print(item)}, expected no such item` });
      continue;
    }
    const members = listMembers(pair, comparison);
    if (members !== null) {
      for (const member of members.toReversed()) open.push(member);
    } else if (!comparison.isEqual(pair.expected, pair.actual)) {
      differences.push({ pointer, description: describePair(pair) });
    }
  }
  return differences;
}

/** Lists the compared members of two arrays or two objects in pairs; null if the values must be compared as a whole. */
function listMembers(
  { pointer, isSensitive, expected, actual }: Pair,
  { isPartial }: Pick<JsonComparison, 'isPartial'>,
): Pair[] | null {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    return Array.from({ length: Math.max(expected.length, actual.length) }, (_, index) => ({
      pointer: `${pointer}/${index}`,
      isSensitive,
      expected: expected[index],
      actual: actual[index],
    }));
  }
  if (!isRecord(expected) || !isRecord(actual)) return null;
  return [...new Set([...Object.keys(expected), ...(isPartial ? [] : Object.keys(actual))])].map((key) => ({
    pointer: `${pointer}/${escapePointerToken(key)}`,
    isSensitive: isSensitive || isSensitiveKey(key),
    expected: Object.hasOwn(expected, key) ? expected[key] : undefined,
    actual: Object.hasOwn(actual, key) ? actual[key] : undefined,
  }));
}

function describePair({ isSensitive, expected, actual }: Pair): string {
  if (isSensitive) {
    if (actual === undefined) return 'is missing, expected ***';
    return expected === undefined ? 'is ***, expected nothing' : 'differs (its value is masked)';
  }
  if (actual === undefined) return `is missing, expected ${printValueWithin(expected, longestValue)}`;
  if (typeof expected !== 'string' || typeof actual !== 'string') return describeValues(expected, actual);
  const start = findExcerpt(expected, actual);
  if (start === 0) return describeValues(expected, actual);
  const excerpts = describeValues(expected.slice(start).toWellFormed(), actual.slice(start).toWellFormed());
  return `from character ${start + 1} ${excerpts}`;
}

function describeValues(expected: unknown, actual: unknown): string {
  return `is ${printValueWithin(actual, longestValue)}, expected ${printValueWithin(expected, longestValue)}`;
}

/** Returns the index at which the excerpts of two strings start: 0, unless they are long and start with the same text. */
function findExcerpt(expected: string, actual: string): number {
  if (Math.max(expected.length, actual.length) <= longestWholeString) return 0;
  let alike = 0;
  while (alike < expected.length && expected[alike] === actual[alike]) alike += 1;
  return Math.max(0, alike - leadLength);
}

type PointerLookup =
  | { kind: 'found'; value: unknown }
  | { kind: 'absent' }
  /** The text is not a valid JSON Pointer; a valid one that leads nowhere is `absent`. */
  | { kind: 'malformed' };

/**
 * Finds the value at a JSON Pointer in a document (RFC 6901 §3–4): `''` is the whole document, `/items/0/name` a part. Considers only own
 * members. An array index has no leading zeros.
 */
export function findByPointer(document: unknown, pointer: string): PointerLookup {
  if (pointer !== '' && !pointer.startsWith('/')) return { kind: 'malformed' };
  if (/~(?![01])/.test(pointer)) return { kind: 'malformed' };
  let found: PointerLookup = { kind: 'found', value: document };
  for (const token of pointer.split('/').slice(1)) {
    found = findMember(found.value, unescapePointerToken(token));
    if (found.kind !== 'found') return found;
  }
  return found;
}

function findMember(value: unknown, key: string): PointerLookup {
  if (Array.isArray(value)) {
    const isIndex = /^(?:0|[1-9]\d*)$/.test(key) && Number(key) < value.length;
    return isIndex ? { kind: 'found', value: value[Number(key)] } : { kind: 'absent' };
  }
  return isRecord(value) && Object.hasOwn(value, key) ? { kind: 'found', value: value[key] } : { kind: 'absent' };
}

/** Lists the ways to split a pointer, longest head first. */
export function listSplits(pointer: string): Array<{ head: string; tail: string }> {
  return pointer
    .matchAll(/\//g)
    .map(({ index }) => ({ head: pointer.slice(0, index), tail: pointer.slice(index) }))
    .toArray()
    .toReversed();
}

/** Describes what a document has instead of the value at a pointer. Returns a sentence without its full stop. */
export function describeAbsence(document: unknown, pointer: string): string {
  for (const { head } of listSplits(pointer)) {
    const parent = findByPointer(document, head);
    if (parent.kind !== 'found') continue;
    const where = head === '' ? 'the result' : head;
    const { value } = parent;
    if (Array.isArray(value)) return `${where} has ${formatCount(value.length, 'item')}`;
    if (!isRecord(value)) return `${where} is ${head.split('/').some(isSensitiveKey) ? '***' : printValue(value)}`;
    const keys = Object.keys(value).map((key) => printValue(key));
    return `${where} has ${keys.length === 0 ? 'no members' : `only ${joinWithin(keys, longestKeys)}`}`;
  }
  return 'the result has no such part';
}
