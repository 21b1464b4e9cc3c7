import type { SurfaceChange } from '../src/model/surface-report.ts';
import type { PageReport } from '../src/report/html/page-data.ts';
import { compareSurfaceTexts } from '../src/report/differences.ts';
import { describeSize, describeSurface, listToolBytes, surfaceMarks } from '../src/report/surface-wording.ts';
import { createDifference } from './difference.ts';
import { type Child, create, createRows, quote, quoteProse } from './dom.ts';

const maxRows = 6;
const maxTexts = 3;
const maxGates = 30;
const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** Shows changes of tools, prompts and resources, and the size of each tool in a model's context; null if there is no comparison. */
export function createSurfaceCard({ surface, trend }: PageReport): HTMLElement | null {
  if (surface === undefined) return null;
  const { configurations, unread } = surface;
  const against = surface.against === 'base' ? 'the server of the base' : surface.against;
  const changes = configurations.flatMap((each) => each.changes);
  const findings = configurations.flatMap((each) => each.findings);
  const earlier = (trend?.runs ?? []).flatMap(({ toolBytes }) => (toolBytes === undefined ? [] : [toolBytes]));
  const shown = earlier.slice(1 - maxGates);
  const hasTrend = shown.length > 0;
  const before = new Map(
    configurations.flatMap(({ name, tools }) =>
      tools.map((tool) => [configurations.length > 1 ? `${name}/${tool.name}` : tool.name, tool.bytesBefore]),
    ),
  );
  const sizes = Object.entries(listToolBytes(surface)).map(([name, bytes]) => {
    const course = [...shown.map((run) => run[name] ?? null), bytes];
    const cells: Child[] = [quote(name), describeSize({ bytes, bytesBefore: before.get(name) ?? null })];
    return createRow([...cells, ...(hasTrend ? [createCourse(course)] : [])]);
  });
  return create(
    'section',
    { class: 'card surface' },
    create('h2', {}, 'Tool surface'),
    create('p', {}, quote(unread ?? `${describeSurface(surface)}, compared with ${against}`)),
    ...configurations.map(({ name, tools, ...size }) =>
      create(
        'p',
        { class: 'fine' },
        ...(configurations.length > 1 ? [quote(name), ': '] : []),
        `A model reads ${describeSize(size)} of ${tools.length === 1 ? '1 tool' : `${tools.length} tools`}.`,
      ),
    ),
    ...createTable(['Severity', 'Change', 'Why'], changes.map(createChange), 'Changes of the tool surface'),
    ...createTexts(changes),
    ...createTable(
      ['Tool', 'Size', ...(hasTrend ? [`Last ${shown.length + 1} gates`] : [])],
      sizes,
      'Sizes of the tools',
    ),
    findings.length === 0
      ? null
      : create(
          'details',
          {},
          create('summary', {}, findings.length === 1 ? '1 finding' : `${findings.length} findings`),
          create(
            'ul',
            {},
            ...findings.map(({ message, reason }) => create('li', {}, quoteProse(`${message}. ${reason}`))),
          ),
        ),
  );
}

function createChange({ severity, id, message, reason }: SurfaceChange): HTMLElement {
  return create(
    'tr',
    { class: severity === 'breaking' ? 'regressed' : 'unchanged' },
    create(
      'td',
      { class: 'change' },
      create('span', { class: 'mark', 'aria-hidden': 'true' }, surfaceMarks[severity]),
      severity,
    ),
    create('td', {}, quoteProse(message), ' ', create('code', {}, quote(id))),
    create('td', {}, quoteProse(reason)),
  );
}

/** Shows the old and the new texts of the changes, the first ones open. */
function createTexts(changes: readonly SurfaceChange[]): HTMLElement[] {
  const figures = changes.flatMap((change) => {
    const difference = compareSurfaceTexts(change);
    return difference === null ? [] : [createDifference({ ...difference, what: change.id }, ['Before', 'After'])];
  });
  const folded = figures.slice(maxTexts);
  if (folded.length === 0) return figures;
  const summary = create('summary', {}, folded.length === 1 ? '1 more text' : `${folded.length} more texts`);
  return [...figures.slice(0, maxTexts), create('details', {}, summary, ...folded)];
}

/** Draws the size of a tool over successive gates, oldest first; a dot if the tool was missing. */
function createCourse(course: ReadonlyArray<number | null>): HTMLElement {
  const known = course.filter((bytes) => bytes !== null);
  const [lowest, highest] = [Math.min(...known), Math.max(...known)];
  const text = course.map((bytes) => {
    if (bytes === null) return '·';
    const share = highest === lowest ? 0 : (bytes - lowest) / (highest - lowest);
    return levels[Math.round(share * (levels.length - 1))] ?? '';
  });
  const label = `${known.at(0)} bytes in the first of these gates, ${known.at(-1)} in this one; between ${lowest} and ${highest}`;
  return create('span', { role: 'img', 'aria-label': label, title: label }, text.join(''));
}

function createRow(cells: readonly Child[]): HTMLElement {
  return create('tr', {}, ...cells.map((cell) => create('td', {}, cell)));
}

function createTable(titles: readonly string[], rows: readonly HTMLElement[], label: string): HTMLElement[] {
  if (rows.length === 0) return [];
  const { body, more } = createRows(rows, maxRows);
  const head = create('tr', {}, ...titles.map((text) => create('th', { scope: 'col' }, text)));
  const table = create('table', {}, create('thead', {}, head), body);
  const scroll = create('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, table);
  return more === null ? [scroll] : [scroll, more];
}
