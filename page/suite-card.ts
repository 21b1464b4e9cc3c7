import { toPercent, formatMinimumPassRate, formatPassRate } from '../src/model/rate.ts';
import type { DemandReport, SuiteReport } from '../src/model/report.ts';
import { describeConcurrency, describeSuiteRate, nameDemand } from '../src/report/wording.ts';
import { create, quote, say } from './dom.ts';
import { outcomeMarks } from './marks.ts';
import { createRoundsChart } from './rounds-chart.ts';

const stateWords: Record<DemandReport['state'], string> = { met: 'met', 'not-met': 'not met', unknown: 'not known' };
const stateMarks: Record<DemandReport['state'], string> = { met: '✓', 'not-met': '✗', unknown: '?' };

/** Shows how a suite fared against its minimum, and what else was demanded of it. */
export function createSuiteCard(suite: SuiteReport, currency: string): HTMLElement {
  const { name, verdict, totals, run, concurrency } = suite;
  // A rate over part of the iterations looks like a result and is none.
  const rate = verdict.outcome === 'inconclusive' ? null : totals.passRate;
  return create(
    'section',
    { class: `card suite ${verdict.outcome}` },
    create(
      'h2',
      {},
      create('span', { class: 'mark', 'aria-hidden': 'true' }, outcomeMarks[verdict.outcome]),
      quote(name),
      say(`: ${verdict.outcome}`),
    ),
    create('p', { class: 'figure' }, rate === null ? 'no rate' : formatPassRate(rate)),
    createGauge(suite, rate),
    create('p', { class: 'fine' }, quote(describeFinding(suite))),
    concurrency === null ? null : create('p', { class: 'fine' }, quote(describeConcurrency(concurrency))),
    run?.url?.startsWith('https://') === true
      ? create(
          'p',
          { class: 'fine' },
          create('a', { href: new URL(run.url).href, rel: 'noreferrer' }, 'Open the run at the service'),
        )
      : null,
    createRoundsChart(suite, currency),
    createDemands(suite.demands),
  );
}

/** With the interval of the rate where a confidence is demanded. */
function describeFinding(suite: SuiteReport): string {
  const { demands, verdict, minimumPassRateSource } = suite;
  const own = demands.find(({ kind, scope }) => kind === 'minimum-pass-rate' && scope === 'suite');
  if (own !== undefined && verdict.outcome !== 'inconclusive') return own.finding;
  const counted = `${describeSuiteRate(suite)} (${minimumPassRateSource})`;
  return own === undefined ? counted : `${counted}. ${own.finding}`;
}

function createGauge({ minimumPassRate }: SuiteReport, rate: number | null): HTMLElement {
  const minimum = formatMinimumPassRate(minimumPassRate);
  const fill = create('span', { class: 'fill' });
  fill.style.inlineSize = `${toPercent(rate ?? 0)}%`;
  const tick = create('span', { class: 'tick' });
  tick.style.insetInlineStart = `${toPercent(minimumPassRate)}%`;
  const label = rate === null ? `No pass rate; the minimum is ${minimum}` : `${formatPassRate(rate)} of ${minimum}`;
  return create('div', { class: 'gauge', role: 'img', 'aria-label': label }, fill, tick);
}

/** The suite's own minimum is shown above; it needs no list if it is the only requirement. */
function createDemands(demands: readonly DemandReport[]): HTMLElement | null {
  if (demands.length < 2) return null;
  const open = demands.filter(({ state }) => state !== 'met').length;
  return create(
    'details',
    {},
    create(
      'summary',
      {},
      open === 0
        ? `All ${demands.length} requirements are met`
        : `${open} of ${demands.length} requirements are not met`,
    ),
    create(
      'ul',
      { class: 'demands' },
      ...demands.map((demand) => {
        const { state, finding, source, isDecisive } = demand;
        return create(
          'li',
          { class: isDecisive || state === 'met' ? state : 'unknown' },
          create('span', { class: 'mark', 'aria-hidden': 'true' }, stateMarks[state]),
          create(
            'div',
            {},
            create('b', {}, quote(nameDemand(demand)), ': ', quote(demand.demand)),
            `, ${stateWords[state]}${isDecisive || state === 'met' ? '' : ' (a warning only)'}`,
            create('p', { class: 'fine' }, quote(finding.includes(source) ? finding : `${finding} (${source})`)),
          ),
        );
      }),
    ),
  );
}
