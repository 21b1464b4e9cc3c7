import { flattenText, stripControls } from './plain.ts';
import { truncateText } from '../truncate.ts';

/**
 * Words without a meaning to Markdown or GitHub: letters and digits with plain punctuation inside and around. Autolinks start with `www.` or
 * hold `:`, `/` or `@`; references are `#1`, `GH-1` or a commit's hash.
 */
const plainWord =
  /^(?!.*(?:www\.|gh-\d)|[0-9a-f]{7,}$)[("'“]*(?:[\p{L}\p{M}\p{N}%]+(?:[-.,'’][\p{L}\p{M}\p{N}%]+)*|[—–·…])[)"'”,;:!?…]*\.?$/iu;
const listMarker = /^\d+[.)]$/;
const codeEdges = /^([("'“]*)(.*?)([)"'”,.;:!?]*)$/s;

/** A part of a sentence that is code already, with the punctuation around it; else a word. */
const sentencePart = /(?<!\S)[("'“]*`[^`]*[^`\s][^`]*`[)"'”,.;:!?…]*(?!\S)|\S+/gu;
const codePart = /^([("'“]*)`([^`]+)`([)"'”,.;:!?…]*)$/u;

/**
 * Renders a sentence that holds foreign text: plain words stay unchanged, all others become code spans, in which Markdown, HTML, mentions
 * and links have no effect. Text between backticks stays one code span. For use within a line.
 */
export function renderProse(text: string): string {
  const isPlain = (part: string) => plainWord.test(part) && !listMarker.test(part);
  const isAlone = (part: string) => isPlain(part) || codePart.test(part);
  const groups: string[][] = [];
  for (const part of flattenText(text).match(sentencePart) ?? []) {
    const last = groups.at(-1);
    const previous = last?.at(-1) ?? '';
    // After a colon, a new group begins.
    if (last === undefined || isAlone(part) || isAlone(previous) || previous.endsWith(':')) groups.push([part]);
    else last.push(part);
  }
  return groups.map((parts) => (parts.every(isPlain) ? parts.join(' ') : renderQuoted(parts))).join(' ');
}

/** Keeps quotes, brackets and full stops outside of the code span. */
function renderQuoted(words: readonly string[]): string {
  const text = words.join(' ');
  const [, before = '', inside = '', after = ''] = codePart.exec(text) ?? codeEdges.exec(text) ?? [];
  return inside === '' ? renderCodeSpan(text) : `${before}${renderCodeSpan(inside)}${after}`;
}

/** Renders a code span on one line, delimited by more backticks than any run inside (CommonMark §6.1). */
export function renderCodeSpan(text: string): string {
  const content = flattenText(text) || ' ';
  const delimiter = '`'.repeat(measureLongestRun(content) + 1);
  const isPadded = /^`|`$/.test(content) || (/^ .* $/s.test(content) && /[^ ]/.test(content));
  return isPadded ? `${delimiter} ${content} ${delimiter}` : `${delimiter}${content}${delimiter}`;
}

/** Renders lines as a code block of a language. Its fence is longer than any run of backticks in it, so that nothing ends it (CommonMark §4.5). */
export function renderCodeBlock(lines: readonly string[], language: string): string {
  const flat = lines.map((line) => stripControls(line).replaceAll(/[\n\u2028\u2029]+/g, ' '));
  const longest = flat.reduce((most, line) => Math.max(most, measureLongestRun(line)), 2);
  const fence = '`'.repeat(longest + 1);
  return [`${fence}${language}`, ...flat, fence].join('\n');
}

/**
 * Escapes Markdown for a table's cell, where a pipe ends the cell even within code (GFM §4.10). Parsers disagree
 * whether `\\|` does, so backslashes before a pipe are doubled: with an odd number all agree that it does not.
 */
export function escapeTableCell(markdown: string): string {
  return markdown.replaceAll(/(\\*)\|/g, '$1$1\\|');
}

function measureLongestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

/** Renders a link with a label of the gate; only the label if the address is not `https:`. */
export function renderLink(label: string, url: string): string {
  const href = URL.parse(url)?.href ?? '';
  const text = renderProse(label);
  return href.startsWith('https://') && !/[<>\s]/.test(href) ? `[${text}](<${href}>)` : text;
}

const maxLocationLength = 120;

/** Renders the location of a case as Markdown, as a link if its line has a URL. */
export function renderLocation(
  location: { file: string; line: number },
  linkLine: ((location: { file: string; line: number }) => string | null) | undefined,
): string {
  const label = truncateText(`${location.file}:${location.line}`, maxLocationLength);
  const url = linkLine?.(location) ?? null;
  return url === null ? renderCodeSpan(label) : renderLink(label, url);
}
