import type { CaseReport } from '../../model/case-report.ts';
import type { Difference } from '../../model/difference.ts';
import type { VerdictOutcome } from '../../model/verdict.ts';

// Imports only types, because the report's page includes this file, too.

/** The mark of an outcome, a requirement or a change. Each renderer draws it. */
export type Mark = VerdictOutcome | 'added' | 'minor';

/**
 * A part of a line. A string is the gate's own text. Every other text may be foreign, so that only the escaper of a renderer prints it: a
 * `name` as it is, a `prose` as a sentence with names in it, a `code` as one line of output, a `command` whole.
 */
export type Span =
  | string
  | { kind: 'name' | 'prose' | 'code' | 'command' | 'strong'; text: string }
  | { kind: 'link'; label: string; url: string }
  | { kind: 'place'; file: string; line: number }
  | { kind: 'mark'; mark: Mark };

export type Line = readonly Span[];

export const asName = (text: string): Span => ({ kind: 'name', text });
export const asProse = (text: string): Span => ({ kind: 'prose', text });
export const asCode = (text: string): Span => ({ kind: 'code', text });
export const asCommand = (text: string): Span => ({ kind: 'command', text });
export const asMark = (mark: Mark): Span => ({ kind: 'mark', mark });
export const asPlace = ({ file, line }: { file: string; line: number }): Span => ({ kind: 'place', file, line });

/** Introduces the command that runs a case again. */
export const repeatLabel = 'Run it again';

/** Introduces the command that makes its first call with the MCP Inspector. */
export const inspectLabel = 'Inspect it';

/** A case in the words of every renderer. */
export interface CaseItem extends Pick<CaseReport, 'title' | 'failures'> {
  mark: VerdictOutcome;
  isPassed: boolean;
  /** False if no iteration of it began. */
  hasRun: boolean;
  /** What is special about it: `required`, `flaky, counts as failed`. */
  flags: readonly string[];
  /** `2 of 3` */
  passed: string;
  /** `2 of 3 passed; run again: 1 of 3` */
  counts: string;
  /** The outcomes of its iterations, `✓✗✓`; null if they are not known. */
  iterations: string | null;
  duration: string | null;
  place: Span | null;
  /** The number of failed iterations without kept evidence. */
  omitted: number;
  /** The command that runs only this case; null if it passed, or if there is none. */
  repeat: string | null;
  /** The command that makes its first call with the MCP Inspector; null if it passed, or if there is none. */
  inspection: string | null;
}

/** A change of the tool surface in the words of every renderer. */
export interface ChangeItem {
  mark: Mark;
  severity: string;
  id: Span;
  message: Span;
  reason: Span;
  /** Names the others that say the same, in a sentence; empty for none. */
  alike: Line;
  /** The texts before and after it, if the message does not contain them. */
  texts: readonly Line[];
  /** What differs between these texts, word by word; absent if the message contains them. */
  difference?: Difference;
  place: Span | null;
}

/** A list that is cut to the number of items that the detail has for `by`, and folded beyond `open` items. */
export interface Listed<T> {
  items: readonly T[];
  by: 'reasons' | 'notes' | 'cases' | 'passed' | 'rows';
  open?: number;
  /** The gate's own words for the items: `case`, and ` did not pass`. */
  noun: string;
  what?: string;
}

interface Blocks {
  /** The verdict and its decisive reason. `short` is the title next to a mark and a colour. */
  verdict: {
    outcome: VerdictOutcome;
    title: string;
    short: string;
    job: Span | null;
    part: string | null;
    why: Line | null;
  };
  /** Begins a part of the document. `lead` is what a reader wants to know of it first. */
  heading: { title: Line; lead: readonly Line[] };
  /** A paragraph; a fine one matters less than those around it. */
  text: { line: Line; isFine?: boolean };
  /** The command that runs again what failed. */
  repeat: { label: string; command: string };
  /** Lines that the server wrote. */
  output: { title: string; lines: readonly string[] };
  /** Each item has one line or several. */
  list: Listed<readonly Line[]>;
  /** Notes of the gate for the reader. */
  notes: Listed<Line>;
  /** `foot` has the rows that are never cut. */
  table: Listed<readonly Line[]> & { head: Line; foot?: ReadonlyArray<readonly Line[]> };
  /** The cases that did not pass, the worst first, with their failures. */
  cases: Listed<CaseItem>;
  passed: Listed<CaseItem>;
  /** `why` is the title of the reasons. */
  changes: Listed<ChangeItem> & { why?: string };
  /** The end of the document. */
  footer: { lines: readonly Line[] };
}

/** A detail of the document: the title alone, a comment, a screen, the job summary. */
export type Level = 'title' | 'brief' | 'screen' | 'full';

/** The least and the most detail at which a block appears. */
interface Leveled {
  from: Level;
  upTo?: Level;
}

export type BlockKind = keyof Blocks;
export type BlockOf<K extends BlockKind> = { kind: K } & Leveled & Blocks[K];
/** A part of the document that a renderer lays out. A new kind has its fields here, and a function in each table of `Renderers`. */
export type Block = { [K in BlockKind]: BlockOf<K> }[BlockKind];

/** How a renderer lays out each kind of block. */
export type Renderers<P> = { [K in BlockKind]: (block: BlockOf<K>, page: P) => string[] };

/** Renders blocks, one after the other. */
export function renderBlocks<P>(blocks: readonly Block[], renderers: Partial<Renderers<P>>, page: P): string[] {
  const render = <K extends BlockKind>(block: BlockOf<K>) => renderers[block.kind]?.(block, page) ?? [];
  return blocks.flatMap((block) => render(block));
}

export function text(from: Level, ...line: Span[]): BlockOf<'text'> {
  return { kind: 'text', from, line };
}

export function heading(from: Level, title: Line, lead: readonly Line[] = []): Block {
  return { kind: 'heading', from, title, lead };
}

type Words = Pick<Listed<unknown>, 'noun' | 'what' | 'open'>;

export function list(from: Level, items: readonly Line[], words: Words): Block {
  return { kind: 'list', from, items: items.map((line) => [line]), by: 'rows', ...words };
}

export function table(
  from: Level,
  head: Line,
  items: ReadonlyArray<readonly Line[]>,
  words: Words & Pick<BlockOf<'table'>, 'foot'>,
): Block {
  return { kind: 'table', from, head, items, by: 'rows', ...words };
}

/** Makes a block appear only where a reader wants no more. */
export function briefly(block: Block): Block {
  return { ...block, upTo: 'brief' };
}

/** Joins lines into one. */
export function joinLines(lines: readonly Line[], separator: string): Line {
  return lines.flatMap((line, index) => (index === 0 ? line : [separator, ...line]));
}

/** Returns the texts of a line, for a reader that escapes them. */
export function toText(line: Line): string {
  return line.map((span) => (typeof span === 'string' ? span : 'text' in span ? span.text : '')).join('');
}
