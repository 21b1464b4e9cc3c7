import type { CaseReport } from '../../model/case-report.ts';
import type { VerdictOutcome } from '../../model/verdict.ts';

// Imports only types, because the report's page includes this file, too.

/** The mark of an outcome, a requirement or a change. Each renderer draws it. */
export type Mark = VerdictOutcome | 'added' | 'minor';

/** A line of a file. */
export interface Place {
  file: string;
  line: number;
}

/**
 * A part of a line. A string is the gate's own text. Every other text may be foreign, so that only the escaper of a renderer prints it: a
 * `name` as it is, a `prose` as a sentence with names in it, a `code` as one line of output.
 */
export type Span =
  | string
  | { kind: 'name' | 'prose' | 'code'; text: string }
  | { kind: 'strong'; text: string }
  | { kind: 'link'; label: string; url: string }
  | { kind: 'place'; place: Place }
  | { kind: 'mark'; mark: Mark };

export type Line = readonly Span[];

export const asName = (text: string): Span => ({ kind: 'name', text });
export const asProse = (text: string): Span => ({ kind: 'prose', text });
export const asCode = (text: string): Span => ({ kind: 'code', text });
export const asMark = (mark: Mark): Span => ({ kind: 'mark', mark });

/** The least detail at which a block appears: even if only the title fits, in a comment, on a screen, in the job summary. */
export type Level = 'title' | 'brief' | 'screen' | 'full';

/** Cuts a list of a block to what the detail allows, at most `max`, and describes the rest in the gate's own words. */
export interface Cut {
  by: 'reasons' | 'notes' | 'rows';
  max?: number;
  rest: (hidden: number) => string;
}

/** A case in the words of every renderer. */
export interface CaseItem extends Pick<CaseReport, 'title' | 'failures'> {
  mark: VerdictOutcome;
  isPassed: boolean;
  /** What is special about it: `required`, `flaky, counts as failed`. */
  flags: readonly string[];
  /** `2 of 3` */
  passed: string;
  /** `2 of 3 passed; run again: 1 of 3` */
  counts: string;
  /** The outcomes of its iterations, `✓✗✓`; null if they are not known. */
  iterations: string | null;
  duration: string | null;
  place: Place | null;
  /** The number of failed iterations without kept evidence. */
  omitted: number;
}

/** A change of the tool surface in the words of every renderer. */
export interface ChangeItem {
  mark: Mark;
  severity: string;
  id: Span;
  message: Span;
  reason: Span;
  /** The texts before and after it, if the message does not contain them. */
  texts: readonly Line[];
  place: Span | null;
}

interface Blocks {
  /** The verdict and its decisive reason. `short` is the title where a mark and a colour say the rest. */
  verdict: {
    outcome: VerdictOutcome;
    title: string;
    short: string;
    job: string | null;
    part: string | null;
    why: Line | null;
  };
  /** Begins a part of the document. `lead` is what a reader wants to know of it. With `isLine`, it is a line in a brief document. */
  heading: { title: Line; lead: readonly Line[]; isLine: boolean };
  text: { line: Line; isFine: boolean };
  list: { items: ReadonlyArray<readonly Line[]>; cut: Cut | null };
  /** Notes of the gate for the reader. */
  notes: { items: readonly Line[]; cut: Cut | null };
  /** Lines that the server wrote. */
  output: { title: string; lines: readonly string[] };
  /** `foot` has the rows that are never cut. */
  table: { head: Line; rows: ReadonlyArray<readonly Line[]>; foot: ReadonlyArray<readonly Line[]>; cut: Cut | null };
  /** The cases of a suite, the worst first. `details` is the number of those whose failures are listed, `open` of those that are not folded. */
  cases: {
    failed: readonly CaseItem[];
    hidden: number;
    passed: readonly CaseItem[];
    passedCount: number;
    details: number;
    open: number;
  };
  changes: { changes: readonly ChangeItem[]; cut: Cut | null };
  /** `summary` is the gate's own text: inside HTML, no Markdown would protect foreign text. */
  fold: { summary: string; blocks: readonly Block[] };
  /** The end of the document. */
  footer: { lines: ReadonlyArray<{ level: Level; line: Line }> };
}

export type BlockKind = keyof Blocks;
export type BlockOf<K extends BlockKind> = { kind: K; level: Level } & Blocks[K];
/** A part of the document that a renderer lays out. To add a kind, add its fields here, and a function for it in each renderer. */
export type Block = { [K in BlockKind]: BlockOf<K> }[BlockKind];

export function text(level: Level, ...line: Span[]): Block {
  return { kind: 'text', level, line, isFine: false };
}

/** Creates a text that matters less than those around it. */
export function fineText(level: Level, ...line: Span[]): Block {
  return { kind: 'text', level, line, isFine: true };
}

export function heading(level: Level, title: Line, lead: readonly Line[] = [], { isLine = false } = {}): Block {
  return { kind: 'heading', level, title, lead, isLine };
}

/** Creates a table; none if it has no rows. */
export function table(
  level: Level,
  { head, rows, foot = [], cut = null }: Pick<BlockOf<'table'>, 'head' | 'rows'> & Partial<BlockOf<'table'>>,
): Block[] {
  return rows.length + foot.length === 0 ? [] : [{ kind: 'table', level, head, rows, foot, cut }];
}

/** Returns a line as plain text, for a reader that escapes it. */
export function toText(line: Line): string {
  return line
    .map((span) => {
      if (typeof span === 'string') return span;
      if (span.kind === 'link') return span.url;
      if (span.kind === 'place') return `${span.place.file}:${span.place.line}`;
      return span.kind === 'mark' ? '' : span.text;
    })
    .join('');
}
