import { escapePointerToken } from '../../base/json-pointer.ts';
import { isJsonEqual, isRecord, tryParseJson } from '../../base/json.ts';
import { markItems, markLines } from './any-order.ts';
import { hasVolatileForm, keepsNone, type KeepsPart, maskForms, volatileMark } from './forms.ts';

/** Names of members whose values depend on the machine or the moment. */
const volatileNames: readonly RegExp[] = [
  /^(?:pid|ppid|port|hostname|host|username|user|uid|gid|python|(?:python|node|runtime|kernel)_?version)$/i,
  /^(?:rss|heap_?(?:used|total)|(?:memory|cpu|disk)_?(?:usage|used|free|available|percent)|load_?(?:avg|average))$/i,
  /^(?:uptime\w*|elapsed\w*|took|latency\w*|duration_?ms|timestamp|now|today)$/i,
  /^(?:mtime|ctime|atime|birthtime|created|modified|accessed|(?:created|updated|modified|accessed)_?at)$/i,
  /^(?:inode|ino|dev|rdev|nlink|blksize|blocks|permissions|mode)$/i,
  /dst|offset|time_?difference|week_?day|day_of_|age_?(?:days|hours|in_)|(?:until|since|remaining)$/i,
];

/** Checks if the value of a member of this name depends on the machine or the moment. */
export const isVolatileName = (name: string) => volatileNames.some((names) => names.test(name));

/**
 * Merges the values of several replays: parts that are equal stay, and parts that differ, or that read as a time, an id and the
 * like, become the mark. Of these, the parts that are in all values and that `keeps` names stay.
 */
export function mergeValues(values: readonly unknown[], keeps = keepsNone, name = ''): unknown {
  const [first] = values;
  if (values.every((value) => typeof value === 'string')) return mergeTexts(values, keeps);
  if (values.every(Array.isArray)) return mergeLists(values, keeps);
  if (values.every(isRecord)) return mergeRecords(values, keeps);
  if (values.some((value) => value !== first)) return volatileMark;
  const number = typeof first === 'number' ? String(first) : '';
  const isVolatile = isVolatileName(name) || hasVolatileForm(number);
  return isVolatile && first !== null && !keeps(number) ? volatileMark : first;
}

/** Leaves out numbers, with a unit of size: a directory has another size on each file system, which may put a list in another order. */
const maskSizes = (text: string) =>
  text.replaceAll(/\d[\d.,]*\s*(?:[KMGT]?i?B\b|bytes?\b)?/gi, '#').replaceAll(/\s+/g, ' ');

/** Checks if lists have the same items in another order. */
function isReordered(lists: ReadonlyArray<readonly string[]>): boolean {
  const [first = []] = lists;
  return (
    lists.every((list) => isJsonEqual(list.toSorted(), first.toSorted())) &&
    lists.some((list) => !isJsonEqual(list, first))
  );
}

function mergeLists(lists: ReadonlyArray<readonly unknown[]>, keeps: KeepsPart): unknown {
  const [first = []] = lists;
  if (lists.some(({ length }) => length !== first.length)) return volatileMark;
  const merge = (all: ReadonlyArray<readonly unknown[]>) =>
    first.map((_, index) =>
      mergeValues(
        all.map((list) => list[index]),
        keeps,
      ),
    );
  if (lists.every((list) => isJsonEqual(list, first))) return merge(lists);
  const keyed = lists.map((list) => list.map(addKey));
  if (!isReordered(keyed.map((list) => list.map(({ key }) => key)))) return merge(lists);
  return markItems(merge(keyed.map((list) => sortByKey(list).map(({ item }) => item))));
}

interface KeyedItem {
  item: unknown;
  key: string;
}

/** Adds what an item of a list has, apart from sizes and the order of lists in it. */
const addKey = (item: unknown): KeyedItem => ({ item, key: maskSizes(JSON.stringify(sortLists(item))) });

const sortByKey = (list: readonly KeyedItem[]) => list.toSorted((a, b) => compareTexts(a.key, b.key));

/** Compares two texts by their code units, on each machine alike. */
const compareTexts = (left: string, right: string) => (left < right ? -1 : left > right ? 1 : 0);

/** Sorts each list within a value, so that two values are equal that differ in the order of these only. */
function sortLists(value: unknown): unknown {
  if (Array.isArray(value)) return sortByKey(value.map(addKey)).map(({ item }) => sortLists(item));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, sortLists(member)]));
}

/** Checks if a document describes a directory, whose size depends on the file system. */
const isDirectory = ({ type, isDirectory: flag, is_directory: other }: Record<string, unknown>) =>
  flag === true || other === true || type === 'directory';

