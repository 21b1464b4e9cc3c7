import { styleText } from 'node:util';
import { formatCount } from '../base/text.ts';
import type { Report } from '../model/report.ts';
import {
  type Block,
  type BlockKind,
  type BlockOf,
  type CaseItem,
  type ChangeItem,
  type Line,
  type Mark,
  type Span,
  toText,
} from './document/block.ts';
import { renderDocument } from './document/document.ts';
import { screen, trim } from './document/fit.ts';
import { escapeTerminalText } from './escape/log.ts';
import { groupFailures, keyOutput, type PrintedOutput } from './failures.ts';

export interface TerminalOptions {
  color: boolean;
  /** The width of the terminal. */
  columns?: number;
}

interface Page {
  columns: number;
  paint: (format: Parameters<typeof styleText>[0], text: string) => string;
  /** The output of servers that is above already. */
  printed: PrintedOutput;
}

/** Each is one UTF-16 unit. */
const marks: Record<Mark, string> = { passed: '✓', failed: '✗', inconclusive: '!', added: '+', minor: '·' };
const colors = { passed: 'green', failed: 'red', inconclusive: 'yellow', added: 'green', minor: 'dim' } as const;

/**
 * Renders the result for a person at a terminal: the verdict and its reason, the failing cases in detail, the passing cases in brief, the
 * totals.
 */
export function renderTerminal(report: Report, options: TerminalOptions): string {
  return renderTerminalBlocks(trim(renderDocument(report), screen), options);
}

/** Renders blocks for a terminal. Escapes foreign text for terminals and for the runner's log. */
export function renderTerminalBlocks(blocks: readonly Block[], { color, columns = 120 }: TerminalOptions): string {
  const page: Page = {
    columns: Math.max(40, columns),
    paint: (format, text) => (color ? styleText(format, text, { validateStream: false }) : text),
    printed: new Map(),
  };
  return `${renderBlocks(blocks, page).join('\n').trimStart()}\n`;
}

function renderBlocks(blocks: readonly Block[], page: Page): string[] {
  return blocks.flatMap((block) => renderBlock(block, page));
}

function renderBlock<K extends BlockKind>(block: BlockOf<K>, page: Page): string[] {
  const render: (block: BlockOf<K>, page: Page) => string[] = renderers[block.kind];
  return render(block, page);
}

const renderers: { [K in BlockKind]: (block: BlockOf<K>, page: Page) => string[] } = {
  verdict: ({ outcome, short, why, part }, page) => {
    const title = page.paint(['bold', colors[outcome]], `${marks[outcome]} ${short}`);
    return [
      why === null ? title : `${title}: ${escapeLine(why)}`,
      ...(part === null ? [] : wrapText(part, { ...page, indent: 2 })),
    ];
  },
  heading: ({ title, lead }, page) => {
    // Uses no mark: those of the cases below it say the same.
    const isMark = (span: Span) => typeof span !== 'string' && span.kind === 'mark';
    const text = page.paint('bold', escapeLine(title.filter((span) => !isMark(span))).trimStart());
    const [first, ...others] = lead;
    return [
      '',
      first === undefined ? text : `${text}  ${escapeLine(first)}`,
      ...others.map((line) => `  ${page.paint('dim', escapeLine(line))}`),
    ];
  },
  text: ({ line, isFine }, page) => {
    const lines = wrapLine(line, page, 2);
    return isFine ? lines.map((text) => page.paint('dim', text)) : lines;
  },
  list: ({ items }, page) => items.flatMap((lines) => lines.flatMap((line) => wrapLine(line, page, 2))),
  notes: ({ items }, page) => items.flatMap((line) => wrapLine(line, page, 2)),
  output: ({ title, lines }, page) => {
    page.printed.set(keyOutput(lines), 'under the verdict');
    return [`  ${title}:`, ...lines.flatMap((line) => wrapText(line, { ...page, indent: 4 }))];
  },
  table: ({ head, rows, foot }, page) => {
    const cells: Array<readonly Line[]> = [head.map((cell) => [cell]), ...rows, ...foot];
    const measure = (row: readonly Line[]) => row.map((cell) => escapeLine(cell).length);
    const isNarrow = (widths: readonly number[]) => widths.reduce((sum, width) => sum + 2 + width, 0) <= page.columns;
    // Long rows are wrapped, and the columns are those of the others.
    const measured = cells.map((row) => measure(row)).filter(isNarrow);
    const widths = head.map((_, column) => Math.max(0, ...measured.map((row) => row[column] ?? 0)));
    return cells.flatMap((row, index) => {
      const line =
        isNarrow(widths) && isNarrow(measure(row))
          ? [`  ${row.map((cell, column) => drawCell(cell, widths[column] ?? 0, page)).join('  ')}`.trimEnd()]
          : wrapText(
              row
                .map(drawLine)
                .filter((text) => text !== '')
                .join('  '),
              { ...page, indent: 2 },
            ).map((text) => text.trimEnd());
      return index === 0 ? line.map((text) => page.paint('dim', text)) : line;
    });
  },
  cases: ({ failed, hidden, passed, passedCount }, page) => [
    ...failed.flatMap((item) => renderCase(item, page)),
    ...(hidden > 0 ? [`  and ${formatCount(hidden, 'more case')} that did not pass`] : []),
    ...passed.map((item) => renderCaseLine(item, page)),
    ...(passed.length === 0 && passedCount > 0
      ? [`  ${page.paint(colors.passed, marks.passed)} ${formatCount(passedCount, 'case')} passed`]
      : []),
  ],
  changes: ({ changes }, page) => changes.flatMap((change) => renderChange(change, page)),
  fold: ({ summary, blocks }, page) => [`  ${summary}`, ...renderBlocks(blocks, page)],
  footer: ({ lines }) => ['', ...lines.map(({ line }) => escapeLine(line))],
};

