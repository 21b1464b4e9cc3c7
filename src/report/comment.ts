import { readFirstLine, formatCount } from '../base/text.ts';
import type { CaseReport } from '../model/case-report.ts';
import type { Report, SuiteReport } from '../model/report.ts';
import type { VerdictOutcome } from '../model/verdict.ts';
import { describeBase } from './base-comparison.ts';
import { describeBaseline, describeChanges } from './comparison.ts';
import { renderCodeSpan, renderLink, renderLocation, renderProse } from './escape/markdown.ts';
import { listModelBlocks } from './models.ts';
import { describeRoundsDecision } from './rounds.ts';
import { renderReasons } from './reasons.ts';
import { listSurfaceLines } from './surface.ts';
import {
  adviseInconclusive,
  describeFlags,
  describePart,
  describeSuiteRate,
  describeTotals,
  describeVerdict,
  formatPassed,
  markCase,
  outcomeMarks,
} from './wording.ts';
import { truncateReason, truncateText } from './truncate.ts';

export interface CommentOptions {
  /** In UTF-8. GitHub refuses a comment of more than about 64 KiB; the default stays below it. */
  maxBytes?: number;
  /** The name of the job: a pull request may have comments of several jobs. */
  job?: string | null;
  /** The run in which the gate ran. */
  run?: { label: string; url: string } | null;
  /** Returns the URL of a line of the commit that was tested; null if unknown. */
  linkLine?: (place: { file: string; line: number }) => string | null;
}

/** How much of the cases to show. Levels are tried from the longest to the shortest until the text fits. */
interface DetailLevel {
  maxCases: number;
  maxSuites: number;
  maxReasons: number;
}

const detailLevels: readonly DetailLevel[] = [
  { maxCases: 50, maxSuites: 20, maxReasons: 4 },
  { maxCases: 20, maxSuites: 10, maxReasons: 4 },
  { maxCases: 5, maxSuites: 5, maxReasons: 4 },
  { maxCases: 0, maxSuites: 0, maxReasons: 1 },
];

const defaultMaxBytes = 60_000;
/** The number of cases that are not folded, about as many as a phone shows without scrolling. */
const maxOpenCases = 5;
const maxTitleLength = 100;
const maxReasonLength = 300;
const maxNotes = 3;
const maxMatrixRows = 10;
const maxSurfaceRows = 10;

/**
 * Renders the comment on a pull request in Markdown, to be read in ten seconds on a phone: the verdict and its reason, each suite's rate,
 * the worst cases with their first reason, the missing results, and links. Renders a text that is too large again with less detail. Foreign
 * text occurs only in code spans.
 */
export function renderComment(report: Report, options: CommentOptions = {}): string {
  const maxBytes = options.maxBytes ?? defaultMaxBytes;
  for (const detail of detailLevels) {
    const text = renderBody(report, detail, options);
    if (Buffer.byteLength(text) <= maxBytes) return text;
  }
  return `${renderTitle(report, null)}\n`;
}

function renderTitle(report: Report, job: string | null): string {
  const place = job === null ? '' : `: ${renderCodeSpan(truncateText(job, maxTitleLength))}`;
  return `### ${outcomeMarks[report.verdict.outcome]} ${describeVerdict(report)}${place}`;
}

