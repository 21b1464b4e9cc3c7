import { formatCount } from '../base/text.ts';
import {
  asMark,
  asName,
  asPlace,
  type Block,
  type CaseItem,
  type Line,
  type Listed,
  type Mark,
  inspectLabel,
  repeatLabel,
} from './document/block.ts';
import { type Renderers, renderBlocks, type Span } from './document/block.ts';
import type { Difference } from '../model/difference.ts';
import { lastLinesHeading } from '../model/process-end.ts';
import { type Detail, readSpan } from './document/fit.ts';
import {
  escapeTableCell,
  renderCodeBlock,
  renderCodeSpan,
  renderLink,
  renderLocation,
  renderProse,
} from './escape/markdown.ts';
import { changeLabel, findPointer, signs, signsLabel } from './differences.ts';
import { notePrinted, groupFailures, listCode, type PrintedOutput, sourceLabel } from './failures.ts';

export interface MarkdownOptions {
  detail: Detail;
  /** The level of the title's heading. */
  depth: number;
  /** Returns the URL of a line of a file; null if there is none. */
  linkLine?: ((place: { file: string; line: number }) => string | null) | undefined;
}

interface Page extends MarkdownOptions {
  /** The output of servers that the page shows already. */
  printed: PrintedOutput;
  /** The commands that it shows already. */
  commands: Set<string>;
}

const marks: Record<Mark, string> = { passed: '✅', failed: '❌', inconclusive: '⚠️', added: '➕', minor: '▫️' };

/** Renders blocks as Markdown for GitHub. Foreign text occurs only in code spans. */
export function renderMarkdown(blocks: readonly Block[], options: MarkdownOptions): string {
  const page = { ...options, printed: new Map(), commands: new Set<string>() };
  return `${renderBlocks(blocks, renderers, page).join('\n\n')}\n`;
}

const renderers: Renderers<Page> = {
  verdict: ({ outcome, title, job, part, why }, page) => [
    `${nest(page, 0)} ${marks[outcome]} ${title}${job === null ? '' : `: ${renderSpan(job, page)}`}`,
    ...(part === null ? [] : [part]),
    ...(why === null ? [] : [`**Why:** ${renderLine(why, page)}`]),
  ],
  heading: ({ title, lead }, page) => [`${nest(page, 1)} ${renderLine(title, page)}`, ...listLead(lead, page)],
  text: ({ line }, page) => [renderLine(line, page)],
  repeat: ({ label, command }, page) => {
    page.commands.add(command);
    return [`**${label}:** ${renderCodeSpan(command)}`];
  },
  output: ({ title, lines }, page) => {
    notePrinted(page.printed, lines, 'under the verdict');
    return [`${title}:`, renderCodeBlock(lines, '')];
  },
  list: (block, page) =>
    foldBeyond(block, (items) => [
      items.map((lines) => `- ${lines.map((line) => renderItemLine(line, page)).join('<br>\n  ')}`).join('\n'),
    ]),
  // Uses paragraphs: a note without words and a `<br>` would be a line of HTML, and begin an HTML block.
  notes: ({ items }, page) => [items.map((line) => `> ${renderLine(line, page)}`).join('\n>\n')],
  table: (block, page) => foldAll(block, (items) => [renderTable(block.head, [...items, ...(block.foot ?? [])], page)]),
  cases: (block, page) => {
    const detailed = block.items.filter(({ failures }) => failures.length > 0).slice(0, page.detail.failures);
    return [
      renderCaseTable(block.items, page),
      ...foldBeyond(
        { ...block, items: detailed },
        (items) => items.flatMap((item) => renderCase(item, page)),
        'What failed in',
      ),
    ];
  },
  passed: (block, page) => foldAll(block, (items) => [renderCaseTable(items, page)]),
  changes: ({ items, why = 'Why', ...listed }, page) => {
    const hasPlaces = items.some(({ place }) => place !== null);
    const rows = items.map(({ mark, severity, id, message, alike, reason, place }): Line[] => [
      [asMark(mark), ` ${severity}`],
      [id],
      alike.length === 0 ? [message] : [message, '. ', ...alike],
      [reason],
      ...(hasPlaces ? [place === null ? [] : [place]] : []),
    ]);
    return [
      renderTable(['', 'Change', 'What', why, ...(hasPlaces ? ['Where'] : [])], rows, page),
      ...foldBeyond(
        { ...listed, items: items.filter(({ difference }) => difference !== undefined), open: 3 },
        (shown) =>
          shown.flatMap(({ id, difference }) => [
            renderSpan(id, page),
            ...(difference === undefined ? [] : renderDifference(difference, changeLabel)),
          ]),
      ),
    ];
  },
  footer: ({ lines }, page) => ['---', lines.map((line) => renderLine(line, page)).join('<br>\n')],
};

/** Leaves out the address of a run that cannot be a link, such as one on the job's machine; report.json and the terminal have it. */
function listLead(lead: readonly Line[], page: Page): string[] {
  const isLinked = (line: Line) =>
    line.every((span) => typeof span === 'string' || span.kind !== 'link' || span.url.startsWith('https://'));
  const shown = lead.filter(isLinked);
  return shown.length === 0 ? [] : [shown.map((line) => renderLine(line, page)).join(' · ')];
}

