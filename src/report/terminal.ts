import { styleText } from 'node:util';
import { formatCount } from '../base/text.ts';
import type { IterationFailure } from '../model/case-report.ts';
import { lastLinesHeading } from '../model/process-end.ts';
import type { Difference } from '../model/difference.ts';
import type { Report } from '../model/report.ts';
import {
  asName,
  asPlace,
  type Block,
  type CaseItem,
  type ChangeItem,
  type Line,
  type Mark,
  inspectLabel,
  repeatLabel,
} from './document/block.ts';
import { type Renderers, renderBlocks, type Span } from './document/block.ts';
import { renderDocument, type Section } from './document/document.ts';
import { type Detail, readSpan, screen, trim } from './document/fit.ts';
import { escapeTerminalText } from './escape/log.ts';
import { changeLabel, findPointer, signs, signsLabel, splitMarked } from './differences.ts';
import { notePrinted, groupFailures, listCode, type PrintedOutput, sourceLabel } from './failures.ts';

export interface TerminalOptions {
  color: boolean;
  /** The width of the terminal. */
  columns?: number;
}

interface Page {
  detail: Detail;
  columns: number;
  hasColor: boolean;
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
export function renderTerminal(report: Report, { part, ...options }: TerminalOptions & { part?: LogPart }): string {
  const isVerdict = ({ name }: Section) => name === 'verdict' || name === 'totals';
  const sections = renderDocument(report).filter(
    (section) => part === undefined || isVerdict(section) === (part === 'verdict'),
  );
  return renderTerminalBlocks(trim(sections, screen), screen, options);
}

/** The verdict with the totals, or everything else. A job's log is opened at its end, so that the verdict is there. */
export type LogPart = 'verdict' | 'rest';

/** Renders blocks for a terminal. Escapes foreign text for terminals and for the runner's log. */
export function renderTerminalBlocks(
  blocks: readonly Block[],
  detail: Detail,
  { color, columns = 120 }: TerminalOptions,
): string {
  const page: Page = {
    detail,
    columns: Math.max(40, columns),
    hasColor: color,
    paint: (format, text) => (color ? styleText(format, text, { validateStream: false }) : text),
    printed: new Map(),
  };
  return `${renderBlocks(blocks, renderers, page).join('\n').trimStart()}\n`;
}

const renderers: Renderers<Page> = {
  verdict: ({ outcome, short, why, part }, page) => {
    const title = `${marks[outcome]} ${short}`;
    const [first = '', ...others] = wrapLine([title, ...(why === null ? [] : [': ', ...why])], page, 0);
    const painted = page.paint(['bold', colors[outcome]], title);
    return [`${painted}${first.slice(title.length)}`, ...others, ...(part === null ? [] : wrapText(part, page, 2))];
  },
  heading: ({ title, lead }, page) => {
    // Uses no mark: those of the cases below it say the same.
    const isMark = (span: Span) => typeof span !== 'string' && span.kind === 'mark';
    const unmarked = title.filter((span) => !isMark(span));
    const [first = [], ...others] = lead;
    const [name, rate] = [drawLine(unmarked, page).trimStart(), drawLine(first, page)];
    const fits = name.length + 2 + rate.length <= page.columns;
    return [
      '',
      ...(fits
        ? [`${page.paint('bold', name)}  ${rate}`.trimEnd()]
        : [...wrapText(name, page, 0).map((line) => page.paint('bold', line.trimEnd())), ...wrapLine(first, page, 2)]),
      ...others.flatMap((line) => wrapLine(line, page, 2)).map((text) => page.paint('dim', text)),
    ];
  },
  text: ({ line, isFine }, page) => {
    const lines = wrapLine(line, page, 2);
    return isFine ? lines.map((text) => page.paint('dim', text)) : lines;
  },
  list: ({ items }, page) => items.flatMap((lines) => lines.flatMap((line) => wrapLine(line, page, 2))),
  notes: ({ items }, page) => items.flatMap((line) => wrapLine(line, page, 2)),
  // Each case ends with a command of its own, and `run --failed` runs them all.
  repeat: () => [],
  output: ({ title, lines }, page) => {
    notePrinted(page.printed, lines, 'under the verdict');
    return [`  ${title}:`, ...lines.flatMap((line) => wrapText(line, page, 4))];
  },
  table: ({ head, items, foot = [] }, page) => renderTable([head.map((cell) => [cell]), ...items, ...foot], page),
  cases: ({ items }, page) => items.flatMap((item) => renderCase(item, page)),
  passed: ({ items }, page) => items.flatMap((item) => renderCaseLine(item, page)),
  changes: ({ items, why }, page) => items.flatMap((change) => renderChange(change, why, page)),
  footer: ({ lines }, page) => ['', ...lines.flatMap((line) => wrapLine(line, page, 0))],
};

function renderCase(item: CaseItem, page: Page): string[] {
  return [
    ...renderCaseLine(item, page),
    ...groupFailures(item, page.printed).flatMap(({ heading, lines, output, differences, source }) => [
      `      ${page.paint('dim', escapeTerminalText(heading))}`,
      ...[...lines, ...(output.length === 0 ? [] : [lastLinesHeading])].flatMap((line) => wrapText(line, page, 8)),
      ...output.flatMap((line) => wrapText(line, page, 10)),
      ...(source === null ? [] : renderSource(source, page)),
      ...differences.flatMap((difference) => renderDifference(difference, page)),
    ]),
    ...(item.omitted > 0 ? [`      and ${formatCount(item.omitted, 'more failed iteration')}`] : []),
    // Never wrapped: a person copies it as one line.
    ...(item.repeat === null
      ? []
      : [`      ${page.paint('dim', `${repeatLabel}:`)} ${escapeTerminalText(item.repeat)}`]),
    ...(item.inspection === null
      ? []
      : [`      ${page.paint('dim', `${inspectLabel}:`)} ${escapeTerminalText(item.inspection)}`]),
  ];
}

function renderSource(source: NonNullable<IterationFailure['source']>, page: Page): string[] {
  return [
    ...wrapLine([`${sourceLabel} `, asPlace(source)], page, 8),
    ...listCode(source).map((line) => {
      const text = escapeTerminalText(`        ${line.slice(0, Math.max(0, page.columns - 8))}`);
      return line.startsWith('>') ? page.paint('red', text) : page.paint('dim', text);
    }),
  ];
}

const sideColors = { both: 'dim', folded: 'dim', expected: 'red', actual: 'green' } as const;

/** Renders a comparison. Colours inverted say which words differ; without colours, a line of carets does. */
function renderDifference({ what, lines }: Difference, page: Page, label = signsLabel): string[] {
  const indent = ' '.repeat(8);
  return [
    ...wrapText(`${what} (${label}):`, page, 8),
    ...lines.flatMap((line, index) => {
      const pointer = findPointer(lines, index);
      const format = sideColors[line.side];
      const parts = escapeParts(splitMarked(line));
      const isUnderlined = !page.hasColor && isPartly(parts);
      const drawn = breakParts(parts, page.columns - indent.length - 2).flatMap((broken, row) => {
        const piece = escapeParts(broken);
        const painted = piece.map(({ text, isMarked }) => page.paint(isMarked ? [format, 'inverse'] : format, text));
        const sign = page.paint(format, row === 0 ? `${signs[line.side]} ` : '  ');
        return [
          `${indent}${sign}${painted.join('')}`.trimEnd(),
          ...(isUnderlined ? drawCarets(piece, indent.length + 2) : []),
        ];
      });
      return [...(pointer === null ? [] : drawPointer(pointer, page).map((row) => `${indent}${row}`)), ...drawn];
    }),
  ];
}

function drawPointer(pointer: string, page: Page): string[] {
  const rows = breakParts([{ text: pointer, isMarked: false }], page.columns - 10).map(escapeParts);
  return rows.map((parts, row) =>
    page.paint('dim', `${row === 0 ? '@ ' : '  '}${parts.map(({ text }) => text).join('')}`),
  );
}

/** A part of a line, which differs if it is marked. */
interface Part {
  text: string;
  isMarked: boolean;
}

/** Escapes a row. Two harmless parts may be a command together, and so may the start of a row. */
function escapeParts(parts: readonly Part[]): Part[] {
  const cut = parts.map(({ text, isMarked }) => ({ text: escapeTerminalText(text), isMarked }));
  const whole = escapeTerminalText(parts.map(({ text }) => text).join(''));
  return cut.map(({ text }) => text).join('') === whole ? cut : [{ text: whole, isMarked: false }];
}

/** Breaks a line into rows of at most this many characters. Unlike a sentence, it is shown as it is, so that it breaks anywhere. */
function breakParts(parts: readonly Part[], width: number): Part[][] {
  const most = Math.max(width, 20);
  const rows: Part[][] = [[]];
  let left = most;
  for (const { text, isMarked } of parts) {
    let row = '';
    const end = () => {
      if (row !== '') rows.at(-1)?.push({ text: row, isMarked });
      row = '';
    };
    for (const character of text) {
      if (character.length > left) {
        end();
        rows.push([]);
        left = most;
      }
      row += character;
      left -= character.length;
    }
    end();
  }
  return rows;
}

/** True for a long line of which some parts differ. A short one needs no underline. */
function isPartly(parts: readonly Part[]): boolean {
  const length = parts.reduce((sum, { text }) => sum + text.length, 0);
  return length >= shortestUnderlined && new Set(parts.map(({ isMarked }) => isMarked)).size > 1;
}

/** Underlines the marked parts of a row. */
function drawCarets(parts: readonly Part[], indent: number): string[] {
  const carets = parts
    .map(({ text, isMarked }) => (isMarked ? '^' : ' ').repeat(text.length))
    .join('')
    .trimEnd();
  return carets === '' ? [] : [`${' '.repeat(indent)}${carets}`];
}

const shortestUnderlined = 30;

/** Renders the name of a case with what is to be said of it, on a line of its own if both do not fit on one. */
function renderCaseLine({ mark, isPassed, title, counts, flags, duration, place }: CaseItem, page: Page): string[] {
  const last = isPassed ? duration : place === null ? null : drawLine([place], page);
  const name = wrapText(`${marks[mark]} ${drawLine([asName(title)], page)}`, page, 2);
  const [first = '', ...others] = name;
  const painted = [`  ${page.paint(colors[mark], marks[mark])}${first.slice(3)}`, ...others];
  const notes = [...flags, ...(last === null ? [] : [last])];
  const facts = [counts, ...notes.map((note) => page.paint('dim', note))].join('  ');
  const isOneLine = others.length === 0 && [first, counts, ...notes].join('  ').length <= page.columns;
  return isOneLine ? [`${painted.join('')}  ${facts}`] : [...painted.map((line) => line.trimEnd()), `      ${facts}`];
}

function renderChange(
  { mark, severity, id, message, alike, texts, difference, place, reason }: ChangeItem,
  why: string | undefined,
  page: Page,
): string[] {
  return [
    `  ${page.paint(colors[mark], `${marks[mark]} ${severity}`)}  ${drawLine([id], page)}`,
    ...wrapLine([message, '.', ...(place === null ? [] : [' ', place])], page, 6),
    ...(alike.length === 0 ? [] : wrapLine(alike, page, 6)),
    ...(difference === undefined
      ? texts.flatMap((line) => wrapLine(line, page, 6))
      : renderDifference(difference, page, changeLabel)),
    ...wrapLine([...(why === undefined ? [] : [`${why}: `]), reason], page, 6).map((text) => page.paint('dim', text)),
  ];
}

/** Renders rows in columns, the first dim, as the head. A row that is too long is wrapped, and has no part in the widths of the columns. */
function renderTable(rows: ReadonlyArray<readonly Line[]>, page: Page): string[] {
  const texts = rows.map((row) => row.map((cell) => drawLine(cell, page)));
  const fits = (widths: readonly number[]) => widths.reduce((sum, width) => sum + 2 + width, 0) <= page.columns;
  const lengths = texts.map((row) => row.map(({ length }) => length));
  const widths = lengths
    .filter(fits)
    .reduce((widest, row) => row.map((width, column) => Math.max(width, widest[column] ?? 0)), []);
  return texts.flatMap((row, index) => {
    const cells = row.map((text, column) =>
      paintMark(rows[index]?.[column] ?? [], text.padEnd(widths[column] ?? 0), page),
    );
    const lines =
      fits(widths) && fits(lengths[index] ?? [])
        ? [`  ${cells.join('  ')}`.trimEnd()]
        : wrapText(row.filter((text) => text !== '').join('  '), page, 2).map((text) => text.trimEnd());
    return index === 0 ? lines.map((text) => page.paint('dim', text)) : lines;
  });
}

function drawSpan(span: Span, { detail }: Page): string {
  return typeof span !== 'string' && span.kind === 'mark' ? marks[span.mark] : readSpan(span, detail);
}

/** Draws a line, escaped. */
function drawLine(line: Line, page: Page): string {
  return escapeTerminalText(line.map((span) => drawSpan(span, page)).join(''));
}

function wrapLine(line: Line, page: Page, indent: number): string[] {
  const [first = '', ...others] = wrapText(line.map((span) => drawSpan(span, page)).join(''), page, indent);
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
function wrapText(text: string, { columns }: Page, indent: number): string[] {
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
