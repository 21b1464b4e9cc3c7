// Makes docs/benchmark.md and its plot of the cells that were measured.
import { cpus } from 'node:os';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { computeClusteredInterval } from '../../lib/verdict/statistics/clustered.js';
import { type Cell, type GateRun, isCaught, type Line } from './cell.ts';
import type { Contestant } from './contestant.ts';
import { type Bug, type Change, classes, findHalf, hashPatch } from './corpus.ts';
import { drawPlot } from './plot.ts';
import { drawScatter, type ScatterPoint } from './scatter.ts';
import { joinStrengths, type MeasuredStrength } from './strength.ts';
import { taxonomies } from './taxonomies.ts';
import type { Server } from './servers.ts';

const page = fileURLToPath(new URL('../../docs/benchmark.md', import.meta.url));
const images = fileURLToPath(new URL('../../docs/images', import.meta.url));
const error = 0.025;
const unmeasured = 'not measured in this run';
/** How many runs of the unchanged server must be without a signal before one on a head counts. */
const baseRuns = 3;
/** Below so many bugs a gate, the page says what they cannot show. */
const smallSample = 60;
const mostMissed = 5;
const mostLessons = 10;

export interface PageInput {
  cells: readonly Cell[];
  changes: readonly Change[];
  servers: readonly Server[];
  heldOut: ReadonlySet<string>;
  contestants: ReadonlyArray<{ name: string; contestant: Contestant }>;
  /** Why a contestant could not be installed. */
  missing: ReadonlyMap<string, string>;
  /** How many changes of each server were proven as they are. */
  proven: ReadonlyMap<string, number>;
  strengths: readonly MeasuredStrength[];
}

type Column = 'fails' | 'reports';

/** What one contestant showed of one change. */
export interface Result {
  server: string;
  kind: Line['kind'];
  key: string;
  class: string | undefined;
  fails: boolean;
  reports: boolean;
  runs: readonly GateRun[];
}

interface Row {
  /** Of the contestant's file. */
  name: string;
  /** For heads of columns. */
  label: string;
  title: string;
  missing: string | null;
  version: string;
  lines: string;
  results: Result[];
  cells: Cell[];
}

export async function writePage(input: PageInput): Promise<void> {
  await mkdir(images, { recursive: true });
  const rows = listRows(input);
  const points = rows
    .filter(({ results }) => results.some(({ kind }) => kind === 'bug'))
    .map(({ title, results }) => ({
      title,
      fails: share(results, 'bug', 'fails'),
      reports: share(results, 'bug', 'reports'),
    }));
  const scattered = scatter(input, rows);
  for (const theme of ['light', 'dark'] as const) {
    await writeFile(`${images}/benchmark-${theme}.svg`, drawPlot(points, theme));
    if (scattered.length > 0) await writeFile(`${images}/strength-${theme}.svg`, drawScatter(scattered, theme));
  }
  await writeFile(page, await renderPage(input, rows));
  console.log('Wrote docs/benchmark.md.');
}

/** A point for each server and each contestant whose evals were measured. */
function scatter({ strengths }: PageInput, rows: readonly Row[]): ScatterPoint[] {
  return joinStrengths(strengths, (strength) => {
    const results = rows.find(({ name }) => name === strength.contestant)?.results ?? [];
    return count(
      results.filter(({ server }) => server === strength.server),
      'bug',
      'fails',
    );
  });
}

