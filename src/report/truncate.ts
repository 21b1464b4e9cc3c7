import { cutMark } from '../base/text.ts';

/** The most characters that are kept of the end of a text that is cut in its middle. */
const maxEndLength = 100;

/**
 * Cuts a text to at most `maxLength` UTF-16 units, including the note on what was left out, and never inside a code point. With `keepsEnd`,
 * cuts it in its middle: a sentence ends with its remedy.
 */
export function truncateText(text: string, maxLength: number, { keepsEnd = false } = {}): string {
  if (text.length <= maxLength) return text;
  const end = text.slice(-Math.min(maxEndLength, Math.floor(maxLength / 3)));
  const remedy = end.slice(end.search(/ (?! )/) + 1);
  return keepsEnd && remedy !== end
    ? `${cutEnd(text.slice(0, -remedy.length), maxLength - remedy.length - 1)} ${remedy}`
    : cutEnd(text, maxLength);
}

function cutEnd(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const noteOf = (omitted: number) => `${cutMark} (${omitted} more characters)`;
  const wanted = Math.max(0, maxLength - noteOf(text.length).length);
  const isInsidePair = /[\uD800-\uDBFF]/.test(text.charAt(wanted - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(wanted));
  const kept = isInsidePair ? wanted - 1 : wanted;
  return `${text.slice(0, kept)}${noteOf(text.length - kept)}`;
}
