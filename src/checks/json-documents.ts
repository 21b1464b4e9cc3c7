import { escapePointerToken, unescapePointerToken } from '../base/json-pointer.ts';
import { isRecord } from '../base/json.ts';
import { isSensitiveKey } from '../base/redaction.ts';
import { clipText, formatCount } from '../base/text.ts';
import { type ComparisonRules, JsonComparison } from './json-comparison.ts';
import { joinWithin, printValue, printValueWithin } from './reasons.ts';

/** The lengths of a pointer and of two values leave room for one difference in a bounded list. */
const longestPointer = 100;
const longestValue = 100;

/** Strings longer than this are shown from where they differ. */
const longestWholeString = 80;
const leadLength = 20;

/** Characters of the keys that a message lists. */
const longestKeys = 300;

/** A location in which two documents differ, and how: `is "a", expected "b"`. */
interface JsonDifference {
  /** A JSON Pointer, cut where it is long. */
  pointer: string;
  description: string;
}

interface Pair {
  pointer: string;
  /** Whether a key on the way to the value suggests a secret. */
  isSensitive: boolean;
  /** Undefined where the document does not have the value. */
  expected: unknown;
  actual: unknown;
}

/**
 * Lists each value in which two JSON documents differ, in document order. `path` is the JSON Pointer of both. Values below keys
 * with telling names are masked. Empty where the documents are equal.
 */
export function listDifferences(
  { expected, actual }: Pick<Pair, 'expected' | 'actual'>,
  path: string,
  rules: ComparisonRules = {},
): JsonDifference[] {
  const differences: JsonDifference[] = [];
  const comparison = new JsonComparison(rules);
  const isSensitive = path.split('/').some(isSensitiveKey);
  // A stack of its own: a document may be nested deeper than the call stack.
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
    const members = listMembers(pair);
    if (members !== null) {
      for (const member of members.toReversed()) open.push(member);
    } else if (!comparison.isEqual(pair.expected, pair.actual)) {
      differences.push({ pointer, description: describePair(pair) });
    }
  }
  return differences;
}

/** The members of two arrays or two objects; null where the values have to be compared as a whole. */
function listMembers({ pointer, isSensitive, expected, actual }: Pair): Pair[] | null {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    return Array.from({ length: Math.max(expected.length, actual.length) }, (_, index) => ({
      pointer: `${pointer}/${index}`,
      isSensitive,
      expected: expected[index],
      actual: actual[index],
    }));
  }
  if (!isRecord(expected) || !isRecord(actual)) return null;
  return [...new Set([...Object.keys(expected), ...Object.keys(actual)])].map((key) => ({
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

/** Where to begin showing two strings: at their start, unless they are long and begin alike. */
function findExcerpt(expected: string, actual: string): number {
  if (Math.max(expected.length, actual.length) <= longestWholeString) return 0;
  let alike = 0;
  while (alike < expected.length && expected[alike] === actual[alike]) alike += 1;
  return Math.max(0, alike - leadLength);
}

type PointerLookup =
  | { kind: 'found'; value: unknown }
  | { kind: 'absent' }
  /** The text is no JSON Pointer at all, as opposed to one that leads nowhere. */
  | { kind: 'malformed' };

/**
 * Finds the value that a JSON Pointer names in a document: `''` is the whole of it, `/items/0/name` a part. Only own
 * members count, and an array index is written without leading zeros. RFC 6901 §3–4.
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

/** The ways to split a pointer, the longest head first. */
export function listSplits(pointer: string): Array<{ head: string; tail: string }> {
  return pointer
    .matchAll(/\//g)
    .map(({ index }) => ({ head: pointer.slice(0, index), tail: pointer.slice(index) }))
    .toArray()
    .toReversed();
}

/** Says what a document has instead of what a pointer leads to, without a full stop. */
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
