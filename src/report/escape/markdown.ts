import { flattenText } from './plain.ts';
import { truncateText } from '../truncate.ts';

/**
 * Words that mean nothing to Markdown or to GitHub: letters and digits with plain punctuation inside and around.
 * Autolinks start with `www.` or hold `:`, `/` or `@`; references are `#1`, `GH-1` or a commit's hash.
 */
const plainWord =
  /^(?!.*(?:www\.|gh-\d)|[0-9a-f]{7,}$)[("'“]*(?:[\p{L}\p{M}\p{N}%]+(?:[-.,'’][\p{L}\p{M}\p{N}%]+)*|[—–·…])[)"'”,;:!?…]*\.?$/iu;
const listMarker = /^\d+[.)]$/;
const codeEdges = /^([("'“]*)(.*?)([)"'”,.;:!?]*)$/s;

/**
 * Renders a sentence that holds foreign text: plain words stay as they are, all others become code spans, in which
 * Markdown, HTML, mentions and links are inert. For use within a line.
 */
export function renderProse(text: string): string {
  const words = flattenText(text)
    .split(/\s+/)
    .filter((word) => word !== '');
  const isPlain = (word: string) => plainWord.test(word) && !listMarker.test(word);
  const groups: string[][] = [];
  for (const word of words) {
    const last = groups.at(-1);
    if (last?.[0] === undefined || isPlain(word) || isPlain(last[0])) groups.push([word]);
    else last.push(word);
  }
  return groups.map(([first = '', ...rest]) => (isPlain(first) ? first : renderQuoted([first, ...rest]))).join(' ');
}

/** Leaves quotes, brackets and full stops around a code span outside of it. */
function renderQuoted(words: readonly string[]): string {
  const [, before = '', inside = '', after = ''] = codeEdges.exec(words.join(' ')) ?? [];
  return inside === '' ? renderCodeSpan(words.join(' ')) : `${before}${renderCodeSpan(inside)}${after}`;
}

/** Renders a code span on one line, delimited by more backticks than any run inside (CommonMark §6.1). */
export function renderCodeSpan(text: string): string {
  const content = flattenText(text) || ' ';
  const delimiter = '`'.repeat(measureLongestRun(content) + 1);
  const isPadded = /^`|`$/.test(content) || (/^ .* $/s.test(content) && /[^ ]/.test(content));
  return isPadded ? `${delimiter} ${content} ${delimiter}` : `${delimiter}${content}${delimiter}`;
}

/**
 * Renders a code span for a table's cell, where a pipe ends the cell even within code (GFM §4.10). Parsers disagree
 * whether `\\|` does, so backslashes before a pipe are doubled: with an odd number all agree that it does not.
 */
export function renderTableCode(text: string): string {
  return renderCodeSpan(text).replaceAll(/(\\*)\|/g, '$1$1\\|');
}

function measureLongestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

/** Renders a link of our own; only its label where the address is not `https:`. */
export function renderLink(label: string, url: string): string {
  const href = URL.parse(url)?.href ?? '';
  const text = renderProse(label);
  return href.startsWith('https://') && !/[<>\s]/.test(href) ? `[${text}](<${href}>)` : text;
}

const maxLocationLength = 120;

/** Renders the location of a case as Markdown, as a link where its line is shown. */
export function renderLocation(
  location: { file: string; line: number },
  linkLine: ((location: { file: string; line: number }) => string | null) | undefined,
): string {
  const label = truncateText(`${location.file}:${location.line}`, maxLocationLength);
  const url = linkLine?.(location) ?? null;
  return url === null ? renderCodeSpan(label) : renderLink(label, url);
}