function renderStrength(points: readonly ScatterPoint[]): string {
  if (points.length === 0) return '';
  const format = ({ passed, total, rate, lower, upper }: ScatterPoint['noticed']) =>
    `${passed} of ${total}, ${percent(rate)} (${percent(lower)} to ${percent(upper)})`;
  return (
    '## Strength of evals\n\n[`mutate`](strength.md) counts the harmful changes of answers that evals notice. Each point is a server: ' +
    'to the right, evals that notice more; above, gates that fail on more of its bugs. The lines are 95 % intervals.\n\n' +
    '![Bugs caught by the strength of evals](images/strength-light.svg#gh-light-mode-only)\n' +
    '![Bugs caught by the strength of evals](images/strength-dark.svg#gh-dark-mode-only)\n\n' +
    table(
      ['Server', 'Gate', 'Harmful changes noticed', 'Bugs that it fails on'],
      points.map(({ server, contestant, noticed, caught }) => [
        server,
        `\`${contestant}\``,
        format(noticed),
        format(caught),
      ]),
    )
  );
}

/** A row for each contestant, and one more where it was measured at level `confined`, too. */
function listRows({ cells, contestants, missing }: PageInput): Row[] {
  const listed = contestants.flatMap(({ name, contestant }) => {
    const confined = cells.filter((cell) => cell.contestant === name && cell.level === 'confined');
    const others = cells.filter((cell) => cell.contestant === name && cell.level !== 'confined');
    const row = { name, label: `\`${name}\``, title: contestant.title, own: others };
    if (confined.length === 0) return [row];
    const inSandbox = {
      name,
      label: `\`${name}\`, confined`,
      title: `${contestant.title}, confined`,
      own: confined,
    };
    return others.length === 0 ? [inSandbox] : [row, inSandbox];
  });
  return listed.map(({ name, label, title, own }) => {
    const [first] = own;
    const lines = own.map((cell) => cell.lines);
    return {
      name,
      label,
      title,
      missing: own.some(({ measured }) => measured.length > 0) ? null : (missing.get(name) ?? unmeasured),
      version: first?.version ?? '',
      lines: lines.length === 0 ? '' : String(Math.round(lines.reduce((sum, each) => sum + each, 0) / lines.length)),
      results: own.flatMap(judgeCell),
      cells: own,
    };
  });
}

/** A signal that the unchanged server gives, too, is no signal about a change. */
export function judgeCell({ server, measured }: Pick<Cell, 'server' | 'measured'>): Result[] {
  const base = measured.filter(({ kind }) => kind === 'repeat').slice(0, baseRuns);
  const isSilent = (column: Column) => base.every(({ runs }) => runs.every((run) => !run[column]));
  const judge = (line: Line, column: Column) =>
    line.kind === 'repeat'
      ? line.runs.some((run) => run[column])
      : isCaught(line.runs, column) && (line.kind !== 'bug' || isSilent(column));
  return measured.map((line) => ({
    server,
    kind: line.kind,
    key: line.key,
    class: line.class,
    fails: judge(line, 'fails'),
    reports: judge(line, 'reports'),
    runs: line.runs,
  }));
}

function count(results: readonly Result[], kind: Line['kind'], column: Column): { passed: number; total: number } {
  const own = results.filter((result) => result.kind === kind);
  return { passed: own.filter((result) => result[column]).length, total: own.length };
}

function share(results: readonly Result[], kind: Line['kind'], column: Column): number {
  const { passed, total } = count(results, kind, column);
  return total === 0 ? 0 : passed / total;
}

function listServers(results: readonly Result[]): string[] {
  return [...new Set(results.map(({ server }) => server))].toSorted();
}

/** The share with its interval, clustered by server. */
function formatRate(results: readonly Result[], kind: Line['kind'], column: Column): string {
  const clusters = listServers(results).map((server) =>
    count(
      results.filter((result) => result.server === server),
      kind,
      column,
    ),
  );
  const interval = computeClusteredInterval(clusters, { passing: error, failing: error });
  if (interval === null) return '–';
  const { passed, total } = count(results, kind, column);
  return `${passed} of ${total}, ${percent(interval.rate)} (${percent(interval.lower)} to ${percent(interval.upper)})`;
}

/** Alarms; none are shown with the rate that so many could have missed. */
export function formatAlarms(results: readonly Result[], kind: Line['kind'], column: Column): string {
  const { passed, total } = count(results, kind, column);
  if (total === 0) return '–';
  if (passed > 0) return `${passed} of ${total}`;
  return `0 of ${total}, below ${percent(1 - error ** (1 / total))}`;
}

