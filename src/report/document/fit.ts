import { formatCount, readFirstLine } from '../../base/text.ts';
import { truncateText } from '../truncate.ts';
import {
  asCode,
  asMark,
  asName,
  asProse,
  type Block,
  type BlockKind,
  type BlockOf,
  type CaseItem,
  type ChangeItem,
  type Cut,
  type Level,
  type Line,
  type Span,
  text,
} from './block.ts';
import type { Section } from './document.ts';

/** How much of a document a reader gets. */
export interface Detail {
  level: Level;
  /** The number of suites. */
  suites: number;
  /** The number of cases of a suite that did not pass. */
  cases: number;
  /** The number of those whose failures are listed. */
  failures: number;
  /** The number of cases of a suite that passed; if there are more, they are only counted. */
  passed: number;
  /** The number of rows of every other table or list. */
  rows: number;
  /** The number of reasons, and of notes. */
  reasons: number;
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
  rows: Infinity,
  reasons: 10,
  name: 120,
  prose: 500,
};
const brief: Detail = {
  ...everything,
  level: 'brief',
  suites: 20,
  cases: 50,
  passed: 0,
  rows: 10,
  reasons: 4,
  name: 100,
  prose: 300,
};

/** The details of a text that has to fit a size, from the most to the least. A comment begins with the brief ones. */
export const ladder: readonly Detail[] = [
  everything,
  { ...everything, passed: 0 },
  { ...everything, passed: 0, cases: 100, failures: 20, rows: 50 },
  { ...everything, passed: 0, cases: 100, failures: 3, rows: 50 },
  brief,
  { ...brief, suites: 10, cases: 20 },
  { ...brief, suites: 5, cases: 5, rows: 5 },
  { ...brief, suites: 0, cases: 0, rows: 0, reasons: 1 },
  { ...brief, level: 'title' },
];

/** The detail of a terminal: more than a screen or two of cases is unreadable; the others are only counted, and are in the files. */
export const screen: Detail = {
  ...everything,
  level: 'screen',
  cases: 25,
  failures: 25,
  passed: 20,
  rows: 25,
  prose: 1000,
};

/** The detail of the frame of the HTML page. */
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

/** Leaves out of a document what the detail does not allow, counts it, and cuts long texts. */
export function trim(sections: readonly Section[], detail: Detail): Block[] {
  const suites = sections.filter(({ name }) => name === 'suite').length;
  const rest = text('brief', `${formatCount(suites - detail.suites, 'more suite')} not shown here.`);
  let seen = 0;
  return sections.flatMap(({ name, blocks }) => {
    if (name === 'suite') seen += 1;
    const isShown = name !== 'suite' || seen <= detail.suites;
    const shown = isShown ? blocks : seen === suites ? [rest] : [];
    return shown.flatMap((block) => trimBlock(block, detail));
  });
}

const ranks: Record<Level, number> = { title: 0, brief: 1, screen: 2, full: 3 };
const isIn = (level: Level, detail: Detail) => ranks[level] <= ranks[detail.level];

function trimBlock<K extends BlockKind>(block: BlockOf<K>, detail: Detail): Block[] {
  if (!isIn(block.level, detail)) return [];
  const trimKind: (block: BlockOf<K>, detail: Detail) => Block[] = trims[block.kind];
  return trimKind(block, detail);
}

