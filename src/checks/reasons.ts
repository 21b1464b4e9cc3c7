import { isSensitiveKey } from '../base/redaction.ts';
import { clipText, readFirstLine } from '../base/text.ts';

/** The API's limits for what a predicate may say. */
const longestReason = 600;
const longestValue = 200;
const deepestLevel = 6;

/** Prints a value as JSON for a sentence: at most 200 characters, members with telling names masked, depth limited. */
export function printValue(value: unknown): string {
  return printValueWithin(value, longestValue);
}

/** Prints a value in the same way, in at most so many characters. */
export function printValueWithin(value: unknown, maxLength: number): string {
  if (value === undefined) return 'nothing';
  // A result may be megabytes long; only what can be printed is worth encoding, quotes included.
  const text = typeof value === 'string' ? clipText(value, maxLength - 2) : maskSensitive(value, 0);
  return clipText(JSON.stringify(text) ?? String(text), maxLength);
}

/** Cuts a reason to 600 characters, which is what the API keeps. */
export function clipReason(reason: string): string {
  return clipText(reason, longestReason);
}

/** Cuts the first line of a reason in the same way, so that what to do about it still fits behind it. What stands below is kept. */
export function clipReasonBefore(hint: string, reason: string): string {
  const first = readFirstLine(reason);
  const clipped = clipText(first, Math.max(0, longestReason - hint.length - 1));
  return `${clipReason(`${clipped} ${hint}`)}${reason.slice(first.length)}`;
}

/** How long a list inside a reason may get, in characters, so that the rest of the sentence has room. */
export const maxListLength = 360;

/** Joins parts as far as they fit into a length, at least one, and counts the others: `a; b; +3 more`. */
export function joinWithin(parts: readonly string[], maxLength: number, separator = '; '): string {
  const shown: string[] = [];
  let length = 0;
  for (const part of parts) {
    length += part.length + separator.length;
    if (shown.length > 0 && length > maxLength) break;
    shown.push(clipText(part, maxLength));
  }
  const rest = parts.length - shown.length;
  return [...shown, ...(rest > 0 ? [`+${rest} more`] : [])].join(separator);
}

function maskSensitive(value: unknown, level: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (level === deepestLevel) return '…';
  if (Array.isArray(value)) return value.map((item) => maskSensitive(item, level + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, isSensitiveKey(key) ? '***' : maskSensitive(item, level + 1)]),
  );
}
