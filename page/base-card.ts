import type { BaseCaseComparison } from '../src/model/base-comparison.ts';
import { describeBase, describeChange, describePairs, explainChanges } from '../src/report/document/base.ts';
import { toText } from '../src/report/document/block.ts';
import { formatCounts } from '../src/report/document/baseline.ts';
import type { PageReport } from '../src/report/html/page-data.ts';
import { create, quote, createRows } from './dom.ts';

const maxRows = 6;

/** Shows every case on both sides, the base and the change that ran in the same job; null without a base. */
export function createBaseCard({ baseComparison }: PageReport): HTMLElement | null {
  if (baseComparison === null) return null;
  const { cases } = baseComparison;
  const pairs = describePairs(baseComparison);
  const explanation = explainChanges(cases);
  const { body, more } = createRows(cases.map(createRow), maxRows);
  const head = ['Result', 'Case', 'Base', 'Change'].map((text) => create('th', { scope: 'col' }, text));
  return create(
    'section',
    { class: 'card comparison' },
    create('h2', {}, 'Against the base'),
    create('p', {}, quote(toText(describeBase(baseComparison)))),
    pairs === null ? null : create('p', { class: 'fine' }, pairs),
    cases.length === 0
      ? null
      : create(
          'div',
          { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Cases in the base and in the change' },
          create('table', {}, create('thead', {}, create('tr', {}, ...head)), body),
        ),
    more,
    explanation === null ? null : create('p', { class: 'fine' }, explanation),
  );
}

function createRow(item: BaseCaseComparison): HTMLElement {
  const isSame = item.broken + item.fixed === 0;
  const change = isSame ? 'same' : describeChange(item);
  const mark = item.isWorse ? '✗' : isSame ? '=' : '~';
  return create(
    'tr',
    { class: item.isWorse ? 'regressed' : 'unchanged' },
    create('td', { class: 'change' }, create('span', { class: 'mark', 'aria-hidden': 'true' }, mark), change),
    create('td', {}, quote(item.title)),
    create('td', { class: 'count' }, formatCounts(item.base)),
    create('td', { class: 'count' }, formatCounts(item.head)),
  );
}