function renderCase(item: CaseItem, page: Page): string[] {
  return [
    renderCaseLine(item, page),
    ...groupFailures(item, page.printed).flatMap(({ heading, lines }) => [
      `      ${page.paint('dim', escapeTerminalText(heading))}`,
      ...lines.flatMap((line) => wrapText(line, { ...page, indent: 8 })),
    ]),
    ...(item.omitted > 0 ? [`      and ${formatCount(item.omitted, 'more failed iteration')}`] : []),
  ];
}

function renderCaseLine({ mark, isPassed, title, counts, flags, duration, place }: CaseItem, page: Page): string {
  const where = isPassed || place === null ? [] : [escapeLine([{ kind: 'place', place }])];
  const notes = [...flags, ...where, ...(isPassed && duration !== null ? [duration] : [])];
  return [
    `  ${page.paint(colors[mark], marks[mark])} ${escapeTerminalText(title)}`,
    counts,
    ...notes.map((note) => page.paint('dim', note)),
  ].join('  ');
}

function renderChange({ mark, severity, id, message, texts, place, reason }: ChangeItem, page: Page): string[] {
  return [
    `  ${page.paint(colors[mark], `${marks[mark]} ${severity}`)}  ${escapeLine([id])}`,
    ...wrapLine([message, '.', ...(place === null ? [] : [' ', place])], page, 6),
    ...texts.flatMap((line) => wrapLine(line, page, 6)),
    ...wrapLine([reason], page, 6).map((text) => page.paint('dim', text)),
  ];
}

function drawLine(line: Line): string {
  return line
    .map((span) => (typeof span !== 'string' && span.kind === 'mark' ? marks[span.mark] : toText([span])))
    .join('');
}

function escapeLine(line: Line): string {
  return escapeTerminalText(drawLine(line));
}

/** Draws a cell of a table with that width. Colours its mark, if it begins with one. */
function drawCell(cell: Line, width: number, page: Page): string {
  return paintMark(cell, escapeLine(cell).padEnd(width), page);
}

function wrapLine(line: Line, page: Page, indent: number): string[] {
  const [first = '', ...others] = wrapText(drawLine(line), { ...page, indent });
  return [`${first.slice(0, indent)}${paintMark(line, first.slice(indent), page)}`, ...others];
}

/** Colours the mark that a line begins with. */
function paintMark([first]: Line, text: string, page: Page): string {
  if (first === undefined || typeof first === 'string' || first.kind !== 'mark') return text;
  return `${page.paint(colors[first.mark], text.slice(0, 1))}${text.slice(1)}`;
}

/**
 * Escapes a text and breaks it at spaces so that each line, including its indentation, is at most `columns` wide if the words allow it. Lines
 * after the first are indented by two more. Escapes each line again, because a break may have moved the middle of the text to the start of a line.
 */
function wrapText(text: string, { columns, indent }: { columns: number; indent: number }): string[] {
  const lines: string[] = [];
  let current = ' '.repeat(indent);
  let isEmpty = true;
  for (const word of escapeTerminalText(text).split(' ')) {
    if (!isEmpty && current.length + 1 + word.length > columns) {
      lines.push(current);
      current = `${' '.repeat(indent + 2)}${word}`;
    } else {
      current += isEmpty ? word : ` ${word}`;
    }
    isEmpty = false;
  }
  return [...lines, current].map(escapeTerminalText);
}
