import { cutMark } from '../base/text.ts';

/**
 * Cuts a text to at most `maxLength` UTF-16 units, the note on what was left out included, and never inside a
 * code point.
 */
export function truncateText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const noteOf = (omitted: number) => `${cutMark} (${omitted} more characters)`;
  const wanted = Math.max(0, maxLength - noteOf(text.length).length);
  const isInsidePair = /[\uD800-\uDBFF]/.test(text.charAt(wanted - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(wanted));
  const kept = isInsidePair ? wanted - 1 : wanted;
  return `${text.slice(0, kept)}${noteOf(text.length - kept)}`;
}
