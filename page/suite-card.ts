import { toPercent, formatMinimumPassRate, formatPassRate } from '../src/model/rate.ts';
import type { RequirementReport, SuiteReport } from '../src/model/report.ts';
import { describeConcurrency, describeSuiteRate, nameRequirement } from '../src/report/wording.ts';
import { create, quote, say } from './dom.ts';
import { outcomeMarks } from './marks.ts';
import { createRoundsChart } from './rounds-chart.ts';

const stateWords: Record<RequirementReport['state'], string> = {
  met: 'met',
  'not-met': 'not met',
  unknown: 'not known',
};
const stateMarks: Record<RequirementReport['state'], string> = { met: '✓', 'not-met': '✗', unknown: '?' };

/** Shows the result of a suite against its minimum, and against its other requirements. */
export function createSuiteCard(suite: SuiteReport, currency: string): HTMLElement {
  const { name, verdict, totals, run, concurrency } = suite;
  // A rate over only a part of the iterations would look like a result.
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
    createRequirements(suite.requirements),
  );
}

/** Describes the pass rate, with its interval if a confidence is required. */
function describeFinding(suite: SuiteReport): string {
  const { requirements, verdict, minimumPassRateSource } = suite;
  const own = requirements.find(({ kind, scope }) => kind === 'minimum-pass-rate' && scope === 'suite');
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
function createRequirements(requirements: readonly RequirementReport[]): HTMLElement | null {
  if (requirements.length < 2) return null;
  const open = requirements.filter(({ state }) => state !== 'met').length;
  return create(
    'details',
    {},
    create(
      'summary',
      {},
      open === 0
        ? `All ${requirements.length} requirements are met`
        : `${open} of ${requirements.length} requirements are not met`,
    ),
    create(
      'ul',
      { class: 'requirements' },
      ...requirements.map((requirement) => {
        const { state, finding, source, isDecisive } = requirement;
        return create(
          'li',
          { class: isDecisive || state === 'met' ? state : 'unknown' },
          create('span', { class: 'mark', 'aria-hidden': 'true' }, stateMarks[state]),
          create(
            'div',
            {},
            create('b', {}, quote(nameRequirement(requirement)), ': ', quote(requirement.requirement)),
            `, ${stateWords[state]}${isDecisive || state === 'met' ? '' : ' (a warning only)'}`,
            create('p', { class: 'fine' }, quote(finding.includes(source) ? finding : `${finding} (${source})`)),
          ),
        );
      }),
    ),
  );
}