function mergeRecords(records: ReadonlyArray<Record<string, unknown>>, keeps: KeepsPart): unknown {
  const isSized = !records.every(isDirectory);
  const names = new Set(records.flatMap((record) => Object.keys(record)));
  return Object.fromEntries(
    [...names].map((name) => {
      const isEverywhere = records.every((record) => Object.hasOwn(record, name));
      return [
        name,
        isEverywhere && (isSized || name !== 'size')
          ? mergeMember(
              records.map((record) => record[name]),
              keeps,
              name,
            )
          : volatileMark,
      ];
    }),
  );
}

function mergeMember(values: readonly unknown[], keeps: KeepsPart, name: string): unknown {
  const isMasked = (value: unknown) => typeof value === 'string' && value !== '' && !keeps(value);
  return isVolatileName(name) && values.every(isMasked) ? volatileMark : mergeValues(values, keeps, name);
}

/** Merges texts. A text that is JSON stays JSON, with marks in it. */
function mergeTexts(texts: readonly string[], keeps: KeepsPart): string {
  const documents = texts.map((text) => (/^\s*[[{]/.test(text) ? tryParseJson(text) : undefined));
  if (documents.every((document) => typeof document === 'object' && document !== null)) {
    const merged = mergeValues(documents, keeps);
    const isIndented = /^\s*[[{]\n/.test(texts[0] ?? '');
    // The text itself stays where nothing in it differs.
    return texts.every((text) => text === texts[0]) && JSON.stringify(merged) === JSON.stringify(documents[0])
      ? (texts[0] ?? '')
      : JSON.stringify(merged, null, isIndented ? 2 : undefined);
  }
  const isShared: KeepsPart = (part) => keeps(part) && texts.every((text) => text.includes(part));
  const masked = texts.map((text) => maskForms(text, isShared));
  return mergeReordered(masked.map((text) => text.split('\n'))) ?? masked.reduce(mergePair);
}

/**
 * Merges texts with the same lines in another order. Those that move are sorted, if nothing in them differs; otherwise there is a mark around
 * each of them. Null for other texts.
 */
function mergeReordered(texts: ReadonlyArray<readonly string[]>): string | null {
  const keys = texts.map((lines) => lines.map(maskSizes));
  if (!isReordered(keys)) return null;
  const isMoved = (key: string, index: number) => keys.some((other) => other[index] !== key);
  const sorted = sortMoved(texts);
  if (sorted !== null) return markLines(sorted);
  const lines = keys[0]?.map((key, index) => {
    const merged = texts
      .map((text, at) => text[isMoved(key, index) ? (keys[at] ?? []).indexOf(key) : index] ?? '')
      .reduce(mergePair);
    const next = keys[0]?.[index + 1];
    const isBeside = isMoved(key, index) || (next !== undefined && isMoved(next, index + 1));
    return isBeside && !merged.endsWith(volatileMark) ? `${merged}${volatileMark}` : merged;
  });
  return lines?.join('\n') ?? null;
}

/** Sorts the lines from the first to the last one that moves; null if a line differs, or if its place says to which other line it belongs. */
function sortMoved(texts: ReadonlyArray<readonly string[]>): string[] | null {
  const [first = []] = texts;
  if (!texts.every((lines) => isJsonEqual(lines.toSorted(), first.toSorted()))) return null;
  const isMoved = (line: string, index: number) => texts.some((other) => other[index] !== line);
  const start = first.findIndex(isMoved);
  const end = first.findLastIndex(isMoved) + 1;
  const moved = first.slice(start, end);
  if (moved.some((line) => /^\s|^$/.test(line) || line.includes(volatileMark))) return null;
  return [...first.slice(0, start), ...moved.toSorted(compareTexts), ...first.slice(end)];
}

const tokens = /\{\{any\}\}|[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;

/** Keeps the tokens in which two texts agree, from the start and from the end. */
export function mergePair(left: string, right: string): string {
  if (left === right) return left;
  const [a, b] = [left.match(tokens) ?? [], right.match(tokens) ?? []];
  if (a.length === b.length) return joinMarks(a.map((token, index) => (token === b[index] ? token : volatileMark)));
  const shortest = Math.min(a.length, b.length);
  let head = 0;
  while (head < shortest && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < shortest - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  return joinMarks([...a.slice(0, head), volatileMark, ...(tail === 0 ? [] : a.slice(-tail))]);
}

function joinMarks(parts: readonly string[]): string {
  return parts.filter((part, index) => part !== volatileMark || parts[index - 1] !== volatileMark).join('');
}

/** Lists the JSON Pointers of texts with a mark in them, and of those in texts that are JSON. */
export function listMarked(value: unknown, pointer = ''): string[] {
  if (typeof value === 'string') {
    if (!value.includes(volatileMark)) return [];
    const document = /^\s*[[{]/.test(value) ? tryParseJson(value) : undefined;
    return typeof document === 'object' && document !== null ? listMarked(document, pointer) : [pointer];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => listMarked(item, `${pointer}/${index}`));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    listMarked(member, `${pointer}/${escapePointerToken(name)}`),
  );
}
