import type { Difference } from '../src/model/difference.ts';
import { findPointer, type ShownLine, splitMarked } from '../src/report/differences.ts';
import { create, quote, say } from './dom.ts';

/** A row of a comparison: one line for both sides, or a line of each side that has one. */
type Row = { both: ShownLine } | { expected: ShownLine | null; actual: ShownLine | null; pointer: string | null };

/** Shows a comparison: expected and actual next to each other, or one below the other where there is little room. */
export function createDifference({ what, lines }: Difference): HTMLElement {
  const head = create(
    'tr',
    {},
    create('th', { scope: 'col' }, say('Where')),
    create('th', { scope: 'col' }, '− Expected'),
    create('th', { scope: 'col' }, '+ Actual'),
  );
  return create(
    'figure',
    { class: 'difference' },
    // One element, because the caption has gaps between its parts.
    create('figcaption', {}, create('span', {}, 'Difference in ', quote(what))),
    create(
      'div',
      { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Expected and actual, line by line' },
      create(
        'table',
        { class: 'sides' },
        create('thead', {}, head),
        create('tbody', {}, ...pairLines(lines).map(createRow)),
      ),
    ),
  );
}

function pairLines(lines: readonly ShownLine[]): Row[] {
  const rows: Row[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    if (line === undefined) break;
    const expected = takeSide(lines, at, 'expected');
    const actual = takeSide(lines, at + expected.length, 'actual');
    const pointer = findPointer(lines, at);
    for (let row = 0; row < Math.max(expected.length, actual.length); row += 1) {
      rows.push({
        expected: expected[row] ?? null,
        actual: actual[row] ?? null,
        pointer: row === 0 ? pointer : null,
      });
    }
    if (expected.length + actual.length === 0) rows.push({ both: line });
    at += Math.max(1, expected.length + actual.length);
  }
  return rows;
}

function takeSide(lines: readonly ShownLine[], from: number, side: ShownLine['side']): ShownLine[] {
  const end = lines.findIndex((line, index) => index >= from && line.side !== side);
  return lines.slice(from, end === -1 ? undefined : end);
}

function createRow(row: Row): HTMLElement {
  if ('both' in row) {
    const { side, text } = row.both;
    const cell = create('td', { colspan: '2' }, create('code', {}, quote(side === 'folded' ? `… ${text}` : text)));
    return create('tr', { class: side }, create('td', { class: 'at' }), cell);
  }
  const { expected, actual, pointer } = row;
  return create(
    'tr',
    {},
    create('td', { class: 'at' }, pointer === null ? null : quote(pointer)),
    createSide(expected, 'expected', 'expected only: '),
    createSide(actual, 'actual', 'actual only: '),
  );
}

function createSide(line: ShownLine | null, name: string, spoken: string): HTMLElement {
  if (line === null) return create('td', { class: 'none' });
  const parts = splitMarked(line).map(({ text, isMarked }) =>
    isMarked ? create('mark', {}, quote(text)) : quote(text),
  );
  return create('td', { class: name }, say(spoken), create('code', {}, ...parts));
}
