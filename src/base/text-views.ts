/** A text with one layer of encoding removed. It maps its positions back to the text that it was made from. */
export interface TextView {
  text: string;
  /** Finds the original position of the characters from `start` up to but not including `end`. */
  locate(range: { start: number; end: number }): { start: number; end: number };
}

/** A stretch of a view: copied character by character, or one character instead of a match. */
interface Piece {
  /** The position in the view. */
  from: number;
  /** The range in the original text. */
  start: number;
  end: number;
  isCopy: boolean;
}

const reference = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi;
const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Three layers of XML; text that is encoded more often is not decoded further. */
const maxDepth = 3;

/**
 * Lists the readings of a text with its character references decoded, and with base64 joined that MIME or PEM broke into lines (RFC 2045
 * §6.8, RFC 7468 §2). Empty if the text has neither.
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

/** Also matches line breaks that JSON escapes, at any depth. */
const lineBreak = /(?:[\r\n]|\\+[rn])+[ \t]*/g;
const wholeLine = /^[\w+/=-]{16}$/;

/** Joins only after a line without a blank in its last 16 characters, since a line of prose has one. */
function joinLines({ index, input }: RegExpExecArray): string | null {
  return wholeLine.test(input.slice(Math.max(0, index - 16), index)) ? '' : null;
}

/** Replaces each match by one character or by nothing; null if `read` replaces no match. */
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

/** Finds the last piece that begins at or before the index. */
function findPiece(pieces: readonly Piece[], index: number): Piece {
  let [low, high] = [0, pieces.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((pieces[middle]?.from ?? Infinity) <= index) low = middle;
    else high = middle - 1;
  }
  return pieces[low] ?? { from: 0, start: 0, end: 0, isCopy: true };
}
