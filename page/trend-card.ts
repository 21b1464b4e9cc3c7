import { computePassRate, formatMinimumPassRate, formatPassRate } from '../src/model/rate.ts';
import type { TrendRun } from '../src/model/report.ts';
import type { PageReport } from '../src/report/html/page-data.ts';
import { listTrendRuns, nameTrend } from '../src/report/document/trend.ts';
import { create, createSvg, quote } from './dom.ts';

const width = 600;
const height = 190;
const frame = { left: 58, right: 16, top: 14, bottom: 22 };

/** Draws the pass rates of the gates before this one; null if there are none. */
export function createTrendCard(report: PageReport): HTMLElement | null {
  const runs = listTrendRuns(report);
  if (runs === null || report.trend === null) return null;
  const [suite, ...others] = report.suites;
  const minimum = suite !== undefined && others.length === 0 ? suite.minimumPassRate : null;
  return create(
    'section',
    { class: 'card trend' },
    create('h2', {}, 'Trend'),
    create('p', { class: 'fine' }, `${runs.length} gates on `, quote(nameTrend(report.trend)), ', this one last'),
    createChart(runs, minimum),
    createTable(runs),
  );
}

function rateOf({ outcome, passed, total }: TrendRun): number | null {
  return outcome === 'inconclusive' ? null : computePassRate(passed, total);
}

function createChart(runs: readonly TrendRun[], minimum: number | null): SVGElement {
  const rates = runs.map(rateOf);
  const lowest = Math.min(1, minimum ?? 1, ...rates.filter((rate) => rate !== null));
  const bottom = Math.max(0, Math.floor(lowest * 10 - 1) / 10);
  const x = (index: number) =>
    frame.left + ((width - frame.left - frame.right) * (index + 0.5)) / Math.max(1, runs.length);
  const y = (rate: number) =>
    height - frame.bottom - ((height - frame.top - frame.bottom) * (rate - bottom)) / (1 - bottom);
  const line = (rate: number, name: string, label: string) => [
    createSvg('line', { class: name, x1: frame.left, x2: width - frame.right, y1: y(rate), y2: y(rate) }),
    createSvg('text', { class: 'axis', x: frame.left - 6, y: y(rate) + 4, 'text-anchor': 'end' }, label),
  ];
  const points = rates.flatMap((rate, index) =>
    rate === null ? [] : [`${x(index).toFixed(1)},${y(rate).toFixed(1)}`],
  );
  const known = rates.filter((rate) => rate !== null);
  const label = `Pass rates of ${runs.length} gates, oldest first, from ${formatPassRate(known.at(0) ?? null)} to ${formatPassRate(known.at(-1) ?? null)}; the lowest is ${formatPassRate(known.length === 0 ? null : Math.min(...known))}`;
  return createSvg(
    'svg',
    { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label },
    ...line(1, 'grid', '100%'),
    ...line((1 + bottom) / 2, 'grid', formatPassRate((1 + bottom) / 2)),
    ...line(bottom, 'grid', formatPassRate(bottom)),
    ...(minimum === null || minimum === 1
      ? []
      : [
          createSvg('line', {
            class: 'minimum',
            x1: frame.left,
            x2: width - frame.right,
            y1: y(minimum),
            y2: y(minimum),
          }),
          createSvg(
            'text',
            { class: 'axis', x: frame.left + 2, y: y(minimum) + 14 },
            `minimum ${formatMinimumPassRate(minimum)}`,
          ),
        ]),
    createSvg('polyline', { class: 'course', points: points.join(' ') }),
    ...runs.map((run, index) => createPoint(run, x(index), y(rateOf(run) ?? bottom), index === runs.length - 1)),
    createSvg('text', { class: 'axis', x: frame.left, y: height - 4 }, formatDay(runs[0])),
    createSvg(
      'text',
      { class: 'axis', x: width - frame.right, y: height - 4, 'text-anchor': 'end' },
      formatDay(runs.at(-1)),
    ),
  );
}

/** Creates the point of a run: a dot if it passed, a diamond if it failed, a ring if it was inconclusive. */
function createPoint(run: TrendRun, x: number, y: number, isLast: boolean): SVGElement {
  const { outcome, passed, total, startedAt } = run;
  const size = isLast ? 7 : 5;
  const title = createSvg(
    'title',
    {},
    `${startedAt.slice(0, 16).replace('T', ' ')}: ${outcome}, ${passed} of ${total}`,
  );
  return outcome === 'failed'
    ? createSvg(
        'path',
        {
          class: 'failed',
          d: `M${x} ${y - size - 1}l${size + 1} ${size + 1}l${-size - 1} ${size + 1}l${-size - 1} ${-size - 1}z`,
        },
        title,
      )
    : createSvg('circle', { class: outcome, cx: x, cy: y, r: size }, title);
}

function formatDay(run: TrendRun | undefined): string {
  return /^\d{4}-\d\d-\d\d/.exec(run?.startedAt ?? '')?.[0] ?? '';
}

function createTable(runs: readonly TrendRun[]): HTMLElement {
  const rows = runs.toReversed().map((run) => {
    const { startedAt, commit, outcome, passed, total } = run;
    const cells = [
      startedAt.slice(0, 16).replace('T', ' '),
      commit?.slice(0, 7) ?? '–',
      outcome,
      `${passed} of ${total} (${formatPassRate(rateOf(run))})`,
    ];
    return create('tr', {}, ...cells.map((cell) => create('td', {}, quote(cell))));
  });
  const head = ['When', 'Commit', 'Verdict', 'Passed'].map((text) => create('th', { scope: 'col' }, text));
  return create(
    'details',
    {},
    create('summary', {}, 'As a table'),
    create(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Earlier gates' },
      create('table', {}, create('thead', {}, create('tr', {}, ...head)), create('tbody', {}, ...rows)),
    ),
  );
}
