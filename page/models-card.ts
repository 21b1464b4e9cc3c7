import { formatHostedModel } from '../src/model/format-host.ts';
import type { ModelsReport } from '../src/model/report.ts';
import type { PageReport } from '../src/report/html/page-data.ts';
import {
  describeCalls,
  describeCost,
  describeModelRange,
  describeModelRate,
  describeTokens,
  formatCell,
  listMatrixRows,
  listSpending,
} from '../src/report/document/models.ts';
import { type Child, create, quote, createRows } from './dom.ts';

const maxRows = 12;

/** Shows the results of each model, by case if cases run with several models, and the cost; null if no model took part. */
export function createModelsCard(report: PageReport): HTMLElement | null {
  const { models } = report;
  if (models === null) return null;
  return create(
    'section',
    { class: 'card models' },
    create('h2', {}, 'Models'),
    ...(models.models.length === 0 ? [] : createTable(report, models)),
    ...listSpending(models).map((text) => create('p', { class: 'fine' }, quote(text))),
  );
}

function createTable(report: PageReport, models: ModelsReport): Child[] {
  const columns = models.models;
  const rows = listMatrixRows(report).map(({ title, cells }) =>
    createRow(
      quote(title),
      cells.map((cell) => create('td', { class: `count ${cell?.disposition ?? ''}` }, formatCell(cell))),
    ),
  );
  const sum = (label: string, cells: readonly string[]) =>
    createRow(
      label,
      cells.map((text) => create('td', { class: 'count' }, text)),
    );
  const ranges = columns.map((model) => describeModelRange(model, report));
  const { body, more } = createRows(rows, maxRows);
  const head = [
    create('td', {}),
    ...columns.map((summary) => create('th', { scope: 'col' }, quote(formatHostedModel(summary)))),
  ];
  return [
    create(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Models' },
      create(
        'table',
        {},
        create('thead', {}, create('tr', {}, ...head)),
        body,
        create(
          'tbody',
          { class: 'sums' },
          sum(
            'Passed',
            columns.map((model) => describeModelRate(model, report)),
          ),
          ...(ranges.some((range) => range !== null)
            ? [
                sum(
                  '95% range, live',
                  ranges.map((range) => range ?? '–'),
                ),
              ]
            : []),
          sum(
            'Calls',
            columns.map(({ usage }) => describeCalls(usage)),
          ),
          sum(
            'Tokens',
            columns.map(({ usage }) => describeTokens(usage)),
          ),
          sum(
            'Cost',
            columns.map(({ cost }) => describeCost(cost, models)),
          ),
        ),
      ),
    ),
    more,
  ];
}

function createRow(label: Child, cells: readonly HTMLElement[]): HTMLElement {
  return create('tr', {}, create('th', { scope: 'row' }, label), ...cells);
}
