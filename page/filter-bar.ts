import type { PageReport } from '../src/report/html/page-data.ts';
import { create, createButton } from './dom.ts';
import { type CaseFilter, caseGroups, type ListedCase } from './filter.ts';
import { groupMarks } from './marks.ts';

/** The list is updated after typing has paused for this time. */
const typingMs = 120;

/** Creates the filters of the list, which apply at once. */
export function createFilterBar(
  items: readonly ListedCase[],
  { suites }: PageReport,
  apply: (filter: CaseFilter) => void,
): HTMLElement {
  const filter: CaseFilter = { group: null, tag: null, suiteId: null, text: '' };
  const groups = [null, ...caseGroups].flatMap((group) => {
    const count = items.filter((item) => group === null || item.group === group).length;
    if (count === 0 && group !== null) return [];
    const mark = group === null ? '' : `${groupMarks[group]} `;
    const press = () => {
      filter.group = group;
      for (const [other, button] of buttons) button.setAttribute('aria-pressed', String(other === group));
      apply(filter);
    };
    const button = createButton(
      { class: `filter ${group ?? 'all'}`, 'aria-pressed': String(group === null) },
      press,
      create('span', { 'aria-hidden': 'true' }, mark),
      `${group ?? 'all'} ${count}`,
    );
    return [[group, button] as const];
  });
  const buttons = new Map(groups);
  const tags = [...new Set(items.flatMap(({ member }) => member.tags))].toSorted();
  const bar = create(
    'div',
    { class: 'filters', role: 'search', 'aria-label': 'Narrow down the cases' },
    createSearch((text) => {
      filter.text = text;
      apply(filter);
    }),
    create('div', { class: 'groups', role: 'group', 'aria-label': 'Outcome' }, ...buttons.values()),
    createSelect(
      'Tag',
      tags.map((tag) => [tag, tag]),
      (tag) => {
        filter.tag = tag;
        apply(filter);
      },
    ),
    createSelect('Suite', suites.length < 2 ? [] : suites.map(({ id, name }) => [id, name]), (suiteId) => {
      filter.suiteId = suiteId;
      apply(filter);
    }),
  );
  apply(filter);
  return bar;
}

function createSearch(change: (text: string) => void): HTMLElement {
  const input = create('input', {
    type: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Title, file, tool, reason',
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => change(input.value), typingMs);
  });
  return create('label', { class: 'search' }, create('span', {}, 'Search'), input);
}

function createSelect(
  label: string,
  entries: ReadonlyArray<readonly [value: string, name: string]>,
  change: (value: string | null) => void,
): HTMLElement | null {
  if (entries.length === 0) return null;
  const select = create(
    'select',
    {},
    create('option', {}, 'any'),
    ...entries.map(([, name]) => create('option', {}, name)),
  );
  select.addEventListener('change', () => change(entries[select.selectedIndex - 1]?.[0] ?? null));
  return create('label', {}, create('span', {}, label), select);
}
