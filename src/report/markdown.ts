import { formatCount } from '../base/text.ts';
import type { Block, BlockKind, BlockOf, CaseItem, Line, Mark, Span } from './document/block.ts';
import { escapeTableCell, renderCodeSpan, renderLink, renderLocation, renderProse } from './escape/markdown.ts';
import { groupFailures, keyOutput, type PrintedOutput } from './failures.ts';

export interface MarkdownOptions {
  /** The level of the title's heading. */
  depth: number;
  /** Returns the URL of a line of a file; null if there is none. */
  linkLine?: ((place: { file: string; line: number }) => string | null) | undefined;
}

interface Page extends MarkdownOptions {
  /** The output of servers that the page shows already. */
  printed: PrintedOutput;
}

/** A few passing cases are shown; more are folded. */
const maxOpenPassed = 15;

const marks: Record<Mark, string> = { passed: '✅', failed: '❌', inconclusive: '⚠️', added: '➕', minor: '▫️' };

/** Renders blocks as Markdown for GitHub. Foreign text occurs only in code spans. */
export function renderMarkdown(blocks: readonly Block[], options: MarkdownOptions): string {
  return `${renderBlocks(blocks, { ...options, printed: new Map() }).join('\n\n')}\n`;
}

function renderBlocks(blocks: readonly Block[], page: Page): string[] {
  return blocks.flatMap((block) => renderBlock(block, page));
}

function renderBlock<K extends BlockKind>(block: BlockOf<K>, page: Page): string[] {
  const render: (block: BlockOf<K>, page: Page) => string[] = renderers[block.kind];
  return render(block, page);
}

const renderers: { [K in BlockKind]: (block: BlockOf<K>, page: Page) => string[] } = {
  verdict: ({ outcome, title, job, part, why }, page) => [
    `${nest(page, 0)} ${marks[outcome]} ${title}${job === null ? '' : `: ${renderCodeSpan(job)}`}`,
    ...(part === null ? [] : [part]),
    ...(why === null ? [] : [`**Why:** ${renderLine(why, page)}`]),
  ],
  heading: ({ title, lead }, page) => [
    `${nest(page, 1)} ${renderLine(title, page)}`,
    ...(lead.length === 0 ? [] : [lead.map((line) => renderLine(line, page)).join(' · ')]),
  ],
  text: ({ line }, page) => [renderLine(line, page)],
  list: ({ items }, page) => [renderList(items, page)],
  // Uses paragraphs: a note without words and a `<br>` would be a line of HTML, and begin an HTML block.
  notes: ({ items }, page) => [items.map((line) => `> ${renderLine(line, page)}`).join('\n>\n')],
  output: ({ title, lines }, page) => {
    page.printed.set(keyOutput(lines), 'under the verdict');
    return [`${title}:`, renderCodeLines(lines)];
  },
  table: ({ head, rows, foot }, page) => [
    renderTable(
      head.map((cell) => [cell]),
      [...rows, ...foot],
      page,
    ),
  ],
  cases: renderCases,
  changes: ({ changes }, page) => {
    const hasPlaces = changes.some(({ place }) => place !== null);
    const rows = changes.map(({ mark, severity, id, message, reason, place }): Line[] => [
      [{ kind: 'mark', mark }, ` ${severity}`],
      [id],
      [message],
      [reason],
      ...(hasPlaces ? [place === null ? [] : [place]] : []),
    ]);
    const head = ['', 'Change', 'What', 'Why', ...(hasPlaces ? ['Where'] : [])];
    return [
      renderTable(
        head.map((cell) => [cell]),
        rows,
        page,
      ),
    ];
  },
  fold: ({ summary, blocks }, page) => fold(summary, renderBlocks(blocks, page)),
  footer: ({ lines }, page) => ['---', lines.map(({ line }) => renderLine(line, page)).join('<br>\n')],
};

function nest({ depth }: Page, levels: number): string {
  return '#'.repeat(depth + levels);
}

