import { isRecord, tryParseJson } from '../../base/json.ts';
import { volatileMark } from './forms.ts';

/** Begins a merged list, and is the first line of a merged text, whose items or lines come in another order in each replay. */
const orderMark = '{{any order}}';

export const markItems = (items: readonly unknown[]): unknown[] => [orderMark, ...items];
export const markLines = (lines: readonly string[]): string => [orderMark, ...lines].join('\n');

/** Checks if the lines of a text may come in any order. */
export const hasAnyOrder = (text: string): boolean => text.startsWith(`${orderMark}\n`);

/** Checks if a list is marked: its items may come in any order. */
export const isUnordered = (list: readonly unknown[]): boolean => list[0] === orderMark;

type Arrange = (items: readonly unknown[]) => readonly unknown[];

/** Removes the marks of lists at each depth, also in texts that are JSON, and those of texts. `arrange` orders the items and the lines. */
export function dropOrderMarks<Value>(value: Value, arrange?: Arrange): Value;
export function dropOrderMarks(value: unknown, arrange: Arrange = (items) => items): unknown {
  if (typeof value === 'string') {
    if (hasAnyOrder(value)) return arrange(value.split('\n').slice(1)).join('\n');
    const document = /^\s*[[{]/.test(value) && hasOrderMark(value) ? tryParseJson(value) : undefined;
    if (typeof document !== 'object' || document === null) return value;
    return JSON.stringify(dropOrderMarks(document, arrange), null, /^\s*[[{]\n( *)/.exec(value)?.[1]?.length ?? 0);
  }
  if (Array.isArray(value)) {
    const items = value.filter((item) => item !== orderMark).map((item) => dropOrderMarks(item, arrange));
    return isUnordered(value) ? arrange(items) : items;
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, dropOrderMarks(member, arrange)]));
}

/** Checks if a text, such as a document in JSON, has a mark of any order. */
export const hasOrderMark = (text: string): boolean => text.includes(orderMark);

/** Marks each line of a text in any order as one that others follow: where it stands says nothing. */
export const separateLines = (text: string): string =>
  hasAnyOrder(text) ? text.split('\n').slice(1).join(`${volatileMark}\n`) : text;
