import { formatDuration } from '../src/base/time.ts';
import type { CaseReport } from '../src/model/case-report.ts';
import type { PageMark } from '../src/report/html/page-data.ts';
import { create } from './dom.ts';

const maxBars = 300;

/** Draws how long each iteration took; null if no duration is known, or only one, which stands next to the title. */
export function createTimeline({ total, planned }: CaseReport, marks: readonly PageMark[]): HTMLElement | null {
  const timed = marks.flatMap(([number, standing, durationMs, isReplayed]) =>
    durationMs === null
      ? []
      : [{ name: String(number ?? '–'), standing, durationMs, answers: nameAnswers(isReplayed) }],
  );
  const hasAnswers = timed.some(({ answers }) => answers !== null);
  if (timed.length === 0 || (timed.length === 1 && !hasAnswers)) return null;
  const shown = timed.slice(0, maxBars);
  const longest = Math.max(...shown.map(({ durationMs }) => durationMs));
  const shortest = Math.min(...shown.map(({ durationMs }) => durationMs));
  const bars = shown.map(({ name, standing, durationMs, answers }) => {
    const bar = create('i', {
      class: standing,
      title: `Iteration ${name}: ${standing}, ${formatDuration(durationMs)}${answers === null ? '' : `, ${answers}`}`,
    });
    bar.style.blockSize = `${longest === 0 ? 0 : Math.max(2, (durationMs / longest) * 100)}%`;
    return bar;
  });
  const all = Math.max(total, planned);
  const label = `${shown.length === 1 ? 'One iteration' : `${shown.length} iterations`}, from ${formatDuration(shortest)} to ${formatDuration(longest)}`;
  const rows = shown.map(({ name, standing, durationMs, answers }) => {
    const cells = [name, standing, formatDuration(durationMs), ...(hasAnswers ? [answers ?? '–'] : [])];
    return create('tr', {}, ...cells.map((text) => create('td', {}, text)));
  });
  const head = ['Iteration', 'Result', 'Took', ...(hasAnswers ? ['Answers'] : [])].map((text) =>
    create('th', { scope: 'col' }, text),
  );
  return create(
    'section',
    { class: 'timeline' },
    create('h4', {}, 'How long each iteration took'),
    shown.length === 1 ? null : create('div', { class: 'bars', role: 'img', 'aria-label': label }, ...bars),
    create('p', { class: 'fine' }, shown.length < all ? `${label}; ${all} in all` : label),
    create(
      'details',
      {},
      create('summary', {}, 'As a table'),
      create('table', {}, create('thead', {}, create('tr', {}, ...head)), create('tbody', {}, ...rows)),
    ),
  );
}

/** Names the source of the model's answers; null without a model. */
function nameAnswers(isReplayed: boolean | null): string | null {
  if (isReplayed === null) return null;
  return isReplayed ? 'recorded' : 'live';
}