function findWorst(results: readonly Result[], column: Column): string {
  const rates = listServers(results)
    .map((server) => ({
      server,
      ...count(
        results.filter((result) => result.server === server),
        'bug',
        column,
      ),
    }))
    .filter(({ total }) => total > 0)
    .toSorted((a, b) => a.passed / a.total - b.passed / b.total);
  const [worst] = rates;
  return worst === undefined ? '–' : `${worst.server}: ${worst.passed} of ${worst.total}`;
}

function percent(rate: number): string {
  return `${(rate * 100).toFixed(rate > 0 && rate < 0.1 ? 1 : 0)} %`;
}

function medianSeconds(results: readonly Result[]): string {
  const seconds = results
    .flatMap(({ runs }) => runs.filter(({ outcome }) => outcome === 'done').map((run) => run.seconds))
    .toSorted((a, b) => a - b);
  const middle = seconds[Math.floor(seconds.length / 2)];
  return middle === undefined ? '–' : middle.toFixed(1);
}

function table(head: readonly string[], lines: ReadonlyArray<readonly string[]>): string {
  const write = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [write(head), write(head.map(() => '---')), ...lines.map(write)].join('\n');
}

/** Lists the commits of the cells; where there are several, with the gates that ran at each. */
function listCommits(cells: readonly Cell[]): string {
  const byCommit = [...Map.groupBy(cells, ({ commit }) => commit)];
  return byCommit
    .map(([commit, own]) => {
      const names = [...new Set(own.map(({ contestant }) => `\`${contestant}\``))].toSorted();
      return `\`${commit}\`${byCommit.length === 1 ? '' : ` (${names.join(', ')})`}`;
    })
    .join(' and ');
}