function nest({ depth }: Page, levels: number): string {
  return '#'.repeat(depth + levels);
}

/** Keeps a sign at the start of a line from beginning a list. */
function renderItemLine(line: Line, page: Page): string {
  return renderLine(line, page).replace(/^[-+](?= )/, String.raw`\$&`);
}

type Render<T> = (items: readonly T[]) => string[];

/** Folds a list if it is longer than what is open. */
function foldAll<T>({ items, open = Infinity, noun, what = '' }: Listed<T>, render: Render<T>): string[] {
  const blocks = render(items);
  return items.length <= open ? blocks : fold(`${formatCount(items.length, noun)}${what}`, blocks);
}

/** Folds the items of a list beyond those that are open. */
function foldBeyond<T>({ items, open = Infinity, noun, what = '' }: Listed<T>, render: Render<T>, verb = ''): string[] {
  const folded = items.slice(open);
  const count = formatCount(folded.length, open === 0 ? noun : `more ${noun}`);
  return [
    ...(items.length === 0 || open === 0 ? [] : render(items.slice(0, open))),
    ...(folded.length === 0 ? [] : fold(verb === '' ? `${count}${what}` : `${verb} ${count}`, render(folded))),
  ];
}

/** Folds blocks. `summary` must be the gate's own text: inside an HTML block, Markdown's code spans would not protect foreign text. */
function fold(summary: string, blocks: readonly string[]): string[] {
  return [`<details>\n<summary>${summary}</summary>`, ...blocks, '</details>'];
}

function renderCaseTable(items: readonly CaseItem[], page: Page): string {
  const rows = items.map(({ mark, title, flags, passed, iterations }): Line[] => [
    [asMark(mark)],
    [asName(title), ...(flags.length === 0 ? [] : [` (${flags.join('; ')})`])],
    [`${passed}${iterations === null ? '' : ` ${iterations}`}`],
  ]);
  return renderTable(['', 'Case', 'Passed'], rows, page);
}

function renderCase(item: CaseItem, page: Page): string[] {
  const { mark, title, place, counts, flags, omitted, repeat, inspection } = item;
  const facts = [...(place === null ? [] : [renderSpan(place, page)]), counts, ...flags];
  return [
    `${nest(page, 2)} ${marks[mark]} ${renderSpan(asName(title), page)}`,
    facts.join(' · '),
    ...groupFailures(item, page.printed).flatMap((group) => [
      `${renderProse(group.heading)}:`,
      renderCodeLines(group.lines),
      ...(group.output.length === 0 ? [] : [lastLinesHeading, renderCodeBlock(group.output, '')]),
      ...(group.source === null
        ? []
        : [`${sourceLabel} ${renderSpan(asPlace(group.source), page)}:`, renderCodeBlock(listCode(group.source), '')]),
      ...group.differences.flatMap((difference) => renderDifference(difference)),
    ]),
    ...(omitted > 0 ? [`and ${formatCount(omitted, 'more failed iteration')}.`] : []),
    ...(repeat === null || page.commands.has(repeat) ? [] : [`${repeatLabel}: ${renderCodeSpan(repeat)}`]),
    ...(inspection === null ? [] : [`${inspectLabel}: ${renderCodeSpan(inspection)}`]),
  ];
}

/** Renders a comparison as a block that GitHub colours. */
function renderDifference({ what, lines }: Difference, label = signsLabel): string[] {
  const rows = lines.flatMap((line, index) => {
    const pointer = findPointer(lines, index);
    return [
      ...(pointer === null ? [] : [`@@ ${pointer} @@`]),
      line.side === 'folded' ? `@@ ${line.text} @@` : `${signs[line.side]} ${line.text}`,
    ];
  });
  return [`${renderProse(what)} (${label}):`, renderCodeBlock(rows, 'diff')];
}

/** Renders lines as code spans, which wrap; a fenced block would need sideways scrolling on a phone. */
function renderCodeLines(lines: readonly string[]): string {
  return lines.map((line) => `- ${renderCodeSpan(line)}`).join('\n');
}

function renderTable(head: Line, rows: ReadonlyArray<readonly Line[]>, page: Page): string {
  const list = (row: readonly Line[]) => row.map((cell) => escapeTableCell(renderLine(cell, page)));
  const titles = list(head.map((title) => [title])).map((title) => (title === '' ? ' ' : ` ${title} `));
  const lines = rows.map((row) => `| ${list(row).join(' | ')} |`);
  return [`|${titles.join('|')}|`, `|${'---|'.repeat(head.length)}`, ...lines].join('\n');
}

function renderLine(line: Line, page: Page): string {
  return line.map((span) => renderSpan(span, page)).join('');
}

function renderSpan(span: Span, { detail, linkLine }: Page): string {
  if (typeof span === 'string') return span;
  switch (span.kind) {
    case 'mark':
      return marks[span.mark];
    case 'prose':
      return renderProse(readSpan(span, detail));
    case 'strong':
      return `**${span.text}**`;
    case 'place':
      return renderLocation(span, linkLine);
    case 'link':
      return renderLink(span.label, span.url);
    default:
      return renderCodeSpan(readSpan(span, detail));
  }
}
