import { formatCount } from '../src/base/text.ts';
import { formatDuration } from '../src/base/time.ts';
import type { PageData } from '../src/report/html/page-data.ts';
import { splitReason } from '../src/report/failures.ts';
import { describeCaseCounts, formatPassed } from '../src/report/wording.ts';
import { describeFlaky, describeProbation } from '../src/report/rounds.ts';
import { createCaseDetails } from './case-details.ts';
import { create, createButton, createDisclosure, quote, quoteProse, say } from './dom.ts';
import { type CaseFilter, type ListedCase, listCases, matchesFilter } from './filter.ts';
import { createFilterBar } from './filter-bar.ts';
import { groupMarks } from './marks.ts';
import { createSourceLine } from './source-line.ts';
import { createStrip } from './strip.ts';

/** The number of rows that are drawn at first, so that a page of a thousand cases is painted about as soon as one of twenty. */
const firstRows = 40;

/** The number of rows that a reader adds at a time. */
const moreRows = 100;

interface DrawnCase {
  row: HTMLElement;
  open: () => void;
}

/** Lists the cases, worst first, with filters. `openWanted` opens the case in the page's address. */
export function createCaseSection(data: PageData): { section: HTMLElement; openWanted: () => void } {
  const items = listCases(data.report);
  const drawn = new Map<ListedCase, DrawnCase>();
  const list = create('ol', { class: 'cases' });
  const status = create('p', { class: 'fine', role: 'status' });
  let shown = items;
  let count = 0;
  const draw = (item: ListedCase): DrawnCase => {
    const known = drawn.get(item) ?? createCase(item, data);
    drawn.set(item, known);
    return known;
  };
  const showMore = (upTo: number) => {
    list.append(...shown.slice(count, upTo).map((item) => draw(item).row));
    count = Math.min(upTo, shown.length);
    more.hidden = count === shown.length;
    more.textContent = `Show ${Math.min(moreRows, shown.length - count)} more of ${shown.length - count}`;
  };
  const more = createButton({ class: 'more' }, () => {
    const next = shown[count];
    showMore(count + moreRows);
    if (next !== undefined) draw(next).row.querySelector('button')?.focus();
  });
  const apply = (filter: CaseFilter) => {
    shown = items.filter((item) => matchesFilter(item, filter));
    count = 0;
    list.replaceChildren();
    showMore(firstRows);
    status.textContent =
      shown.length === items.length
        ? formatCount(items.length, 'case')
        : `${shown.length} of ${formatCount(items.length, 'case')}`;
  };

  const section = create(
    'section',
    { id: 'cases', 'aria-labelledby': 'cases-title', tabindex: '-1' },
    create('h2', { id: 'cases-title' }, 'Cases'),
    createFilterBar(items, data.report, apply),
    status,
    ...listLeftOut(data).map((text) => create('p', { class: 'fine' }, text)),
    list,
    more,
  );
  const openWanted = () => {
    const [worst] = items;
    const wanted = items.find((item) => `#${nameAnchor(item)}` === location.hash);
    if (wanted !== undefined) {
      showMore(Math.max(firstRows, items.indexOf(wanted) + 1));
      draw(wanted).open();
      draw(wanted).row.scrollIntoView();
    } else if (worst?.group === 'failed') {
      draw(worst).open();
    }
  };
  return { section, openWanted };
}

function createCase(item: ListedCase, data: PageData): DrawnCase {
  const { member, group, index } = item;
  const marks = data.marks[index] ?? [];
  const button = createButton(
    { class: 'title' },
    () => history.replaceState(null, '', `#${nameAnchor(item)}`),
    create('span', { class: 'mark', 'aria-hidden': 'true' }, groupMarks[group]),
    quote(member.title === '' ? member.id : member.title),
    say(`, ${group}, ${describeCaseCounts(member)}`),
  );
  const { panel, toggle } = createDisclosure(button, `case-${index}`, () =>
    createCaseDetails(member, { marks, definition: data.definitions[index] ?? null }, data),
  );
  const [failure] = member.failures;
  const chips = [
    ...(member.required ? [create('span', { class: 'chip strong' }, 'required')] : []),
    ...[member.quarantine === null ? null : 'in quarantine', describeProbation(member), describeFlaky(member)].flatMap(
      (word) => (word === null ? [] : [create('span', { class: 'chip' }, word)]),
    ),
    ...(member.model === null || member.title.includes(member.model)
      ? []
      : [create('span', { class: 'chip' }, quote(member.model))]),
    ...member.tags.map((tag) => create('span', { class: 'chip' }, quote(tag))),
  ];
  const row = create(
    'li',
    { class: `case ${group}`, id: nameAnchor(item) },
    create(
      'div',
      { class: 'head' },
      create('h3', {}, button),
      create('span', { class: 'sum', 'aria-hidden': 'true' }, createStrip(member, marks), formatPassed(member)),
      create('span', { class: 'time' }, member.durationMs === null ? '' : formatDuration(member.durationMs)),
      create(
        'p',
        { class: 'fine' },
        member.location === null ? null : createSourceLine(member.location, data),
        ...chips,
      ),
      failure?.reasons[0] === undefined
        ? null
        : create('p', { class: 'hint' }, quoteProse(splitReason(failure.reasons[0]).words)),
    ),
    panel,
  );
  return { row, open: () => toggle(true) };
}

/** Names a case in the address bar. The name of a case is the same in every report. */
function nameAnchor({ member }: ListedCase): string {
  return `case:${encodeURIComponent(member.suiteId)}/${encodeURIComponent(member.id)}`;
}

function listLeftOut({ leftOut: { cases, failures, traces } }: PageData): string[] {
  const parts = [
    cases > 0 ? formatCount(cases, 'case') : '',
    failures > 0 ? formatCount(failures, 'failed iteration') : '',
    traces > 0 ? formatCount(traces, 'trace') : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? [] : [`Left out to keep this page small: ${parts.join(', ')}. report.json has the rest.`];
}