export async function renderPage(input: PageInput, rows = listRows(input)): Promise<string> {
  const measured = rows.filter(({ missing }) => missing === null);
  const { changes, servers, heldOut } = input;
  const bugs = changes.filter((change) => change.kind === 'bug');
  const sound = changes.filter(({ kind }) => kind !== 'bug');
  const commits = listCommits(input.cells);
  const levels = [...new Set(input.cells.map(({ level }) => level))].join(', ');
  const measuredServers = [...new Set(input.cells.map(({ server }) => server))].toSorted().join(', ');
  const drawn = new Set(input.cells.flatMap((cell) => cell.measured.map(({ key }) => key)));
  const drawnBugs = bugs.filter((bug) => drawn.has(hashPatch(bug)));
  const drawnSound = sound.filter((change) => drawn.has(hashPatch(change)));
  const shown = bugs.filter((bug) => findHalf(bug) === 'development' && !heldOut.has(bug.server));
  const sections = [
    '# Benchmark of gates',
    '<!-- `npm run bench -- gates --table` writes this page. -->',
    await readFile(new URL('introduction.md', import.meta.url), 'utf8').then((text) => text.trim()),
    `## This run\n\nCommit ${commits}, Node.js ${process.version}, ${cpus().length} processors, shared with other work${describeLoad(input.cells)}. Sandbox level: ${levels || 'none'}. ` +
      `Measured ${input.cells.length} cells, each a gate at one server, of ${servers.length * input.contestants.length}. ` +
      `The sample has ${drawnBugs.length} of ${bugs.length} bugs and ${drawnSound.length} of ${sound.length} sound changes, drawn by a seed over ${measuredServers}; ` +
      'the seconds are those of a busy machine. Rates are with 95 % intervals, clustered by server.' +
      renderCaution(measured),
    '## Bugs caught\n\n![Share of bugs that each gate fails on and reports](images/benchmark-light.svg#gh-light-mode-only)\n' +
      '![Share of bugs that each gate fails on and reports](images/benchmark-dark.svg#gh-dark-mode-only)\n\n' +
      table(
        [
          'Gate',
          'Name below',
          'Version',
          'Fails',
          'Reports',
          'Worst server, reports',
          'Hung or broken',
          'Seconds a gate',
          'Lines written',
        ],
        measured.map((row) => [
          row.title,
          row.label,
          row.version,
          formatRate(row.results, 'bug', 'fails'),
          formatRate(row.results, 'bug', 'reports'),
          findWorst(row.results, 'reports'),
          String(row.results.filter(({ runs }) => runs.some(({ outcome }) => outcome !== 'done')).length),
          medianSeconds(row.results),
          row.lines,
        ]),
      ) +
      renderAlarming(measured) +
      renderUneven(measured) +
      renderCut(measured) +
      renderUnmeasured(rows),
    '## False alarms\n\nA silent change shows nowhere: any signal is a false alarm. A meant change shows on purpose: a gate may report it, and may not fail. ' +
      'A repeat is a run of the unchanged server.\n\n' +
      table(
        [
          'Gate',
          'Fails, silent',
          'Reports, silent',
          'Fails, meant',
          'Reports, meant (right)',
          'Fails, repeats',
          'Reports, repeats',
        ],
        measured.map(({ label, results }) => [
          label,
          formatAlarms(results, 'silent', 'fails'),
          formatAlarms(results, 'silent', 'reports'),
          formatAlarms(results, 'meant', 'fails'),
          `${count(results, 'meant', 'reports').passed} of ${count(results, 'meant', 'reports').total}`,
          formatAlarms(results, 'repeat', 'fails'),
          formatAlarms(results, 'repeat', 'reports'),
        ]),
      ),
    `## By class of bug\n\nFails / reports of how many.\n\n${table(
      ['Class', ...measured.map(({ label }) => label)],
      classes
        .filter((named) => measured.some(({ results }) => results.some((result) => result.class === named)))
        .map((named) => [
          named,
          ...measured.map(({ results }) => formatPair(results.filter((result) => result.class === named))),
        ]),
    )}`,
    `## By server\n\nFails / reports of how many bugs. Servers marked * are held out: their cells show totals only.\n\n${table(
      ['Server', ...measured.map(({ label }) => label)],
      servers
        .filter(({ name }) => measured.some(({ results }) => results.some(({ server }) => server === name)))
        .map(({ name }) => [
          `${name}${heldOut.has(name) ? ' *' : ''}`,
          ...measured.map(({ results }) => formatPair(results.filter(({ server }) => server === name))),
        ]),
    )}`,
    ...[renderStrength(scatter(input, rows))].filter((section) => section !== ''),
    renderMissed(measured, shown),
    renderLosses(measured, shown),
    renderLessons(measured, shown),
    renderCorpus(input, bugs),
    `## Where the classes come from\n\n${taxonomies}`,
  ];
  return `${sections.join('\n\n')}\n`;
}

/** Says how busy the machine was. */
function describeLoad(cells: readonly Cell[]): string {
  const loads = cells.flatMap(({ measured }) => measured.flatMap(({ load }) => load ?? [])).toSorted((a, b) => a - b);
  const middle = loads[Math.floor(loads.length / 2)];
  return middle === undefined ? '' : ` (a load average of ${middle} in the middle, ${loads.at(-1)} at most)`;
}

/** A run that did not come to its end has rows of other bugs, which do not compare. */
function renderUneven(rows: readonly Row[]): string {
  const totals = new Set(rows.map(({ results }) => count(results, 'bug', 'fails').total));
  if (totals.size < 2) return '';
  return '\n\nThis run is partial: gates were measured on different numbers of bugs. Compare two rows only if both have the same number, or compare them [by server](#by-server).';
}

