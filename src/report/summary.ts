import { formatCount } from '../base/text.ts';
import type { IterationMark } from '../model/evidence.ts';
import { formatPassRate } from '../model/rate.ts';
import type { CaseReport } from '../model/case-report.ts';
import type { RequirementReport, Report, SuiteReport } from '../model/report.ts';
import { listBaseBlocks } from './base-comparison.ts';
import { listComparisonBlocks } from './comparison.ts';
import { listCoverageBlocks } from './coverage.ts';
import { renderCodeSpan, renderLink, renderLocation, renderProse, renderTableCode } from './escape/markdown.ts';
import { countOmittedFailures, groupFailures, type PrintedOutput } from './failures.ts';
import { createIterationMarks, type MarkIterations } from './iteration-marks.ts';
import { listModelBlocks } from './models.ts';
import { describeFlaky, describeRepeats, describeProbation, findRates, listRoundNotes } from './rounds.ts';
import { listSurfaceBlocks } from './surface.ts';
import { listTrendBlocks } from './trend.ts';
import { renderReasons } from './reasons.ts';
import {
  adviseInconclusive,
  describeCaseCounts,
  describeConcurrency,
  describeFlags,
  describePart,
  describeServer,
  describeSuiteRate,
  describeTotals,
  describeVerdict,
  formatPassed,
  markCase,
  nameRequirement,
  outcomeMarks as marks,
  listServers,
} from './wording.ts';
import { truncateText } from './truncate.ts';

export interface SummaryOptions {
  /** In bytes of UTF-8. GitHub drops a summary above 1 MiB as a whole; the default stays well below it. */
  maxBytes?: number;
  /** Links to more details, such as the report's artifact. */
  links?: ReadonlyArray<{ label: string; url: string }>;
  /** Returns the URL of a line of a file; null if there is none. */
  linkLine?: (place: { file: string; line: number }) => string | null;
  /** The outcomes of single iterations. */
  iterations?: readonly IterationMark[];
}

/** The detail level, and the functions that render links and marks. */
interface Page extends DetailLevel {
  linkLine: NonNullable<SummaryOptions['linkLine']>;
  markIterations: MarkIterations;
  printed: PrintedOutput;
}

/** How much of the cases to show. Levels are tried from the longest to the shortest until the text fits. */
interface DetailLevel {
  hasPassedCases: boolean;
  maxRows: number;
  maxDetails: number;
  maxReasons: number;
}

const detailLevels: readonly DetailLevel[] = [
  { hasPassedCases: true, maxRows: Infinity, maxDetails: Infinity, maxReasons: 10 },
  { hasPassedCases: false, maxRows: Infinity, maxDetails: Infinity, maxReasons: 10 },
  { hasPassedCases: false, maxRows: 100, maxDetails: 20, maxReasons: 10 },
  { hasPassedCases: false, maxRows: 100, maxDetails: 3, maxReasons: 10 },
  { hasPassedCases: false, maxRows: 0, maxDetails: 0, maxReasons: 3 },
];

const maxTitleLength = 120;
const maxReasonLength = 500;
const maxPassedRows = 15;
const maxComparedRows = 50;
const maxMatrixRows = 50;
const maxRequirements = 50;
const maxMissing = 8;
const maxOpenRequirements = 10;
/** Folds further failing cases, so that a phone shows the worst ones and the end of the page. */
const maxOpenDetails = 5;

/**
 * Renders GitHub's job summary in Markdown: the verdict and its reason, each suite's rate against its minimum, the cases worst first, the
 * failures. Renders a text that is too large again with less detail: all cases, those that did not pass, the worst of them, counts. Foreign
 * text occurs only in code spans and fences.
 */
export function renderSummary(report: Report, options: SummaryOptions = {}): string {
  const { maxBytes = 900 * 1024, links = [], linkLine = () => null, iterations = [] } = options;
  const markIterations = createIterationMarks(iterations);
  for (const detail of detailLevels) {
    const text = renderPage(report, { ...detail, linkLine, markIterations, printed: new Map() }, links);
    if (Buffer.byteLength(text) <= maxBytes) return text;
  }
  return `${renderTitle(report)}\n`;
}

function renderTitle(report: Report): string {
  return `## ${marks[report.verdict.outcome]} ${describeVerdict(report)}`;
}

