/** Marks where a text was cut. A redactor then knows that the text before it may end with the beginning of a secret. */
export const cutMark = '…';

/** Reads the text up to its first line break. */
export function readFirstLine(text: string): string {
  return text.split(/\r\n|\r|\n/, 1)[0] ?? '';
}

/** Appends a sentence to the first line of a text; the other lines stay below it. */
export function extendFirstLine(text: string, sentence: string): string {
  const first = readFirstLine(text);
  return `${first} ${sentence}${text.slice(first.length)}`;
}

/** Keeps the last lines that fit into `maxLength` UTF-16 units, line breaks included: a program prints its failure at the end. */
export function clipLines(lines: readonly string[], maxLength: number): string[] {
  let length = 0;
  const first = lines.findLastIndex((line) => (length += line.length + 1) > maxLength);
  return lines.slice(first + 1);
}

/** Escapes a text that a regular expression is to match as it is. It may stand between other parts, and not in a class of characters. */
export const escapeExpression = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

/** Puts a text on one line, without control characters. */
export function putOnOneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** Joins words as a sentence lists them: "a", "a and b", "a, b and c". */
export const joinWords = (words: readonly string[]): string =>
  words.length < 3 ? words.join(' and ') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/** Cuts a text to at most `maxLength` UTF-16 units, the mark at its end included. */
export function clipText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - cutMark.length).toWellFormed()}${cutMark}`;
}

/** Prints a count with its noun, `1 case` or `3 cases`; for nouns that take an s. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Prints an amount for people, `12.34 USD` or `0.0042 USD`; small amounts keep two significant digits. */
export function formatMoney(amount: number, currency: string): string {
  if (amount === 0 || amount >= 1) return `${amount.toFixed(2)} ${currency}`;
  const decimals = Math.min(9, Math.max(2, 1 - Math.floor(Math.log10(amount))));
  return `${amount.toFixed(decimals)} ${currency}`;
}

/** Lists the first items, and counts the rest: `a, b and 3 more`. */
export function listSome(items: readonly string[], maxListed: number): string {
  const rest = items.length - maxListed;
  return `${items.slice(0, maxListed).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** Ends a sentence with a full stop unless it has one, for sentences that end with quoted text. */
export function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Formats a value for a message: on one line, and cut to a readable length. */
export function quoteValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'a mapping';
  if (typeof value === 'number') return String(value);
  const text = JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 77)}…`;
}
