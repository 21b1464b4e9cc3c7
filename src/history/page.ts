import { formatCount, formatMoney, listSome } from '../base/text.ts';
import { formatDuration } from '../base/time.ts';
import { generator } from '../base/version.ts';
import type { HistoryRecord } from '../model/history.ts';
import { formatPassRate, formatUpperRate } from '../model/rate.ts';
import { renderSparkline } from '../report/document/trend.ts';
import { escapeHtml } from '../report/escape/html.ts';
import { flattenText } from '../report/escape/plain.ts';
import { hashInline } from '../report/html/page.ts';
import { pageStyle } from '../report/html/page-assets.ts';
import { truncateText } from '../report/truncate.ts';
import type { RateInterval } from '../verdict/statistics/wilson.ts';
import {
  type CaseHistory,
  type GateChanges,
  type HistorySummary,
  historyConfidence,
  ratePoint,
  type SuiteHistory,
  type SuitePoint,
} from './summarize.ts';

export interface HistoryPageOptions {
  /** Makes the address of a commit; null for commits without links. */
  linkCommit: ((commit: string) => string) | null;
  /** The currency of costs, as the prices of the evals have it. */
  currency: string;
}

/** The height of a chart of a course, and the room for its axes. */
const chart = { width: 600, height: 190, left: 58, right: 16, top: 14, bottom: 22 };
const maxCases = 500;
const maxChanges = 50;
const maxListed = 10;
const maxName = 200;

/**
 * Renders the history of a branch as one page without scripts and without other files. Its content security policy lets nothing run, load or
 * leave.
 */