function renderCases({ failed, hidden, passed, passedCount, details, open }: BlockOf<'cases'>, page: Page): string[] {
  const detailed = failed.filter(({ failures }) => failures.length > 0).slice(0, details);
  const folded = detailed.slice(open);
  const table = (items: readonly CaseItem[]) => (items.length === 0 ? [] : [renderCaseTable(items, page)]);
  const list = (items: readonly CaseItem[]) => items.flatMap((item) => renderCase(item, page));
  return [
    ...table(failed),
    ...(hidden > 0 ? [`${formatCount(hidden, 'more case')} did not pass; the report lists them.`] : []),
    ...list(detailed.slice(0, open)),
    ...(folded.length === 0
      ? []
      : fold(`What failed in ${formatCount(folded.length, open === 0 ? 'case' : 'more case')}`, list(folded))),
    ...(passed.length <= maxOpenPassed
      ? table(passed)
      : fold(`${formatCount(passed.length, 'case')} passed`, table(passed))),
    ...(passed.length === 0 && passedCount > 0 ? [`${formatCount(passedCount, 'case')} passed.`] : []),
  ];
}

function renderCaseTable(items: readonly CaseItem[], page: Page): string {
  const rows = items.map(({ mark, title, flags, passed, iterations }): Line[] => [
    [{ kind: 'mark', mark }],
    [{ kind: 'name', text: title }, ...(flags.length === 0 ? [] : [` (${flags.join('; ')})`])],
    [`${passed}${iterations === null ? '' : ` ${iterations}`}`],
  ]);
  return renderTable([[''], ['Case'], ['Passed']], rows, page);
}

function renderCase(item: CaseItem, page: Page): string[] {
  const { mark, title, place, counts, flags, omitted } = item;
  const facts = [...(place === null ? [] : [renderLocation(place, page.linkLine)]), counts, ...flags];
  return [
    `${nest(page, 2)} ${marks[mark]} ${renderCodeSpan(title)}`,
    facts.join(' · '),
    // Uses code spans, which wrap; a fenced block would need sideways scrolling on a phone.
    ...groupFailures(item, page.printed).flatMap(({ heading, lines }) => [
      `${renderProse(heading)}:`,
      renderCodeLines(lines),
    ]),
    ...(omitted > 0 ? [`and ${formatCount(omitted, 'more failed iteration')}.`] : []),
  ];
}

function renderCodeLines(lines: readonly string[]): string {
  return lines.map((line) => `- ${renderCodeSpan(line)}`).join('\n');
}

function renderList(items: BlockOf<'list'>['items'], page: Page): string {
  return items.map((lines) => `- ${lines.map((line) => renderLine(line, page)).join('<br>\n  ')}`).join('\n');
}

function renderTable(head: readonly Line[], rows: ReadonlyArray<readonly Line[]>, page: Page): string {
  const list = (row: readonly Line[]) => row.map((cell) => escapeTableCell(renderLine(cell, page)));
  const titles = list(head).map((title) => (title === '' ? ' ' : ` ${title} `));
  return [
    `|${titles.join('|')}|`,
    `|${'---|'.repeat(titles.length)}`,
    ...rows.map((row) => `| ${list(row).join(' | ')} |`),
  ].join('\n');
}

/** Folds blocks. `summary` must be the gate's own text: inside an HTML block, Markdown's code spans would not protect foreign text. */
function fold(summary: string, blocks: readonly string[]): string[] {
  return [`<details>\n<summary>${summary}</summary>`, ...blocks, '</details>'];
}

function renderLine(line: Line, page: Page): string {
  return line.map((span) => renderSpan(span, page)).join('');
}

function renderSpan(span: Span, { linkLine }: Page): string {
  if (typeof span === 'string') return span;
  switch (span.kind) {
    case 'name':
    case 'code':
      return renderCodeSpan(span.text);
    case 'prose':
      return renderProse(span.text);
    case 'strong':
      return `**${span.text}**`;
    case 'link':
      return span.url.startsWith('https://')
        ? renderLink(span.label, span.url)
        : `${renderProse(span.label)}: ${renderCodeSpan(span.url)}`;
    case 'place':
      return renderLocation(span.place, linkLine);
    case 'mark':
      return marks[span.mark];
  }
}