function renderPage(report: Report, page: Page, links: NonNullable<SummaryOptions['links']>): string {
  const blocks = [
    renderTitle(report),
    ...[describePart(report) ?? []].flat(),
    ...listReasons(report, page),
    ...listNotes(report, page),
    ...report.suites.flatMap((suite) => listSuite(report, suite, page)),
    ...listModelBlocks(report, { maxRows: Math.min(page.maxRows, maxMatrixRows) }),
    ...(report.baseComparison === null
      ? []
      : listBaseBlocks(report.baseComparison, { maxRows: Math.min(page.maxRows, maxComparedRows) })),
    ...(report.comparison === null
      ? []
      : listComparisonBlocks(report.comparison, { maxRows: Math.min(page.maxRows, maxComparedRows) })),
    ...(report.surface === undefined
      ? []
      : listSurfaceBlocks(report.surface, {
          maxRows: Math.min(page.maxRows, maxComparedRows),
          linkLine: page.linkLine,
        })),
    ...(report.coverage === undefined
      ? []
      : listCoverageBlocks(report.coverage, report, { maxMissing: Math.min(page.maxRows, maxMissing) })),
    ...listTrendBlocks(report, { hasTable: page.maxDetails > 0 }),
    '---',
    [
      describeTotals(report),
      ...listServers(report).map((server) => renderProse(truncateText(describeServer(server), maxReasonLength))),
      ...(links.length === 0 ? [] : [links.map(({ label, url }) => renderLink(label, url)).join(' · ')]),
    ].join('<br>\n'),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function listReasons(report: Report, { maxReasons, printed }: Page): string[] {
  const limits = { maxReasons, maxTitleLength, maxReasonLength };
  const { headline, output, others } = renderReasons(report, limits, printed);
  return [
    ...headline,
    ...output,
    ...others,
    ...(report.verdict.outcome === 'inconclusive' ? [adviseInconclusive(report.verdict)] : []),
  ];
}

function listNotes({ notes }: Report, { maxReasons }: DetailLevel): string[] {
  const hidden = notes.length - maxReasons;
  const shown = notes.slice(0, maxReasons).map((note) => `> ${renderProse(truncateText(note, maxReasonLength))}`);
  return shown.length === 0
    ? []
    : // Uses paragraphs: a note without words and a `<br>` would be a line of HTML, and begin an HTML block.
      [[...shown, ...(hidden > 0 ? [`> and ${formatCount(hidden, 'more note')}`] : [])].join('\n>\n')];
}

function listSuite(report: Report, suite: SuiteReport, page: Page): string[] {
  const cases = report.cases.filter(({ suiteId }) => suiteId === suite.id);
  const notPassed = cases.filter(({ outcome }) => outcome !== 'passed');
  const passed = cases.filter(({ outcome }) => outcome === 'passed');
  return [
    `### ${marks[suite.verdict.outcome]} ${renderCodeSpan(truncateText(suite.name, maxTitleLength))}`,
    [
      describeSuiteRate(suite),
      ...(suite.repeats === null ? [] : [describeRepeats(suite.repeats, renderCodeSpan)]),
      ...linkRun(suite),
    ].join(' · '),
    ...[...listRoundNotes(suite, { cases, models: report.models }), ...listConcurrency(suite)].map((text) =>
      renderProse(truncateText(text, maxReasonLength)),
    ),
    ...listTable(notPassed, page),
    ...listDetails(notPassed, { ...page, maxOpen: maxOpenFor(suite) }),
    ...listPassed(passed, page),
    ...listRepeats(suite, cases, page),
    ...listRequirements(suite, page),
  ];
}

function listConcurrency({ concurrency }: SuiteReport): string[] {
  return concurrency === null ? [] : [describeConcurrency(concurrency)];
}

const requirementMarks: Record<RequirementReport['state'], string> = { met: '✅', 'not-met': '❌', unknown: '⚠️' };

/** Lists the requirements in a table. Omits a suite's only requirement, its own minimum, which the headline shows. */
function listRequirements({ requirements }: SuiteReport, { maxRows }: DetailLevel): string[] {
  if (requirements.length < 2) return [];
  const shown = requirements.slice(0, Math.min(maxRows, maxRequirements));
  const rows = shown.map((requirement) => {
    const mark =
      requirement.state === 'not-met' && !requirement.isDecisive ? '⚠️' : requirementMarks[requirement.state];
    const cells = [nameRequirement(requirement), requirement.requirement, requirement.source].map((text) =>
      renderTableCode(truncateText(text, maxTitleLength)),
    );
    return `| ${mark} | ${cells.join(' | ')} |`;
  });
  const hidden = requirements.length - shown.length;
  const table = rows.length === 0 ? [] : [`| | Of | Requirement | From |\n|---|---|---|---|\n${rows.join('\n')}`];
  const warnings = requirements
    .filter(({ state, isDecisive }) => state === 'not-met' && !isDecisive)
    .slice(0, maxRequirements);
  return [
    ...warnings.map(({ finding }) => `⚠️ ${renderProse(truncateText(finding, maxReasonLength))}`),
    ...(rows.length <= maxOpenRequirements ? table : fold(formatCount(rows.length, 'requirement'), table)),
    ...(hidden > 0 ? [`${formatCount(hidden, 'more requirement')}; the report lists them.`] : []),
  ];
}

/** Lists the repeat rates of the cases that passed sometimes: for the others, every rate is 100% or 0%. */
function listRepeats({ repeats }: SuiteReport, cases: readonly CaseReport[], { maxRows }: DetailLevel): string[] {
  if (repeats === null) return [];
  const ks = repeats.k === 2 ? [2] : [2, repeats.k];
  const rows = cases.flatMap((testCase) => {
    if (testCase.passed === 0 || testCase.failed === 0 || testCase.quarantine !== null) return [];
    const cells = ks.map((k) => findRates(testCase, k)).flatMap((rates) => [rates?.passAtK, rates?.passHatK]);
    const name = renderTableCode(truncateText(testCase.title, maxTitleLength));
    return [`| ${[name, ...cells.map((rate) => formatPassRate(rate ?? null))].join(' | ')} |`];
  });
  if (rows.length === 0 || rows.length > maxRows) return [];
  const head = ['Case', ...ks.flatMap((k) => [`pass@${k}`, `pass^${k}`].map(renderCodeSpan))];
  const table = [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows].join('\n');
  return fold(`${formatCount(rows.length, 'case')} passed sometimes`, [table]);
}

function linkRun({ run }: SuiteReport): string[] {
  return run?.url?.startsWith('https://') === true ? [renderLink('Open the run', run.url)] : [];
}

/** Folds the failures of a suite that passed: its minimum tolerates them, so they are not the first thing to see. */
function maxOpenFor({ verdict }: SuiteReport): number {
  return verdict.outcome === 'passed' ? 0 : maxOpenDetails;
}

function listTable(cases: readonly CaseReport[], page: Page): string[] {
  const { maxRows } = page;
  const hidden = cases.length - maxRows;
  return [
    ...(cases.length === 0 || maxRows === 0 ? [] : [renderTable(cases.slice(0, maxRows), page)]),
    ...(hidden > 0 ? [`${formatCount(hidden, 'more case')} did not pass; the report lists them.`] : []),
  ];
}

function renderTable(cases: readonly CaseReport[], { markIterations }: Page): string {
  const rows = cases.map((testCase) => {
    const name = renderTableCode(truncateText(testCase.title, maxTitleLength));
    const marks = markIterations(testCase);
    const passed = `${formatPassed(testCase)}${marks === null ? '' : ` ${marks}`}`;
    return `| ${markCase(testCase)} | ${name}${describeFlags(testCase)} | ${passed} |`;
  });
  return ['| | Case | Passed |', '|---|---|---|', ...rows].join('\n');
}

function listPassed(cases: readonly CaseReport[], page: Page): string[] {
  if (cases.length === 0) return [];
  if (!page.hasPassedCases) return [`${formatCount(cases.length, 'case')} passed.`];
  return cases.length <= maxPassedRows
    ? [renderTable(cases, page)]
    : fold(`${formatCount(cases.length, 'case')} passed`, [renderTable(cases, page)]);
}

function listDetails(cases: readonly CaseReport[], limits: Page & { maxOpen: number }): string[] {
  const list = (testCase: CaseReport) => listCaseDetails(testCase, limits);
  const detailed = cases.filter(({ failures }) => failures.length > 0).slice(0, limits.maxDetails);
  const folded = detailed.slice(limits.maxOpen);
  return [
    ...detailed.slice(0, limits.maxOpen).flatMap(list),
    ...(folded.length === 0
      ? []
      : fold(
          `What failed in ${formatCount(folded.length, limits.maxOpen === 0 ? 'case' : 'more case')}`,
          folded.flatMap(list),
        )),
  ];
}

function listCaseDetails(testCase: CaseReport, { linkLine, printed }: Page): string[] {
  const { title, location, required, quarantine } = testCase;
  const flaky = describeFlaky(testCase);
  const place = location === null ? [] : [renderLocation(location, linkLine)];
  const omitted = countOmittedFailures(testCase);
  return [
    `#### ${markCase(testCase)} ${renderCodeSpan(truncateText(title, maxTitleLength))}`,
    [
      ...place,
      describeCaseCounts(testCase),
      ...(required ? ['required'] : []),
      ...(quarantine === null ? [] : ['in quarantine']),
      ...[describeProbation(testCase) ?? []].flat(),
      ...(flaky === null ? [] : [flaky]),
    ].join(' · '),
    ...groupFailures(testCase, printed).flatMap(({ heading, lines }) => [
      `${renderProse(truncateText(heading, maxReasonLength))}:`,
      // Uses code spans, which wrap; a fenced block would need sideways scrolling on a phone.
      lines.map((line) => `- ${renderCodeSpan(line)}`).join('\n'),
    ]),
    ...(omitted > 0 ? [`and ${formatCount(omitted, 'more failed iteration')}.`] : []),
  ];
}

/** Folds blocks. `summary` must be the gate's own text: inside an HTML block, Markdown's code spans would not protect foreign text. */
function fold(summary: string, blocks: readonly string[]): string[] {
  return [`<details>\n<summary>${summary}</summary>`, ...blocks, '</details>'];
}