export function renderHistoryPage(summary: HistorySummary, options: HistoryPageOptions): string {
  const { branch, gates, suites, changes } = summary;
  const newest = gates.at(-1);
  const title = `History of evals: ${branch ?? 'no branch'}`;
  const flaky = suites.flatMap(({ cases }) => cases.filter(({ isFlaky, isCurrent }) => isFlaky && isCurrent));
  const passed = gates.filter(({ outcome }) => outcome === 'passed').length;
  const outcome = newest?.outcome ?? 'inconclusive';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '${hashInline(pageStyle)}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${renderText(title)}</title>
<style>${pageStyle}</style>
</head>
<body>
<a class="skip" href="#changes">Skip to what changed</a>
<header class="bar">
<p class="product">MCP eval gate</p>
<p class="revision">${renderName(branch ?? 'no branch')} · ${renderDay(gates[0])} to ${renderDay(newest)}</p>
</header>
<main id="main">
<section class="verdict ${outcome}" aria-labelledby="title">
<span class="seal" aria-hidden="true">${{ passed: '✓', failed: '✗', inconclusive: '?' }[outcome]}</span>
<div>
<h1 id="title">The newest gate ${outcome === 'inconclusive' ? 'was inconclusive' : outcome}</h1>
<p class="totals">${renderWhen(newest)}${renderCommit(newest, options)}</p>
<p class="totals">${passed} of ${formatCount(gates.length, 'gate')} passed. ${describeFlaky(flaky.length)}</p>
</div>
</section>
${suites.map((suite) => renderSuite(suite, options)).join('\n')}
${renderChanges(changes, options)}
</main>
<footer><p>Written by ${renderText(`${generator.name} ${generator.version}`)}. The page loads nothing and sends nothing. Intervals have a confidence of ${historyConfidence * 100}%.</p></footer>
</body>
</html>
`;
}

function describeFlaky(count: number): string {
  if (count === 0) return 'No case is flaky.';
  return count === 1 ? '1 case is flaky.' : `${count} cases are flaky.`;
}

function renderSuite({ id, points, cases }: SuiteHistory, options: HistoryPageOptions): string {
  const rates = points.map(ratePoint);
  const known = rates.filter((rate) => rate !== null);
  const newest = points.at(-1);
  const facts = [
    newest === undefined
      ? null
      : `Newest: ${newest.passed} of ${newest.total} passed${renderInterval(newest.interval)}.`,
    known.length < 2 ? null : `Lowest of ${formatCount(known.length, 'gate')}: ${formatPassRate(Math.min(...known))}.`,
  ];
  const courses = [
    renderMeasure('Latency', points, ({ durationMs }) => durationMs, formatDuration),
    renderMeasure(
      'Cost',
      points,
      ({ cost }) => cost,
      (cost) => formatMoney(cost, options.currency),
    ),
  ].filter((line) => line !== null);
  return `<section class="card history" aria-label="${renderText(`Suite ${id}`)}">
<h2>${renderName(id)}</h2>
<p>${facts.filter((fact) => fact !== null).join(' ')}</p>
${renderChart(points)}
${courses.map((line) => `<p class="fine">${line}</p>`).join('\n')}
<details>
<summary>Each gate as a table</summary>
${renderTable(
  ['When', 'Commit', 'Verdict', 'Passed', 'Interval', 'Median', 'Cost'],
  points
    .toReversed()
    .map(({ gate, passed, total, interval, durationMs, cost }) => [
      renderWhen(gate),
      renderCommit(gate, options, ''),
      gate.outcome,
      `${passed} of ${total} (${formatPassRate(total === 0 ? null : passed / total)})`,
      renderInterval(interval, '') || '–',
      durationMs === null ? '–' : formatDuration(durationMs),
      cost === null ? '–' : renderText(formatMoney(cost, options.currency)),
    ]),
  `Gates of ${id}`,
)}
</details>
<h3>Cases</h3>
${renderCases(id, cases, options)}
</section>`;
}

/** Draws the pass rates with their intervals. Gates that established nothing have a ring at the bottom. */
function renderChart(points: readonly SuitePoint[]): string {
  const { width, height, left, right, top, bottom } = chart;
  const rates = points.map(ratePoint);
  const lowest = Math.min(
    1,
    ...points.flatMap((point) => (ratePoint(point) === null ? [] : (point.interval?.lower ?? []))),
  );
  const floor = Math.max(0, Math.floor(lowest * 10) / 10 - (lowest === 1 ? 0.1 : 0));
  const x = (index: number) => round(left + ((width - left - right) * (index + 0.5)) / Math.max(1, points.length));
  const y = (rate: number) => round(height - bottom - ((height - top - bottom) * (rate - floor)) / (1 - floor));
  const known = rates.flatMap((rate, index) => (rate === null ? [] : [{ rate, index }]));
  const ends = known.flatMap(({ index }) => {
    const interval = points[index]?.interval;
    return interval == null ? [] : [{ index, ...interval }];
  });
  const band = [
    ...ends.map(({ index, upper }) => `${x(index)},${y(upper)}`),
    ...ends.toReversed().map(({ index, lower }) => `${x(index)},${y(lower)}`),
  ];
  const levels = [1, (1 + floor) / 2, floor].map(
    (rate) =>
      `<line class="grid" x1="${left}" x2="${width - right}" y1="${y(rate)}" y2="${y(rate)}"/><text class="axis" x="${left - 6}" y="${y(rate) + 4}" text-anchor="end">${formatPassRate(rate)}</text>`,
  );
  const dots = points.map((point, index) => {
    const rate = rates[index] ?? null;
    const size = index === points.length - 1 ? 6 : 4;
    const name = `<title>${renderWhen(point.gate)}: ${point.gate.outcome}, ${point.passed} of ${point.total}</title>`;
    return `<circle class="${rate === null ? 'inconclusive' : rate === 1 ? 'passed' : 'failed'}" cx="${x(index)}" cy="${y(rate ?? floor)}" r="${size}">${name}</circle>`;
  });
  const label = `Pass rate of ${formatCount(points.length, 'gate')}, oldest first, from ${formatPassRate(known.at(0)?.rate ?? null)} to ${formatPassRate(known.at(-1)?.rate ?? null)}`;
  return `<figure>
<svg class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">
<polygon class="band" points="${band.join(' ')}"/>
${levels.join('\n')}
<polyline class="course" points="${known.map(({ rate, index }) => `${x(index)},${y(rate)}`).join(' ')}"/>
${dots.join('\n')}
<text class="axis" x="${left}" y="${height - 4}">${renderDay(points[0]?.gate)}</text>
<text class="axis" x="${width - right}" y="${height - 4}" text-anchor="end">${renderDay(points.at(-1)?.gate)}</text>
</svg>
<figcaption class="fine">Pass rate of each gate, with its interval as the band. A ring is an inconclusive gate.</figcaption>
</figure>`;
}

/** Describes how a measure went, as a line of text; null if no gate has it. */
function renderMeasure(
  name: string,
  points: readonly SuitePoint[],
  read: (point: SuitePoint) => number | null,
  format: (value: number) => string,
): string | null {
  const values = points.flatMap((point) => read(point) ?? []);
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined) return null;
  const most = Math.max(...values);
  // A level of eight: the sparkline of a rate draws a share.
  const levels = values.map((value) => ({
    outcome: 'passed' as const,
    passed: most === 0 ? 0 : Math.min(0.999, value / most),
    total: 1,
  }));
  const from = values.length === 1 || first === last ? '' : `, from ${format(first)}`;
  return `${name}: ${renderText(format(last))}${renderText(from)} ${renderSpark(levels, `${name} over time, oldest first`)}`;
}

function renderSpark(runs: Parameters<typeof renderSparkline>[0], label: string): string {
  return `<span class="spark" role="img" aria-label="${renderText(label)}">${renderSparkline(runs)}</span>`;
}

function renderCases(suiteId: string, cases: readonly CaseHistory[], { currency }: HistoryPageOptions): string {
  const rows = cases.slice(0, maxCases).map((each) => {
    const { id, points, passed, total, interval, isCurrent } = each;
    const newest = points.at(-1)?.result;
    const runs = points.map(({ gate, result }) => ({ ...result, outcome: gate.outcome }));
    const ends =
      runs.at(-1)?.total === 0 ? 'not scored' : `${runs.at(-1)?.passed} of ${runs.at(-1)?.total} passed last`;
    return [
      `${renderName(id)}${isCurrent ? '' : ' <span class="chip">no longer run</span>'}`,
      renderSpark(runs, `${formatCount(runs.length, 'gate')}, ${ends}`),
      `${passed} of ${total}${renderInterval(interval)}`,
      describeStability(each),
      newest?.durationMs == null ? '–' : formatDuration(newest.durationMs),
      newest?.cost == null ? '–' : renderText(formatMoney(newest.cost, currency)),
    ];
  });
  const hidden = cases.length - rows.length;
  const more = hidden > 0 ? `\n<p class="fine">and ${formatCount(hidden, 'more case')}</p>` : '';
  const head = ['Case', 'Gates', 'Passed', 'Stability', 'Median', 'Cost'];
  return `${renderTable(head, rows, `Cases of ${suiteId}`)}${more}`;
}

function describeStability({ isFlaky, mixedGates, flips }: CaseHistory): string {
  if (!isFlaky) return flips === 1 ? 'changed once' : 'stable';
  const parts = [
    ...(mixedGates > 0 ? [`mixed in ${formatCount(mixedGates, 'gate')}`] : []),
    ...(flips > 0 ? [`changed ${formatCount(flips, 'time')}`] : []),
  ];
  return `<span class="chip strong">flaky</span> ${parts.join(', ')}`;
}

function renderChanges(changes: readonly GateChanges[], options: HistoryPageOptions): string {
  const items = changes.slice(0, maxChanges).map((change) => {
    const lines = [
      renderNames('Fails now', change.broken),
      renderNames('Passes again', change.fixed),
      renderNames('New case', change.added),
      renderNames('No longer run', change.removed),
      renderNames('Changed definition', change.redefined),
      renderNames('Tool in the surface', change.tools.map(describeTool)),
    ].filter((line) => line !== null);
    return `<li><h3>${renderWhen(change.gate)}${renderCommit(change.gate, options)}</h3>
<ul class="reasons">${lines.map((line) => `<li>${line}</li>`).join('')}</ul></li>`;
  });
  const hidden = changes.length - items.length;
  return `<section class="card" aria-labelledby="changes">
<h2 id="changes" tabindex="-1">What changed when</h2>
${items.length === 0 ? '<p>Nothing changed between these gates.</p>' : `<ol class="changes">${items.join('\n')}</ol>`}
${hidden > 0 ? `<p class="fine">and ${formatCount(hidden, 'earlier change')}</p>` : ''}
</section>`;
}

function describeTool({ name, before, after }: GateChanges['tools'][number]): string {
  if (before === null) return `${name} (new, ${after} bytes)`;
  return after === null ? `${name} (removed)` : `${name} (${before} to ${after} bytes)`;
}

function renderNames(label: string, names: readonly string[]): string | null {
  return names.length === 0 ? null : `${label}: <bdi>${renderText(listSome(names, maxListed), 2000)}</bdi>`;
}

function renderTable(head: readonly string[], rows: readonly string[][], label: string): string {
  const cells = (row: readonly string[]) =>
    row.map((cell, index) => (index === 0 ? `<th scope="row">${cell}</th>` : `<td>${cell}</td>`)).join('');
  return `<div class="scroll" tabindex="0" role="region" aria-label="${renderText(label)}">
<table class="history"><thead><tr>${head.map((text) => `<th scope="col">${text}</th>`).join('')}</tr></thead>
<tbody>${rows.map((row) => `<tr>${cells(row)}</tr>`).join('\n')}</tbody></table>
</div>`;
}

function renderInterval(interval: RateInterval | null, lead = ' '): string {
  if (interval === null) return '';
  const range = `${formatPassRate(interval.lower)} to ${formatUpperRate(interval.upper)}`;
  return lead === '' ? range : `${lead}(${range})`;
}

function renderWhen(gate: HistoryRecord | undefined): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.exec(gate?.startedAt ?? '')?.[0].replace('T', ' ') ?? '–';
}

function renderDay(gate: HistoryRecord | undefined): string {
  return renderWhen(gate).slice(0, 10);
}

function renderCommit(gate: HistoryRecord | undefined, { linkCommit }: HistoryPageOptions, lead = ' · '): string {
  const commit = gate?.commit ?? null;
  if (commit === null || !/^[0-9a-f]{7,64}$/.test(commit)) return lead === '' ? '–' : '';
  const shown = `<code>${commit.slice(0, 7)}</code>`;
  if (linkCommit === null) return `${lead}${shown}`;
  return `${lead}<a href="${escapeHtml(linkCommit(commit))}">${shown}</a>`;
}

function renderName(text: string): string {
  return `<bdi>${renderText(text)}</bdi>`;
}

function renderText(text: string, maxLength = maxName): string {
  return escapeHtml(truncateText(flattenText(text), maxLength));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
