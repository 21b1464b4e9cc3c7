import { formatCount } from '../../base/text.ts';
import { truncateText } from '../truncate.ts';
import { type Block, type Level, type Listed, type Span, text } from './block.ts';
import type { Section } from './document.ts';

/** How much of a document a reader gets. */
export interface Detail {
  level: Level;
  suites: number;
  /** Of a suite, those that did not pass. */
  cases: number;
  /** The number of these cases with their failures. */
  failures: number;
  /** Of a suite; if more cases passed, they are only counted. */
  passed: number;
  /** Of every other table or list. */
  rows: number;
  /** In addition to the decisive one. */
  reasons: number;
  notes: number;
  /** The number of characters of a name, such as a title. */
  name: number;
  /** The number of characters of a sentence, such as a reason. */
  prose: number;
}

const everything: Detail = {
  level: 'full',
  suites: Infinity,
  cases: Infinity,
  failures: Infinity,
  passed: Infinity,
  rows: 50,
  reasons: 9,
  notes: 10,
  name: 120,
  prose: 500,
};
const counted: Detail = { ...everything, passed: 0 };
const brief: Detail = {
  ...everything,
  level: 'brief',
  suites: 20,
  cases: 50,
  rows: 10,
  reasons: 3,
  notes: 4,
  name: 100,
  prose: 300,
};

/** The details of a text that has to fit a size, from the most to the least. A comment begins with the brief ones. */
export const ladder: readonly Detail[] = [
  everything,
  counted,
  { ...counted, cases: 100, failures: 20 },
  { ...counted, cases: 100, failures: 3 },
  brief,
  { ...brief, suites: 10, cases: 20 },
  { ...brief, suites: 5, cases: 5, rows: 5 },
  { ...brief, suites: 0, rows: 0, reasons: 0, notes: 1 },
  { ...brief, level: 'title' },
];

/** A terminal: more than a screen or two of cases is unreadable; the others are only counted, and are in the files. */
export const screen: Detail = { ...everything, level: 'screen', cases: 25, passed: 20, rows: 25, prose: 1000 };

/** The frame of the HTML page. */
export const frame: Detail = { ...everything, level: 'screen', name: 500 };

/** Renders with less and less detail until the text has at most `maxBytes` bytes of UTF-8. Returns the shortest text if none has. */
export function fit<D>(details: readonly D[], maxBytes: number, render: (detail: D) => string): string {
  let rendered = '';
  for (const detail of details) {
    rendered = render(detail);
    if (Buffer.byteLength(rendered) <= maxBytes) break;
  }
  return rendered;
}

/** Leaves out of a document what the detail does not allow, and counts it. */
export function trim(sections: readonly Section[], detail: Detail): Block[] {
  const suites = sections.filter(({ name }) => name === 'suite');
  const shown = new Set(suites.slice(0, detail.suites));
  const rest = text('brief', `${formatCount(suites.length - shown.size, 'more suite')} not shown here.`);
  return sections.flatMap((section) => {
    const isShown = section.name !== 'suite' || shown.has(section);
    const blocks = isShown ? section.blocks : section === suites.at(-1) ? [rest] : [];
    return blocks.flatMap((block) => trimBlock(block, detail));
  });
}

const ranks: Record<Level, number> = { title: 0, brief: 1, screen: 2, full: 3 };

function trimBlock(block: Block, detail: Detail): Block[] {
  const rank = ranks[detail.level];
  if (rank < ranks[block.from] || rank > ranks[block.upTo ?? 'full']) return [];
  return 'items' in block ? cutItems(block, detail) : [block];
}

function cutItems<B extends Block & Listed<unknown>>(block: B, detail: Detail): Array<B | Block> {
  const { items, by, noun, what = '' } = block;
  const isCounted = by === 'passed' && items.length > detail.passed;
  const shown = isCounted ? [] : items.slice(0, detail[by]);
  const hidden = items.length - shown.length;
  const rest = isCounted
    ? `${formatCount(hidden, noun)}${what}.`
    : `${formatCount(hidden, `more ${noun}`)}${what}; the report lists them.`;
  const isEmpty = shown.length === 0 && (block.kind !== 'table' || (block.foot ?? []).length === 0);
  return [...(isEmpty ? [] : [{ ...block, items: shown }]), ...(hidden > 0 ? [text(block.from, rest)] : [])];
}

/** Returns the text of a span, cut to the length that the detail allows. The end of a sentence is kept. */
export function readSpan(span: Exclude<Span, { kind: 'mark' }>, { name, prose }: Detail): string {
  if (typeof span === 'string') return span;
  switch (span.kind) {
    case 'name':
      return truncateText(span.text, name);
    case 'command':
      return span.text;
    case 'link':
      return span.url;
    case 'place':
      return truncateText(`${span.file}:${span.line}`, Math.max(name, prose));
    default:
      return truncateText(span.text, prose, { keepsEnd: true });
  }
}
