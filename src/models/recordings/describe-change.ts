import { escapePointerToken } from '../../base/json-pointer.ts';
import { isRecord, isTooDeep, tryParseJson, printCanonicalJson } from '../../base/json.ts';
import { isSensitiveKey } from '../../base/redaction.ts';
import { clipText } from '../../base/text.ts';
import type { StoredValue } from './stored-value.ts';

const longestValue = 120;
const longestPointer = 100;
const maxShown = 3;
/** The search stops after so many changes. */
const maxChanges = 100;

/** A longer string is shown from `leadLength` characters before the first difference. */
const longestWholeString = 80;
const leadLength = 20;

/** The path of the text within a message or a result. A pointer is shown without it. */
const wrapping = /^(?:\/(?:content|output|value|text|\d+))+/;

interface Change {
  /** The pointer within the message or the result; within the text if the text is JSON. */
  pointer: string;
  isInText: boolean;
  recorded: unknown;
  now: unknown;
}

/** Describes the difference between two stored values as the end of a sentence: `recorded "a", now "b"`. */
export function describeStoredChange(recorded: StoredValue, now: StoredValue): string {
  if ('value' in recorded && 'value' in now) return describeChange(recorded.value, now.value);
  const [before, after] = [recorded, now].map((stored) => {
    if (!('value' in stored)) return { text: stored.clipped.slice(0, -1), length: stored.length };
    const text = printCanonicalJson(stored.value);
    return { text, length: text.length };
  });
  const length = Math.min(before?.text.length ?? 0, after?.text.length ?? 0);
  const [was = '', is = ''] = [before, after].map((each) => each?.text.slice(0, length));
  return was === is
    ? `recorded ${before?.length} characters of JSON, now ${after?.length}, which differ after the first ${length}`
    : describeChange(was, is);
}

/** Describes the difference between two JSON values; undefined means that there is none. Values of members with secret-like names are masked. */
export function describeChange(recorded: unknown, now: unknown): string {
  const changes: Change[] = [];
  collectChanges({ pointer: '', isInText: false, recorded, now }, changes);
  const rest = changes.length - maxShown;
  return [...changes.slice(0, maxShown).map(printChange), ...(rest > 0 ? [`+${rest} more`] : [])].join('; ');
}

function collectChanges(change: Change, changes: Change[]): void {
  const { recorded, now } = change;
  if (changes.length >= maxChanges || printCanonicalJson(recorded) === printCanonicalJson(now)) return;
  const [before, after] = [openContainer(recorded), openContainer(now)];
  if (before === null || after === null || Array.isArray(before) !== Array.isArray(after)) {
    changes.push(change);
    return;
  }
  const isText = typeof recorded === 'string' && typeof now === 'string';
  const parent = isText ? '' : change.pointer;
  const isInText = change.isInText || isText;
  const [was, is] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const earlier = changes.length;
  for (const key of new Set([...was.keys(), ...is.keys()])) {
    const pointer = `${parent}/${escapePointerToken(key)}`;
    collectChanges({ pointer, isInText, recorded: was.get(key), now: is.get(key) }, changes);
  }
  // The texts are the same JSON, written differently.
  if (changes.length === earlier) changes.push(change);
}

/** Returns an array or an object, or the one that a text contains as JSON. */
function openContainer(value: unknown): object | null {
  const opened = typeof value === 'string' && /^\s*[[{]/.test(value) ? tryParseJson(value) : value;
  return typeof opened === 'object' && !isTooDeep(opened) ? opened : null;
}

function printChange({ pointer, isInText, recorded, now }: Change): string {
  const shown = clipText(isInText ? pointer : pointer.replace(wrapping, ''), longestPointer);
  const lead = shown === '' ? '' : `${shown} `;
  if (pointer.split('/').some(isSensitiveKey)) return `${lead}changed (its value is masked)`;
  const start = typeof recorded === 'string' && typeof now === 'string' ? findExcerpt(recorded, now) : 0;
  const [was, is] = [recorded, now].map((value) =>
    printValue(start > 0 && typeof value === 'string' ? `…${value.slice(start)}` : value),
  );
  return `${lead}recorded ${was}, now ${is}`;
}

function findExcerpt(recorded: string, now: string): number {
  if (Math.max(recorded.length, now.length) <= longestWholeString) return 0;
  let alike = 0;
  while (alike < recorded.length && recorded[alike] === now[alike]) alike += 1;
  return Math.max(0, alike - leadLength);
}

function printValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return JSON.stringify(clipText(value, longestValue).toWellFormed());
  return clipText(JSON.stringify(maskSensitive(value)), longestValue);
}

function maskSensitive(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskSensitive);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, isSensitiveKey(key) ? '***' : maskSensitive(member)]),
  );
}
