import type { CaseChange } from '../src/model/case-change.ts';
import type { CaseComparison, RateChange } from '../src/model/comparison.ts';
import type { PageReport } from '../src/report/html/page-data.ts';
import {
  describeBaseline,
  describeChanges,
  describeRateChanges,
  describeRates,
  describeSmallestFalls,
  formatCounts,
  formatCurrent,
} from '../src/report/document/baseline.ts';
import { toText } from '../src/report/document/block.ts';
import { create, createSvg, quote, createRows } from './dom.ts';

const changeMarks: Record<CaseChange, string> = {
  regressed: '✗',
  unsteady: '~',
  changed: '≠',
  unscored: '?',
  new: '+',
  removed: '−',
  fixed: '✓',
  unchanged: '=',
};
const maxRows = 6;

/** Shows how the cases changed since the baseline; null without one. */
export function createComparisonCard({ comparison, suites }: PageReport): HTMLElement | null {
  if (comparison === null) return null;
  const { source, rest } = describeBaseline(comparison);
  const names = new Map(suites.map(({ id, name }) => [id, name]));
  const nameSuite = (id: string) => names.get(id) ?? id;
  const rates = describeRates(comparison);
  const { body, more } = createRows(comparison.cases.map(createRow), maxRows);
  const head = ['Change', 'Case', 'Then', 'Now'].map((text) => create('th', { scope: 'col' }, text));
  return create(
    'section',
    { class: 'card comparison' },
    create('h2', {}, 'Against the baseline'),
    create('p', { class: 'fine' }, quote(source), quote(rest)),
    create('p', {}, `${describeChanges(comparison)}.`),
    rates === null ? null : create('p', {}, rates),
    ...describeRateChanges(comparison, nameSuite).map((line) => create('p', {}, quote(toText(line)))),
    ...describeSmallestFalls(comparison, nameSuite).map((line) => create('p', {}, quote(toText(line)))),
    ...comparison.rates.filter(({ worse, better }) => worse + better > 0).map(createRange),
    comparison.cases.length === 0
      ? null
      : create(
          'div',
          { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Cases that changed' },
          create('table', {}, create('thead', {}, create('tr', {}, ...head)), body),
        ),
    more,
  );
}

function createRow({ change, title, baseline, ...now }: CaseComparison): HTMLElement {
  return create(
    'tr',
    { class: change },
    create(
      'td',
      { class: 'change' },
      create('span', { class: 'mark', 'aria-hidden': 'true' }, changeMarks[change]),
      change,
    ),
    create('td', {}, quote(title)),
    create('td', { class: 'count' }, formatCounts(baseline)),
    create('td', { class: 'count' }, formatCurrent(now)),
  );
}

/** Draws the difference and its plausible range. No difference is in the middle. */
function createRange({ difference, lower, upper }: RateChange): SVGElement {
  const reach = Math.max(0.1, Math.abs(lower), Math.abs(upper)) * 1.1;
  const x = (value: number) => 150 + (value / reach) * 140;
  return createSvg(
    'svg',
    { class: 'range', viewBox: '0 0 300 30', 'aria-hidden': 'true' },
    createSvg('line', { class: 'grid', x1: 5, x2: 295, y1: 12, y2: 12 }),
    createSvg('line', { class: 'zero', x1: 150, x2: 150, y1: 2, y2: 22 }),
    createSvg('line', { class: 'interval', x1: x(lower), x2: x(upper), y1: 12, y2: 12 }),
    createSvg('circle', { class: difference < 0 ? 'failed' : 'passed', cx: x(difference), cy: 12, r: 5 }),
    createSvg('text', { class: 'axis', x: 5, y: 28 }, 'worse'),
    createSvg('text', { class: 'axis', x: 295, y: 28, 'text-anchor': 'end' }, 'better'),
  );
}
