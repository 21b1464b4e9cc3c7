/** A text without an encoding around it, in which a part of the text that it was made of is known by its place. */
export interface TextView {
  text: string;
  /** Where the characters from `start` up to but not including `end` were. */
  locate(range: { start: number; end: number }): { start: number; end: number };
}

/** A stretch of a view: copied character by character, or one character instead of a match. */
interface Piece {
  /** In the view. */
  from: number;
  /** In the text. */
  start: number;
  end: number;
  isCopy: boolean;
}

const reference = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi;
const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** XML in XML in XML: what is decoded more often is no longer read. */
const maxDepth = 3;

/**
 * Lists how a text reads with its character references decoded, and with base64 joined that was broken into lines, as MIME and PEM
 * write it (RFC 2045 §6.8, RFC 7468 §2). Empty for a text that has neither.
 */
export function listTextViews(text: string): TextView[] {
  const whole: TextView = { text, locate: (range) => range };
  const decoded: TextView[] = [];
  for (let view: TextView | null = whole; view !== null && decoded.length < maxDepth;) {
    view = view.text.includes('&') ? rewrite(view, reference, readReference) : null;
    if (view !== null) decoded.push(view);
  }
  return [...decoded, ...[whole, ...decoded].flatMap((view) => rewrite(view, lineBreak, joinLines) ?? [])];
}

function readReference([, decimal, hex, name]: RegExpExecArray): string | null {
  if (name !== undefined) return named[name.toLowerCase()] ?? null;
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return code <= 0xffff ? String.fromCharCode(code) : null;
}

/** Also as JSON and what is around JSON write it. */
const lineBreak = /(?:[\r\n]|\\+[rn])+[ \t]*/g;
const wholeLine = /^[\w+/=-]{16}$/;

/** A line of prose has a blank before it is as long as this. */
function joinLines({ index, input }: RegExpExecArray): string | null {
  return wholeLine.test(input.slice(Math.max(0, index - 16), index)) ? '' : null;
}

/** Replaces what matches by one character or by nothing; null where `read` replaces nothing. */
function rewrite(source: TextView, pattern: RegExp, read: (match: RegExpExecArray) => string | null): TextView | null {
  const pieces: Piece[] = [];
  let text = '';
  let copied = 0;
  const copy = (end: number) => {
    if (end > copied) pieces.push({ from: text.length, start: copied, end, isCopy: true });
    text += source.text.slice(copied, end);
  };
  for (const match of source.text.matchAll(pattern)) {
    const value = read(match);
    if (value === null) continue;
    copy(match.index);
    copied = match.index + match[0].length;
    if (value !== '') pieces.push({ from: text.length, start: match.index, end: copied, isCopy: false });
    text += value;
  }
  if (copied === 0) return null;
  copy(source.text.length);
  const place = (index: number): { start: number; end: number } => {
    const { from, start, end, isCopy } = findPiece(pieces, index);
    return isCopy ? { start: start + index - from, end: start + index - from + 1 } : { start, end };
  };
  return {
    text,
    locate: ({ start, end }) => source.locate({ start: place(start).start, end: place(end - 1).end }),
  };
}

/** The last piece that begins at the index or before it. */
function findPiece(pieces: readonly Piece[], index: number): Piece {
  let [low, high] = [0, pieces.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((pieces[middle]?.from ?? Infinity) <= index) low = middle;
    else high = middle - 1;
  }
  return pieces[low] ?? { from: 0, start: 0, end: 0, isCopy: true };
}