/** Says where a gate is red whatever changes, which its share of bugs alone does not show. */
function renderAlarming(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ label, results }) => {
    const red = listServers(results.filter(({ kind, fails }) => kind === 'repeat' && fails));
    return red.length === 0
      ? []
      : [
          `- ${label} fails on the unchanged server of ${red.join(', ')}: nothing that it shows there counts as a catch.`,
        ];
  });
  return lines.length === 0 ? '' : `\n\n${lines.join('\n')}`;
}

/** A search for calls that a busy machine cut finds less than an idle one. */
function renderCut(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ title, results }) => {
    const runs = results.flatMap((result) => result.runs);
    const cut = runs.filter(({ isCut }) => isCut === true).length;
    return cut === 0
      ? []
      : [`${title}: its time limit cut ${cut} of ${runs.length} runs, because the machine was busy.`];
  });
  return lines.map((line) => `\n\n${line}`).join('');
}

function formatPair(results: readonly Result[]): string {
  const { total } = count(results, 'bug', 'fails');
  return total === 0
    ? '–'
    : `${count(results, 'bug', 'fails').passed} / ${count(results, 'bug', 'reports').passed} of ${total}`;
}

/** Says what a small sample cannot show. */
function renderCaution(rows: readonly Row[]): string {
  const totals = rows.map(({ results }) => count(results, 'bug', 'fails').total);
  if (totals.length === 0 || Math.min(...totals) >= smallSample) return '';
  return (
    ` This sample is small, ${Math.min(...totals)} to ${Math.max(...totals)} bugs a gate: one gate is ahead of another beyond chance only where it catches at least six bugs that the other misses ` +
    'and misses none that the other catches (a sign test at 5 %), and no single server or class has enough bugs to rank gates.'
  );
}

/** One line for each reason. */
function renderUnmeasured(rows: readonly Row[]): string {
  const reasons = Map.groupBy(
    rows.filter(({ missing }) => missing !== null),
    ({ missing }) => missing,
  );
  const lines = [...reasons].map(
    ([reason, own]) => `- ${own.map(({ title }) => title).join('; ')}: ${reason?.replace(/\.$/, '')}.`,
  );
  return lines.length === 0 ? '' : `\n\nWithout a row:\n\n${lines.join('\n')}`;
}

/** The names of the gates that measured a bug, by whether they reported it. */
function findGates(rows: readonly Row[], bug: Bug): { reporting: string[]; silent: string[] } {
  const key = hashPatch(bug);
  const measured = rows.flatMap(({ label, results }) => {
    const result = results.find((each) => each.kind === 'bug' && each.key === key);
    return result === undefined ? [] : [{ label, isReported: result.reports }];
  });
  const name = (isReported: boolean) =>
    measured.filter((each) => each.isReported === isReported).map(({ label }) => label);
  return { reporting: name(true), silent: name(false) };
}

function describeBug({ server, class: named, notice }: Bug): string {
  return `${server}, ${named}: ${notice.replaceAll(/\s+/g, ' ').replace(/\.$/, '')}`;
}

/** Of the half for development only, since the other one is for measuring. */
function renderMissed(rows: readonly Row[], bugs: readonly Bug[]): string {
  const lines = bugs
    .map((bug) => ({ bug, ...findGates(rows, bug) }))
    .filter(({ reporting, silent }) => reporting.length === 0 && silent.length > 0)
    .toSorted((a, b) => b.silent.length - a.silent.length)
    .slice(0, mostMissed)
    .map(({ bug, silent }) => `- ${describeBug(bug)} (${silent.length === 1 ? '1 row' : `${silent.length} rows`}).`);
  return `## Bugs that no gate caught\n\nAt most five, from the half for development, with how many rows measured each.\n\n${lines.length === 0 ? 'None in this sample.' : lines.join('\n')}`;
}

const ownNames = new Set(['behaviour', 'init', 'surface']);

