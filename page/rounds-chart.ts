import { formatPassRate } from '../src/model/rate.ts';
import type { SuiteReport } from '../src/model/report.ts';
import type { RoundPoint, RoundsReport, RoundsRequirement } from '../src/model/rounds.ts';
import { describeRoundsDecision } from '../src/report/rounds.ts';
import { create, createSvg, quote } from './dom.ts';

const width = 600;
const height = 170;
const frame = { left: 58, right: 16, top: 14, bottom: 24 };
/** More lines could not be distinguished. */
const maxLines = 6;

const stateWords: Record<RoundsRequirement['state'], string> = {
  passed: 'passed',
  failed: 'failed',
  open: 'open',
  counted: 'counted',
};

/** Draws how far each requirement of a suite was decided after each round; null if the number of iterations was fixed. */
export function createRoundsChart(suite: SuiteReport, currency: string): HTMLElement | null {
  const { rounds } = suite;
  const sentence = describeRoundsDecision(suite, currency);
  if (rounds === undefined || sentence === null) return null;
  const drawn = rounds.requirements.filter(({ path }) => path.length > 0);
  return create(
    'div',
    { class: 'rounds' },
    create('p', {}, sentence),
    drawn.length === 0 || rounds.ran < 2 ? null : createChart(rounds, drawn.slice(0, maxLines)),
    drawn.length === 0 ? null : createTable(drawn),
  );
}

function createChart({ ran }: RoundsReport, requirements: readonly RoundsRequirement[]): SVGElement {
  const last = Math.max(1, ran, ...requirements.map(({ path }) => path.length));
  const x = (round: number) => frame.left + ((width - frame.left - frame.right) * round) / last;
  const y = (evidence: number) => frame.top + ((height - frame.top - frame.bottom) * (1 - evidence)) / 2;
  const level = (evidence: number, name: string, label: string) => [
    createSvg('line', { class: name, x1: frame.left, x2: width - frame.right, y1: y(evidence), y2: y(evidence) }),
    createSvg('text', { class: 'axis', x: frame.left - 6, y: y(evidence) + 4, 'text-anchor': 'end' }, label),
  ];
  const course = ({ scope, path }: RoundsRequirement) =>
    createSvg('polyline', {
      class: scope === 'suite' ? 'course' : 'course other',
      points: [{ round: 0, evidence: 0 }, ...path]
        .map(({ round, evidence }) => `${x(round).toFixed(1)},${y(evidence).toFixed(1)}`)
        .join(' '),
    });
  const end = (requirement: RoundsRequirement) => {
    const point = requirement.path.at(-1);
    return point === undefined ? null : createEnd(requirement, point, { cx: x(point.round), cy: y(point.evidence) });
  };
  const label = `How far the requirements were decided after each of ${last} rounds: ${requirements.map(describeState).join('; ')}`;
  return createSvg(
    'svg',
    { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label },
    ...level(1, 'minimum', 'passed'),
    ...level(0, 'grid', 'open'),
    ...level(-1, 'minimum', 'failed'),
    ...requirements.toReversed().map(course),
    ...requirements
      .toReversed()
      .map(end)
      .filter((mark) => mark !== null),
    createSvg('text', { class: 'axis', x: frame.left, y: height - 6 }, 'start'),
    createSvg('text', { class: 'axis', x: width - frame.right, y: height - 6, 'text-anchor': 'end' }, `round ${last}`),
  );
}

/** Creates the end of a line: a dot if passed, a diamond if failed, a ring if undecided. */
function createEnd(
  requirement: RoundsRequirement,
  { passed, failed }: RoundPoint,
  { cx, cy }: { cx: number; cy: number },
): SVGElement {
  const title = createSvg('title', {}, `${describeState(requirement)}, ${passed} of ${passed + failed}`);
  const isFailed = requirement.state === 'failed';
  const name = requirement.state === 'open' ? 'inconclusive' : requirement.state;
  return isFailed
    ? createSvg('path', { class: 'failed', d: `M${cx} ${cy - 7}l7 7l-7 7l-7 -7z` }, title)
    : createSvg('circle', { class: name, cx, cy, r: 6 }, title);
}

function describeState({ scope, subject, state, decidedAfter }: RoundsRequirement): string {
  const what = subject === null ? 'the suite' : `${scope} ${subject}`;
  return `${what} ${stateWords[state]}${decidedAfter === null ? '' : ` after round ${decidedAfter}`}`;
}

function createTable(requirements: readonly RoundsRequirement[]): HTMLElement {
  const rows = requirements.map((requirement) => {
    const { passed, failed } = requirement.path.at(-1) ?? { passed: 0, failed: 0 };
    const total = passed + failed;
    const cells = [
      describeState(requirement),
      formatPassRate(requirement.minimum),
      `${passed} of ${total} (${formatPassRate(total === 0 ? null : passed / total)})`,
      requirement.further === null ? '–' : `about ${requirement.further}`,
    ];
    return create('tr', {}, ...cells.map((cell) => create('td', {}, quote(cell))));
  });
  const head = ['Requirement', 'Minimum', 'Passed', 'Further iterations'];
  return create(
    'details',
    {},
    create('summary', {}, 'Rounds as a table'),
    create(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Requirements by round' },
      create(
        'table',
        {},
        create('thead', {}, create('tr', {}, ...head.map((text) => create('th', { scope: 'col' }, text)))),
        create('tbody', {}, ...rows),
      ),
    ),
  );
}
