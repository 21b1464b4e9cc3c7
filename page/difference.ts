import type { Difference } from '../src/model/difference.ts';
import { type DifferenceRow, pairLines, type ShownLine, splitMarked } from '../src/report/differences.ts';
import { create, quote, say } from './dom.ts';

/** Shows a comparison: both sides next to each other, or one below the other where there is little room. */
export function createDifference(
  { what, lines }: Difference,
  [first, second]: readonly [string, string] = ['Expected', 'Actual'],
): HTMLElement {
  const head = create(
    'tr',
    {},
    create('th', { scope: 'col' }, say('Where')),
    create('th', { scope: 'col' }, `− ${first}`),
    create('th', { scope: 'col' }, `+ ${second}`),
  );
  return create(
    'figure',
    { class: 'difference' },
    // One element, because the caption has gaps between its parts.
    create('figcaption', {}, create('span', {}, 'Difference in ', quote(what))),
    create(
      'div',
      {
        class: 'scroll',
        tabindex: '0',
        role: 'group',
        'aria-label': `${first} and ${second.toLowerCase()}, line by line`,
      },
      create(
        'table',
        { class: 'sides' },
        create('thead', {}, head),
        create('tbody', {}, ...pairLines(lines).map((row) => createRow(row, [first, second]))),
      ),
    ),
  );
}

function createRow(row: DifferenceRow, [first, second]: readonly [string, string]): HTMLElement {
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
    createSide(expected, 'expected', `${first.toLowerCase()} only: `),
    createSide(actual, 'actual', `${second.toLowerCase()} only: `),
  );
}

function createSide(line: ShownLine | null, name: string, spoken: string): HTMLElement {
  if (line === null) return create('td', { class: 'none' });
  const parts = splitMarked(line).map(({ text, isMarked }) =>
    isMarked ? create('mark', {}, quote(text)) : quote(text),
  );
  return create('td', { class: name }, say(spoken), create('code', {}, ...parts));
}