function renderBody(report: Report, detail: DetailLevel, options: CommentOptions): string {
  const blocks = [
    renderTitle(report, options.job ?? null),
    ...[describePart(report) ?? []].flat(),
    ...listReasons(report, detail),
    ...listUnread(report),
    ...listSuites(report, detail, options),
    ...listModelBlocks(report, { maxRows: Math.min(detail.maxCases, maxMatrixRows) }),
    ...(report.baseComparison === null ? [] : [describeBase(report.baseComparison)]),
    ...(report.surface === undefined
      ? []
      : listSurfaceLines(report.surface, { maxRows: Math.min(detail.maxCases, maxSurfaceRows) })),
    ...listBaseline(report),
    ...listNotes(report),
    '---',
    listFooter(report, options).join('<br>\n'),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function listReasons(report: Report, { maxReasons }: DetailLevel): string[] {
  const { headline, others } = renderReasons(report, { maxReasons, maxTitleLength, maxReasonLength });
  return [
    ...headline,
    // If the verdict passed, the other reasons repeat the line of each suite.
    ...(report.verdict.outcome === 'passed' ? [] : others),
  ];
}

const outcomeRanks: Record<VerdictOutcome, number> = { failed: 0, inconclusive: 1, passed: 2 };

function listSuites(report: Report, { maxCases, maxSuites }: DetailLevel, options: CommentOptions): string[] {
  const worstFirst = report.suites.toSorted(
    (a, b) => outcomeRanks[a.verdict.outcome] - outcomeRanks[b.verdict.outcome],
  );
  const notPassed = Map.groupBy(
    report.cases.filter(({ outcome }) => outcome !== 'passed'),
    ({ suiteId }) => suiteId,
  );
  const shown = worstFirst.slice(0, maxSuites);
  const hidden = worstFirst.length - shown.length;
  let room = maxCases;
  const blocks = shown.flatMap((suite) => {
    const cases = notPassed.get(suite.id) ?? [];
    const shown = cases.slice(0, room);
    room -= shown.length;
    const decision = describeRoundsDecision(suite, report.models?.currency ?? '');
    return listSuite(suite, { decision, shown, hidden: cases.length - shown.length }, options);
  });
  return [...blocks, ...(hidden > 0 ? [`${formatCount(hidden, 'more suite')} not shown here.`] : [])];
}

function listSuite(
  suite: SuiteReport,
  { decision, shown, hidden }: { decision: string | null; shown: readonly CaseReport[]; hidden: number },
  options: CommentOptions,
): string[] {
  const { outcome } = suite.verdict;
  // In a suite that passed, the minimum tolerates the failures: they do not belong to the first ten seconds.
  const maxOpen = outcome === 'passed' ? 0 : maxOpenCases;
  const open = shown.slice(0, maxOpen);
  const folded = shown.slice(maxOpen);
  const list = (cases: readonly CaseReport[]) => cases.map((testCase) => renderCase(testCase, options)).join('\n');
  return [
    `${outcomeMarks[outcome]} ${renderCodeSpan(truncateText(suite.name, maxTitleLength))}: ${describeSuiteRate(suite)}`,
    ...(decision === null ? [] : [decision]),
    ...(open.length === 0 ? [] : [list(open)]),
    ...(folded.length === 0
      ? []
      : [
          // Only the gate's own text: inside an HTML block, Markdown's code spans would not protect foreign text.
          `<details>\n<summary>${formatCount(folded.length, open.length === 0 ? 'case' : 'more case')} did not pass</summary>`,
          list(folded),
          '</details>',
        ]),
    ...(hidden > 0 ? [`${formatCount(hidden, 'more case')} did not pass; the report lists them.`] : []),
  ];
}

function renderCase(testCase: CaseReport, { linkLine }: CommentOptions): string {
  const { title, location, failures } = testCase;
  const name = `${renderCodeSpan(truncateText(title, maxTitleLength))}${describeFlags(testCase)}`;
  const reason = failures[0]?.reasons[0];
  return [
    `- ${markCase(testCase)} ${name}: ${formatPassed(testCase)} passed${location === null ? '' : ` · ${renderLocation(location, linkLine)}`}`,
    ...(reason === undefined ? [] : [renderCodeSpan(truncateReason(readFirstLine(reason), maxReasonLength))]),
  ].join('<br>\n  ');
}

/** Lists what the verdict lacks, as counts only: a rate of a part would look like a result. */
function listUnread({ cases, verdict }: Report): string[] {
  const planned = cases.reduce((sum, testCase) => sum + Math.max(testCase.planned, testCase.total), 0);
  const read = cases.reduce((sum, { total }) => sum + total, 0);
  return [
    ...(read < planned
      ? [`**Not read:** ${planned - read} of ${formatCount(planned, 'iteration')} have no result.`]
      : []),
    ...(verdict.outcome === 'inconclusive' ? [adviseInconclusive(verdict)] : []),
  ];
}

function listBaseline({ comparison }: Report): string[] {
  if (comparison === null) return [];
  const { source, rest } = describeBaseline(comparison);
  return [`Against the baseline ${renderCodeSpan(source)}${rest}: ${describeChanges(comparison)}.`];
}

function listNotes({ notes }: Report): string[] {
  const hidden = notes.length - maxNotes;
  const lines = notes.slice(0, maxNotes).map((note) => `> ${renderProse(truncateText(note, maxReasonLength))}`);
  if (hidden > 0) lines.push(`> and ${formatCount(hidden, 'more note')}`);
  // Uses paragraphs: a note without words and a `<br>` would be a line of HTML, and begin an HTML block.
  return lines.length === 0 ? [] : [lines.join('\n>\n')];
}

function listFooter(report: Report, { run }: CommentOptions): string[] {
  const commit = report.revision?.commit ?? '';
  const parts = [
    ...(run == null ? [] : [renderLink(run.label, run.url)]),
    ...(/^[0-9a-f]{7,64}$/.test(commit) ? [`commit \`${commit.slice(0, 7)}\``] : []),
  ];
  return [describeTotals(report), ...(parts.length === 0 ? [] : [parts.join(' · ')])];
}
