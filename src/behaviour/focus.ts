import { cutMark } from '../base/text.ts';

/** The characters around a difference, and the most of an excerpt. */
const around = 40;
const longest = 200;

/** Cuts two values to their differing part, as one line each. */
export function focusValues(base: unknown, head: unknown): { before: string; after: string } {
  return focusTexts(printValue(base), printValue(head));
}

function printValue(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value);
}

/** Cuts two texts to the part in which they differ, with some characters around it, and shows line breaks. */
export function focusTexts(base: string, head: string): { before: string; after: string } {
  const [a, b] = [showBreaks(base), showBreaks(head)];
  const shortest = Math.min(a.length, b.length);
  let start = 0;
  while (start < shortest && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shortest - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const cut = (text: string) => {
    const from = start > around + 10 ? start - around : 0;
    const until = end > around + 10 ? text.length - end + around : text.length;
    const part = text.slice(from, until);
    const limited = part.length > longest ? `${part.slice(0, longest - 1)}${cutMark}` : part;
    const isCutAtEnd = until < text.length && part.length <= longest;
    return `${from > 0 ? cutMark : ''}${limited}${isCutAtEnd ? cutMark : ''}`.toWellFormed();
  };
  return { before: cut(a), after: cut(b) };
}

function showBreaks(text: string): string {
  return text.replaceAll('\r', String.raw`\r`).replaceAll('\n', String.raw`\n`);
}
