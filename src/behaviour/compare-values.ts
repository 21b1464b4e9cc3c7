import { escapePointerToken } from '../base/json-pointer.ts';
import { isJsonEqual, isRecord, printCanonicalJson, tryParseJson } from '../base/json.ts';
import { formatCount } from '../base/text.ts';
import { volatileMark } from '../explore/stability/forms.ts';
import { mergePair } from '../explore/stability/merge-values.ts';
import { focusTexts, focusValues } from './focus.ts';

/** A value of the change that none of the values of the base explains. */
export interface ValueDifference {
  /** The JSON Pointer, in which `*` is each item of a list. */
  pointer: string;
  /** The same with the number of the item. */
  exact: string;
  /** The difference, in words. */
  what: string;
  before: string;
  after: string;
  /** The whole value of the base. */
  value: unknown;
  /** True if only the order of lines or items differs, which all runs of the base share. */
  isReordered?: boolean;
}

interface At {
  pointer: string;
  exact: string;
  name: string;
}

/** Members that measure the process or its time, and are equal in several runs by chance. */
const measured = /^(?:pid|ppid|port|uptime\w*|elapsed\w*|took\w*|latency\w*|duration_?ms|rss|heap\w*|memory_?usage)$/i;

/**
 * Compares a value of the change with those of several runs of the base. A part that differs between the runs of the base is no difference.
 */
export function compareValues(
  bases: readonly unknown[],
  head: unknown,
  at: At = { pointer: '', exact: '', name: '' },
): ValueDifference[] {
  if (bases.every((base) => isJsonEqual(base, head)) || measured.test(at.name)) return [];
  if (bases.every(isRecord) && isRecord(head)) return compareRecords(bases, head, at);
  if (bases.every(Array.isArray) && Array.isArray(head)) return compareLists(bases, head, at);
  if (bases.every((base) => typeof base === 'string') && typeof head === 'string') {
    return compareTexts(bases, head, at);
  }
  const [first] = bases;
  if (bases.some((base) => !isJsonEqual(base, first)) || first === undefined) return [];
  return [describe(first, head, at, 'another value')];
}

function describe(base: unknown, head: unknown, { pointer, exact }: At, what: string): ValueDifference {
  return { pointer, exact, what, value: base, ...focusValues(base, head) };
}

function enter({ pointer, exact }: At, name: string): At {
  const token = `/${escapePointerToken(name)}`;
  return { pointer: pointer + token, exact: exact + token, name };
}

function compareRecords(
  bases: ReadonlyArray<Record<string, unknown>>,
  head: Record<string, unknown>,
  at: At,
): ValueDifference[] {
  const names = new Set([...bases.flatMap((base) => Object.keys(base)), ...Object.keys(head)]);
  return [...names].flatMap((name): ValueDifference[] => {
    const inner = enter(at, name);
    const having = bases.filter((base) => Object.hasOwn(base, name));
    if (having.length > 0 && having.length < bases.length) return [];
    const values = having.map((base) => base[name]);
    const [value] = values;
    if (having.length === 0) return [{ ...describe(undefined, head[name], inner, 'it is new'), before: '' }];
    if (!Object.hasOwn(head, name)) return [{ ...describe(value, undefined, inner, 'it is missing'), after: '' }];
    return compareValues(values, head[name], inner);
  });
}

function compareLists(bases: ReadonlyArray<readonly unknown[]>, head: readonly unknown[], at: At): ValueDifference[] {
  const [first = []] = bases;
  if (bases.some(({ length }) => length !== first.length)) return [];
  const sort = (list: readonly unknown[]) => list.map(printCanonicalJson).toSorted();
  const sorted = JSON.stringify(sort(first));
  const isStable = bases.every((base) => isJsonEqual(base, first));
  const isSet = bases.every((base) => JSON.stringify(sort(base)) === sorted);
  if (isSet && JSON.stringify(sort(head)) === sorted) {
    const what = `the same ${formatCount(first.length, 'item')} in another order`;
    return isStable ? [{ ...describe(first, head, at, what), isReordered: true }] : [];
  }
  if (head.length !== first.length) {
    const what = `${formatCount(head.length, 'item')} instead of ${first.length}`;
    const [lost, gained] = [subtract(first, head), subtract(head, first)];
    const isPart = isStable && lost.length + gained.length < first.length + head.length;
    return [isPart ? { ...describe(lost, gained, at, what), value: first } : describe(first, head, at, what)];
  }
  // The order itself varies, so that items cannot be paired.
  if (isSet && !isStable) return [describe(sortItems(first), sortItems(head), at, 'other items')];
  return first.flatMap((_, index) =>
    compareValues(
      bases.map((base) => base[index]),
      head[index],
      { pointer: `${at.pointer}/*`, exact: `${at.exact}/${index}`, name: '' },
    ),
  );
}

function sortItems(list: readonly unknown[]): unknown[] {
  return list.toSorted((a, b) => (printCanonicalJson(a) < printCanonicalJson(b) ? -1 : 1));
}

/** Lists the items that another list has not, each as often as it is missing. */
function subtract(list: readonly unknown[], other: readonly unknown[]): unknown[] {
  const left = other.map(printCanonicalJson);
  return list.filter((item) => {
    const index = left.indexOf(printCanonicalJson(item));
    if (index !== -1) left.splice(index, 1);
    return index === -1;
  });
}

function compareTexts(bases: readonly string[], head: string, at: At): ValueDifference[] {
  const documents = [...bases, head].map(readDocument);
  if (documents.every((document) => document !== null)) {
    const differences = compareValues(documents.slice(0, -1), documents.at(-1), at);
    const [first] = bases;
    const isLaidOut = differences.length === 0 && bases.every((base) => base === first && base.length !== head.length);
    return isLaidOut && first !== undefined
      ? [{ ...describeTexts(first, head, at, 'the same JSON in another layout') }]
      : differences;
  }
  const [first = ''] = bases;
  if (bases.every((base) => base === first)) {
    const sort = (text: string) => text.split('\n').toSorted().join('\n');
    const isReordered = first.includes('\n') && sort(first) === sort(head);
    const what = isReordered ? 'the same lines in another order' : 'another text';
    return [{ ...describeTexts(first, head, at, what), isReordered }];
  }
  // The parts that all runs of the base share have to be there in their order.
  const parts = bases
    .reduce(mergePair)
    .split(volatileMark)
    .map((part) => part.trim())
    .filter((part) => /\w{3}/.test(part));
  let from = 0;
  for (const part of parts) {
    const index = head.indexOf(part, from);
    if (index === -1) return [{ ...describeTexts(first, head, at, 'another text'), value: first }];
    from = index + part.length;
  }
  return [];
}

function describeTexts(base: string, head: string, { pointer, exact }: At, what: string): ValueDifference {
  return { pointer, exact, what, value: base, ...focusTexts(base, head) };
}

/** Reads a text that is a JSON object or array; null for another text. */
export function readDocument(text: string): object | null {
  const document = /^\s*[[{]/.test(text) ? tryParseJson(text) : undefined;
  return typeof document === 'object' ? document : null;
}