const trims: { [K in BlockKind]: (block: BlockOf<K>, detail: Detail) => Block[] } = {
  verdict: (block, detail) => {
    if (detail.level === 'title') return [{ ...block, job: null, part: null, why: null }];
    const { job, why } = block;
    return [{ ...block, job: job === null ? null : truncateText(job, detail.name), why: why && cutLine(why, detail) }];
  },
  heading: (block, detail) => {
    const title = cutLine(block.title, detail);
    const lead = block.lead.map((line) => cutLine(line, detail));
    const [first] = lead;
    return detail.level === 'brief' && block.isLine
      ? [text('brief', ...title, ...(first === undefined ? ['.'] : [': ', ...first]))]
      : [{ ...block, title, lead }];
  },
  text: (block, detail) => [{ ...block, line: cutLine(block.line, detail) }],
  list: (block, detail) => {
    const { shown, rest } = cutList(block.items, block.cut, detail);
    const items = [
      ...shown.map((lines) => lines.map((line) => cutLine(line, detail))),
      ...rest.map((line) => [[line]]),
    ];
    return items.length === 0 ? [] : [{ ...block, items }];
  },
  notes: (block, detail) => {
    const { shown, rest } = cutList(block.items, block.cut, detail);
    const items = [...shown.map((line) => cutLine(line, detail)), ...rest.map((line) => [line])];
    return items.length === 0 ? [] : [{ ...block, items }];
  },
  output: (block) => [block],
  table: (block, detail) => {
    const { shown, rest } = cutList(block.rows, block.cut, detail);
    const cutRows = (rows: typeof block.rows) => rows.map((row) => row.map((cell) => cutLine(cell, detail)));
    const [rows, foot] = [cutRows(shown), cutRows(block.foot)];
    const head = cutLine(block.head, detail);
    return [
      ...(rows.length + foot.length === 0 ? [] : [{ ...block, head, rows, foot }]),
      ...rest.map((line) => text(block.level, line)),
    ];
  },
  cases: (block, detail) => {
    const isListed = block.passedCount <= detail.passed;
    const cut = (items: readonly CaseItem[]) =>
      items.map((item) => ({ ...item, title: truncateText(item.title, detail.name) }));
    const trimmed = {
      ...block,
      failed: cut(block.failed.slice(0, detail.cases)),
      hidden: Math.max(0, block.failed.length - detail.cases),
      passed: isListed ? cut(block.passed) : [],
      details: detail.failures,
    };
    return detail.level === 'brief' ? listBriefly(trimmed, detail) : [trimmed];
  },
  changes: (block, detail) => {
    const isBrief = detail.level === 'brief';
    const wanted = isBrief
      ? block.changes.filter(({ mark }) => mark === 'failed' || mark === 'inconclusive')
      : block.changes;
    const { shown, rest } = cutList(wanted, block.cut, detail);
    const changes = shown.map((change) => cutChange(change, detail));
    const items = changes.map(({ mark, message, id }): Line[] => [[asMark(mark), ' ', message, ' (', id, ')']]);
    return [
      ...(changes.length === 0
        ? []
        : isBrief
          ? [{ kind: 'list' as const, level: block.level, items, cut: null }]
          : [{ ...block, changes }]),
      ...rest.map((line) => text(block.level, line)),
    ];
  },
  fold: (block, detail) => {
    const blocks = block.blocks.flatMap((each) => trimBlock(each, detail));
    return blocks.length === 0 ? [] : [{ ...block, blocks }];
  },
  footer: (block, detail) => [
    {
      ...block,
      lines: block.lines
        .filter(({ level }) => isIn(level, detail))
        .map(({ level, line }) => ({ level, line: cutLine(line, detail) })),
    },
  ],
};

/** Lists the cases that did not pass, each with its first reason, for a reader who wants no more. */
function listBriefly({ level, failed, hidden, open }: BlockOf<'cases'>, detail: Detail): Block[] {
  const list = (cases: readonly CaseItem[]): Block[] =>
    cases.length === 0
      ? []
      : [{ kind: 'list', level, items: cases.map((item) => describeBriefly(item, detail)), cut: null }];
  const folded = failed.slice(open);
  const noun = open === 0 ? 'case' : 'more case';
  return [
    ...list(failed.slice(0, open)),
    ...(folded.length === 0
      ? []
      : [
          {
            kind: 'fold' as const,
            level,
            summary: `${formatCount(folded.length, noun)} did not pass`,
            blocks: list(folded),
          },
        ]),
    ...(hidden > 0 ? [text(level, `${formatCount(hidden, 'more case')} did not pass; the report lists them.`)] : []),
  ];
}

function describeBriefly({ mark, title, flags, counts, place, failures }: CaseItem, detail: Detail): Line[] {
  const reason = failures[0]?.reasons[0];
  return [
    [
      asMark(mark),
      ' ',
      asName(title),
      ...(flags.length === 0 ? [] : [` (${flags.join('; ')})`]),
      `: ${counts}`,
      ...(place === null ? [] : [' · ', { kind: 'place' as const, place }]),
    ],
    ...(reason === undefined ? [] : [[asCode(truncateText(readFirstLine(reason), detail.prose, { keepsEnd: true }))]]),
  ];
}

function cutList<T>(items: readonly T[], cut: Cut | null, detail: Detail): { shown: readonly T[]; rest: string[] } {
  if (cut === null) return { shown: items, rest: [] };
  // The first reason is in the verdict.
  const allowed = { rows: detail.rows, notes: detail.reasons, reasons: detail.reasons - 1 };
  const shown = items.slice(0, Math.min(allowed[cut.by], cut.max ?? Infinity));
  const hidden = items.length - shown.length;
  return { shown, rest: hidden === 0 ? [] : [cut.rest(hidden)] };
}

function cutChange(change: ChangeItem, detail: Detail): ChangeItem {
  return {
    ...change,
    id: cutSpan(change.id, detail),
    message: cutSpan(change.message, detail),
    reason: cutSpan(change.reason, detail),
    texts: change.texts.map((line) => cutLine(line, detail)),
  };
}

function cutLine(line: Line, detail: Detail): Line {
  return line.map((span) => cutSpan(span, detail));
}

function cutSpan(span: Span, { name, prose }: Detail): Span {
  if (typeof span === 'string') return span;
  if (span.kind === 'name') return asName(truncateText(span.text, name));
  return span.kind === 'prose' ? asProse(truncateText(span.text, prose, { keepsEnd: true })) : span;
}
