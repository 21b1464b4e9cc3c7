import { isSensitiveKey } from '../base/redaction.ts';
import { clipText, readFirstLine } from '../base/text.ts';

/** The API's limits for the reason of a predicate. */
const longestReason = 600;
const longestValue = 200;
const deepestLevel = 6;

/**
 * Prints a value as JSON for a sentence: at most 200 characters, with a depth limit, and with masked values under keys that suggest a
 * secret.
 */
export function printValue(value: unknown): string {
  return printValueWithin(value, longestValue);
}

/** Prints a value in the same way, with at most `maxLength` characters. */
export function printValueWithin(value: unknown, maxLength: number): string {
  if (value === undefined) return 'nothing';
  // Clips before encoding, because a result can be megabytes long. Two characters are for the quotes.
  if (typeof value === 'string') return quoteWithin(clipText(value, maxLength - 2), maxLength);
  const masked = maskSensitive(value, 0);
  return clipText(JSON.stringify(masked) ?? String(masked), maxLength);
}

/** Quotes a text with both quotes, also if escapes make it too long. */
function quoteWithin(text: string, maxLength: number): string {
  const quoted = JSON.stringify(text);
  // Escapes lengthen a text up to six times.
  if (text.length <= 1) return clipText(quoted, maxLength);
  return quoted.length <= maxLength
    ? quoted
    : quoteWithin(clipText(text, text.length - Math.ceil((quoted.length - maxLength) / 6)), maxLength);
}

/** Cuts a reason to 600 characters, the API's limit. */
export function clipReason(reason: string): string {
  return clipText(reason, longestReason);
}

/** Cuts the first line of a reason, so that the hint fits behind it. Keeps the lines below. */
export function clipReasonBefore(hint: string, reason: string): string {
  const first = readFirstLine(reason);
  const clipped = clipText(first, Math.max(0, longestReason - hint.length - 1));
  return `${clipReason(`${clipped} ${hint}`)}${reason.slice(first.length)}`;
}

/** The largest length of a list inside a reason, in characters. Leaves room for the rest of the sentence. */
export const maxListLength = 360;

/** Joins as many parts as fit in a length, at least one, and counts the rest: `a; b; +3 more`. */
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