/** The totals are of all bugs; those of the half for development are named. */
function renderLosses(rows: readonly Row[], bugs: readonly Bug[]): string {
  const own = rows.filter(({ name }) => ownNames.has(name));
  const others = rows.filter((row) => !own.includes(row));
  const lines = own.flatMap((row) => {
    const missed = new Set(row.results.filter(({ kind, reports }) => kind === 'bug' && !reports).map(({ key }) => key));
    const ahead = (other: Row) =>
      other.results.filter(({ kind, key, reports }) => kind === 'bug' && reports && missed.has(key));
    const lost = new Set(others.flatMap((other) => ahead(other).map(({ key }) => key)));
    if (lost.size === 0) return [];
    const counts = others
      .map((other) => ({ label: other.label, count: ahead(other).length }))
      .filter((each) => each.count > 0)
      .map((each) => `${each.label} ${each.count}`);
    const named = bugs.filter((bug) => lost.has(hashPatch(bug))).map((bug) => `  - ${describeBug(bug)}.`);
    const total = lost.size === 1 ? 'a bug' : `${lost.size} bugs`;
    return [`- ${row.label} does not report ${total} that others report: ${counts.join(', ')}.`, ...named];
  });
  return `## Where this project loses\n\n${lines.length === 0 ? 'In no bug of this sample.' : lines.join('\n')}`;
}

const explorers = new Set(['behaviour', 'init']);

/** First what a call of another gate shows, then what the explorer itself found for one of its gates and not for the other. */
function renderLessons(rows: readonly Row[], bugs: readonly Bug[]): string {
  const own = rows.filter(({ name }) => explorers.has(name));
  const others = rows.filter((row) => !own.includes(row));
  const lines = bugs
    .map((bug) => ({ bug, found: findGates(own, bug), others: findGates(others, bug).reporting }))
    .filter(({ found }) => found.silent.length > 0)
    .toSorted((a, b) => b.found.silent.length - a.found.silent.length || b.others.length - a.others.length)
    .slice(0, mostLessons)
    .map(({ bug, found, others: reporting }) => {
      const calls = bug.proof.calls.flatMap((call) => ('tool' in call ? [`\`${call.tool}\``] : []));
      const shows = calls.length === 0 ? 'a list shows it' : `calls of ${[...new Set(calls)].join(', ')} show it`;
      const caught = [...found.reporting, ...reporting];
      const by =
        caught.length === 0
          ? 'no row reports it'
          : `${caught.join(', ')} ${caught.length === 1 ? 'reports' : 'report'} it`;
      return `- ${describeBug(bug)} (missed by ${found.silent.join(', ')}; ${shows}; ${by}).`;
    });
  return `## What would teach the explorer most\n\nBugs of the half for development that a gate with an exploration missed: at most ten, first those that most such gates missed.\n\n${lines.length === 0 ? 'None in this sample.' : lines.join('\n')}`;
}

function renderCorpus({ servers, changes, heldOut, proven }: PageInput, bugs: readonly Bug[]): string {
  const lines = servers.map(({ name, package: packaged, version, licence }) => {
    const own = bugs.filter(({ server }) => server === name);
    const sound = changes.filter(({ server, kind }) => server === name && kind !== 'bug');
    return [
      `${name}${heldOut.has(name) ? ' *' : ''}`,
      `\`${packaged}\` ${version}, ${licence}`,
      String(own.length),
      String(own.filter(({ origin }) => origin === 'mined').length),
      String(own.filter(({ origin }) => origin.startsWith('operator')).length),
      `${sound.filter(({ kind }) => kind === 'silent').length} / ${sound.filter(({ kind }) => kind === 'meant').length}`,
      `${proven.get(name) ?? 0} of ${own.length + sound.length}`,
    ];
  });
  const head = ['Server', 'Package', 'Bugs', 'Mined', 'Drawn by operators', 'Sound, silent / meant', 'Proven'];
  return `## Corpus\n\n\`--prove\` starts both sides of each bug and of each sound change. The last column has those whose proof held; \`bench/gates/proofs\` keeps their hashes.\n\n${table(head, lines)}`;
}
