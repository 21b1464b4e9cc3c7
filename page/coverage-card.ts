import { countCoverage, coverageNames, type MinimumState } from '../src/model/coverage.ts';
import { formatMinimumPassRate, formatPassRate } from '../src/model/rate.ts';
import { type JudgedMinimum, listCoverageNotes } from '../src/report/document/coverage.ts';
import type { PageReport } from '../src/report/html/page-data.ts';
import { create, quote, quoteProse } from './dom.ts';

const maxNamed = 200;

/** Shows the used part of the servers' surface and the required minimum, by kind; null if it was not measured. */
export function createCoverageCard({ coverage }: PageReport, minima: readonly JudgedMinimum[]): HTMLElement | null {
  if (coverage === undefined) return null;
  const counts = countCoverage(coverage);
  const titles = ['Kind', 'Covered', 'Share', ...(minima.length > 0 ? ['Minimum'] : [])];
  const head = titles.map((text) => create('th', { scope: 'col' }, text));
  const rows = counts.map(({ kind, covered, total }) => {
    const minimum = minima.find((each) => each.kind === kind);
    return create(
      'tr',
      {},
      create('th', { scope: 'row' }, coverageNames[kind]),
      create('td', { class: 'count' }, `${covered} of ${total}`),
      create('td', { class: 'count' }, formatPassRate(covered / total)),
      minima.length === 0 ? null : create('td', { class: 'count' }, describeMinimum(minimum)),
    );
  });
  const table = create('table', {}, create('thead', {}, create('tr', {}, ...head)), create('tbody', {}, ...rows));
  return create(
    'section',
    { class: 'card coverage' },
    create('h2', {}, 'Coverage'),
    ...listCoverageNotes(coverage).map((text) => create('p', { class: 'fine' }, quoteProse(text))),
    counts.length === 0
      ? null
      : create('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Coverage' }, table),
    ...counts.filter(({ missing }) => missing.length > 0).map(createMissing),
  );
}

const stateWords: Record<MinimumState, string> = {
  met: ', met',
  'not-met': ', not met',
  unknown: ', not known',
  unjudged: '',
};

function describeMinimum(minimum: JudgedMinimum | undefined): string {
  return minimum === undefined ? '' : `${formatMinimumPassRate(minimum.value)}${stateWords[minimum.state]}`;
}

function createMissing({ kind, missing }: ReturnType<typeof countCoverage>[number]): HTMLElement {
  const rest = missing.length - maxNamed;
  return create(
    'details',
    {},
    create('summary', {}, `${missing.length} ${coverageNames[kind]} not covered`),
    create('ul', {}, ...missing.slice(0, maxNamed).map((name) => create('li', {}, quote(name)))),
    rest > 0 ? create('p', { class: 'fine' }, `and ${rest} more`) : null,
  );
}
