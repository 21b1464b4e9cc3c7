import { countCoverage, coverageNames } from '../src/model/coverage.ts';
import type { MinimumCoverage } from '../src/model/policy.ts';
import { formatMinimumPassRate, formatPassRate, meetsMinimumPassRate } from '../src/model/rate.ts';
import { listCoverageNotes } from '../src/report/coverage.ts';
import type { PageReport } from '../src/report/html/page-data.ts';
import { create, quote, quoteProse } from './dom.ts';

const maxNamed = 200;

/** Shows which part of the servers' surface the evals used and what the policy requires, by kind; null where it was not measured. */
export function createCoverageCard({ coverage }: PageReport, minimumCoverage: MinimumCoverage): HTMLElement | null {
  if (coverage === undefined) return null;
  const counts = countCoverage(coverage);
  const minima = new Map(minimumCoverage.map(({ name, value }) => [name, value]));
  const titles = ['Kind', 'Covered', 'Share', ...(minimumCoverage.length > 0 ? ['Minimum'] : [])];
  const head = titles.map((text) => create('th', { scope: 'col' }, text));
  const rows = counts.map(({ kind, covered, total }) => {
    const minimum = minima.get(kind);
    const isMet = coverage.isPartial || minimum === undefined ? null : meetsMinimumPassRate(covered, total, minimum);
    return create(
      'tr',
      {},
      create('th', { scope: 'row' }, coverageNames[kind]),
      create('td', { class: 'count' }, `${covered} of ${total}`),
      create('td', { class: 'count' }, formatPassRate(covered / total)),
      minimumCoverage.length === 0 ? null : create('td', { class: 'count' }, describeMinimum(minimum, isMet)),
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

/** `isMet` is null where it is not judged: without a minimum, and where only a part of the cases ran. */
function describeMinimum(minimum: number | undefined, isMet: boolean | null): string {
  if (minimum === undefined) return '';
  const text = formatMinimumPassRate(minimum);
  if (isMet === null) return text;
  return isMet ? `${text}, met` : `${text}, not met`;
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
